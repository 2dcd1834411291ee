"""The interface between the dialler and a call engine.

The dialler owns retries, calling hours, limits and storage. An engine takes one immutable request, makes one call or
answers one that has come in, and reports what happened. The simulated network is an engine, and so are the lines of a
carrier.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from sqlalchemy import Connection

from callwright.contract.calls.calls import Disposition, Outcome
from callwright.service.platform.clock.clock import Clock
from callwright.service.platform.database.database import Database
from callwright.service.rules.cost_items import Used
from callwright.service.rules.prices.transfer_prices import TransferLeg
from callwright.service.rules.spoken_moments.spoken_moment import SpokenMoment
from callwright.service.telephony.answering import Answering
from callwright.service.telephony.transfers import CallTransfer

Speaker = Literal["agent", "contact", "system"]
"""`system`: nobody speaks; the turn is the call of a tool."""
TurnSource = Literal["policy", "llm", "host", "stt", "human", "rehearsal"]
"""`rehearsal`: the answer of a tool on the simulated network, where nothing is asked."""

HangupCause = Literal[
    "normal_clearing",
    "contact_hangup",
    "agent_hangup",
    "inactivity_timeout",
    "max_duration",
    "transfer_completed",
    "transfer_failed",
    "user_busy",
    "no_answer",
    "call_rejected",
    "unallocated_number",
    "originator_cancel",
    "network_error",
    "platform_error",
    "insufficient_credits",
    "budget_reached",
    "no_audio",
    "carrier_rejected",
    "unconfirmed",
]
"""`transfer_completed`: the agent's part ended because a person has taken over. `transfer_failed`: the call was given
away to a person, and ended without one. `no_audio`: no sound came after the answer. `carrier_rejected`: the carrier
takes no such call. `unconfirmed`: nobody knows whether the call was placed; a person decides."""
AnsweredBy = Literal["human", "machine_end_beep", "machine_end_silence", "unknown"]
EndedBy = Literal["agent", "contact", "carrier", "platform", "api"]


@dataclass(frozen=True)
class MachineVerdicts:
    """Who answered, by each that decides it; None where one has not decided. `answered_by` is what came of both."""

    carrier: AnsweredBy | None = None
    words: AnsweredBy | None = None
    """By what was said, and by the beep."""


@dataclass(frozen=True)
class AgentSnapshot:
    """The agent as it was when its deployment started; later edits do not change a running campaign."""

    id: str
    system_prompt: str
    welcome_message: str
    language: str
    voice_id: str
    hearing_provider: str | None = None
    """The provider of the organization that hears on live calls; None for its default. So with the other roles."""
    speaking_provider: str | None = None
    speaking_voice: str | None = None
    """The speaking provider's own id of a voice. `voice_id` is of this service's voices."""
    model_provider: str | None = None
    model_name: str | None = None
    version: int | None = None
    """None where a deployment started before versions were kept."""
    call_tools: str | None = None
    """What it can do beside talking, as `rules.call_tools` stores it; None for nothing."""


@dataclass(frozen=True)
class VoicemailPolicy:
    """What to do when a machine answers. `message` is a template like the welcome message."""

    detection: bool = True
    action: Literal["hangup", "leave_message", "continue"] = "hangup"
    message: str = ""


@dataclass(frozen=True, kw_only=True)
class CallRequest:
    """One call to make. Two requests with the same `call_id` are the same call and place it only once."""

    call_id: str
    org_id: str
    deployment_id: str
    contact_id: str
    attempt: int
    to: str
    from_: str
    agent: AgentSnapshot
    variables: Mapping[str, str]
    steering: Mapping[str, str] = field(default_factory=dict[str, str])
    """The audience's `sim.*` columns without their prefix; only the simulated network reads them."""
    seed: str = ""
    """Decides everything that is random on the simulated network."""
    ring_timeout_s: float = 30.0
    max_duration_s: float = 600.0
    voicemail: VoicemailPolicy = VoicemailPolicy()
    ai_disclosure: bool = True
    recording_announcement: bool = False
    """The agent says that the call is recorded."""
    recorded: bool = True
    """Whether the call may be recorded at all."""
    may_call_back: bool = True
    """Whether the campaign calls again if the contact asks for that; it does not after the last attempt."""
    answering: Answering | None = None
    """How a call that comes in is answered; None for a call that is made. `to` is then the organization's own number,
    and `from_` the caller's, empty if it is withheld."""

    @property
    def person(self) -> str:
        """The number of the other side, empty if a caller withholds it."""
        return self.to if self.answering is None else self.from_

    @property
    def own_number(self) -> str:
        """The organization's number on the line."""
        return self.from_ if self.answering is None else self.to

    @property
    def rings_telephone(self) -> bool:
        """Whether somebody's telephone rings. Who calls, or talks in the browser, has come by themselves."""
        return self.answering is None and self.to.startswith("+")


@dataclass(frozen=True)
class AnswerLatency:
    """How long an answer of the agent took after the other side stopped speaking, in milliseconds."""

    total_ms: int
    parts_ms: Mapping[str, int] = field(default_factory=dict[str, int])
    """By part: `endpointing`, `hearing`, `thinking`, `speaking`."""


@dataclass(frozen=True)
class ToolCall:
    """The call of a tool by the agent. `arguments` are JSON; `result` is what the model was given, as text."""

    name: str
    arguments: str
    result: str
    ok: bool
    latency_ms: int


@dataclass(frozen=True)
class Turn:
    """One thing said or done. Times are seconds after the call was answered."""

    index: int
    speaker: Speaker
    text: str
    start_s: float
    end_s: float
    language: str
    source: TurnSource = "policy"
    interrupted: bool = False
    latency: AnswerLatency | None = None
    """Of an answer of the agent on a line; None where it answers nothing that was spoken."""
    tool_call: ToolCall | None = None
    """What the agent did, of a turn of the speaker `system`, which has no text."""


@dataclass(frozen=True, kw_only=True)
class CallResult:
    """A finished call. Times are seconds after dialling began, `None` for what did not happen.

    The defaults are those of a call that ended as soon as it was dialled.
    """

    call_id: str
    outcome: Outcome
    disposition: Disposition | None = None
    hangup_cause: HangupCause
    ended_by: EndedBy
    answered_by: AnsweredBy | None = None
    initiated_s: float = 0.0
    """When the carrier accepted the call."""
    ringing_s: float | None = None
    answered_s: float | None = None
    ended_s: float = 0.0
    turns: Sequence[Turn] = ()
    unanswered_questions: Sequence[str] = ()
    """What the contact asked and the agent's prompt could not answer."""
    warnings: Sequence[str] = ()
    keys: Sequence[str] = ()
    """What the contact entered with the keys of the telephone, one text for each entry."""
    callback_after_s: float | None = None
    """The contact asked to be called again this long after the end of the call."""
    callback_said: SpokenMoment | None = None
    """The contact named this moment for another call; `callback_after_s` is None then."""
    sip_status: int | None = None
    """The final answer to the INVITE of a call over SIP that was not answered."""
    was_dialled: bool = True
    """False for a call that was claimed and never reached the network: it uses up no attempt."""
    carrier: str | None = None
    """The carrier of the line; None on the simulated network."""
    recorded: bool | None = None
    """Whether a call on a line has a file of its sound; None if that is not known, and on the simulated network."""
    machine_verdicts: MachineVerdicts = MachineVerdicts()
    used: Sequence[Used] = ()
    """What the call used of services that hear, think and speak, as far as they are known to charge for it."""
    charge_id: str | None = None
    """The carrier's id of the call, where that carrier says later what it charged."""
    transfer: CallTransfer | None = None
    """The last try to transfer the call to a person."""
    transfer_legs: Sequence[TransferLeg] = ()
    """The calls to persons that were answered, of all tries."""

    @property
    def duration_s(self) -> float:
        """Seconds from answer to end; 0 for a call nobody answered."""
        return 0.0 if self.answered_s is None else self.ended_s - self.answered_s


@dataclass(frozen=True)
class EarlyEnd:
    """When and why a call is ended. `at_ms` is on the deployment's clock; None: now."""

    ended_by: EndedBy = "api"
    cause: HangupCause = "normal_clearing"
    at_ms: int | None = None


Stage = Literal["initiated", "ringing", "answered", "transfer"]


@dataclass(frozen=True)
class CallProgress:
    """A call reached a stage, `at_ms` on the engine's clock (milliseconds since the epoch)."""

    call_id: str
    stage: Stage
    at_ms: int
    transfer: CallTransfer | None = None
    """What has come of a transfer, for the stage of that name."""


Report = Callable[[CallProgress], Awaitable[None]]


class Timeline(Protocol):
    """The clock by which calls are made one by one: the deployment's."""

    def now_ms(self) -> int:
        """The time of the deployment's clock."""
        ...

    async def until(self, moment_ms: int) -> None:
        """Returns when the moment has come; at once when it has passed."""
        ...


@dataclass(frozen=True)
class EngineParts:
    """What the service gives to an engine."""

    database: Database
    clock: Clock
    """The time of the service."""
    timeline: Timeline
    fence: Callable[[Connection, CallRequest], object]
    """Called in a transaction before a call is placed. Raises if another process drives the deployment by now, for
    example because this one was frozen."""


class CallEngine(Protocol):
    """Makes calls one by one in the time of a deployment."""

    async def run(self, request: CallRequest, report: Report, *, dial_ms: int) -> CallResult:
        """Makes the call, dialled at `dial_ms`, and returns when it ended.

        For a call that it has placed before, it continues that call and does not place a second one.
        """
        ...

    async def hang_up(self, call_id: str, end: EarlyEnd | None = None) -> None:
        """Ends a call that is under way, by request unless `end` says otherwise; a call that is not is left alone."""
        ...


@runtime_checkable
class VirtualTimeEngine(CallEngine, Protocol):
    """An engine that knows the result of a call in advance, so that calls can be made without waiting."""

    def simulate(self, request: CallRequest) -> CallResult:
        """The result of a call. Nothing is dialled."""
        ...

    async def dial(self, dialled: Sequence[tuple[CallRequest, int]]) -> None:
        """Dials claimed calls, each with its time of dialling."""
        ...

    async def known(self, call_ids: Sequence[str]) -> set[str]:
        """Those of the calls that were dialled before. Used for calls that a crash left unfinished."""
        ...
