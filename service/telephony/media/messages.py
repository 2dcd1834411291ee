"""What a line host and a media process say to each other: one JSON object a line on standard input and output.

A media process holds the sound of up to sixteen calls. It has no database and no account of a carrier; what it needs
for a call is in the order that begins it. The end of its standard input ends it.
"""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from callwright.contract.transfers import TransferCause, TransferKind, TransferStatus
from callwright.service.rules.prices.installation_prices import ServiceItem
from callwright.service.rules.prices.transfer_prices import TransferLeg
from callwright.service.rules.spoken_moments.spoken_moment import SpokenMoment
from callwright.service.telephony.engine import (
    AnsweredBy,
    CallRequest,
    EndedBy,
    HangupCause,
    MachineVerdicts,
    Turn,
)
from callwright.service.telephony.media.caller_messages import CallersTaken, Incoming, RefuseCaller, TakeCallers
from callwright.service.telephony.transfers import CallTransfer

LONGEST_LINE = 1_000_000
"""Bytes of a line. A longer one is a fault, and ends the process."""
MOST_CALLS = 16
"""Calls of one process at once. Beyond about twenty a core, answers come late (measured with speech and a model)."""

ALIVE_S, HOST_SILENT_S = 2.0, 10.0
"""Seconds between two `Alive`, and of silence after which a host counts as gone: before others settle its calls."""

PERSON_TOLD_EVERY_S = 15.0
"""Seconds between two reports of a person who is on the line: what of it is lost at most, if a process ends."""


class _Message(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", defer_build=True
    )  # a service that carries no calls builds none


class SpeechService(_Message):
    """A service that hears, thinks or speaks. Its key is never shown or logged."""

    kind: str
    """`policy` and `espeak` are built in; `openai` is any service with its interface; others go by their own name."""
    url: str | None = None
    key: str = Field(default="", repr=False)
    model: str | None = None
    voice: str | None = None
    is_own: bool = False
    """The key is the organization's own, whose provider charges it; else it is the installation's."""


class ToolAccess(_Message):
    """What the agent's tools need to reach their addresses. Secrets are never shown or logged."""

    secrets: Mapping[str, Mapping[str, str]] = Field(default_factory=dict, repr=False)
    """The secret headers that are set, by tool and name."""
    opened: tuple[str, ...] = ()
    """Ranges of private networks that the operator opened."""


class SpeechServices(_Message):
    """What hears, thinks and speaks in a call, and what its tools need. Without `hearing` only keys and typed turns are
    understood."""

    hearing: SpeechService | None = None
    thinking: SpeechService = SpeechService(kind="policy")
    speaking: SpeechService = SpeechService(kind="espeak")
    tools: ToolAccess = ToolAccess()


class Limits(_Message):
    """When a call ends by itself, in seconds, and what each turn may take."""

    longest_s: float = 600.0
    silence_s: float = 20.0
    """Silence of the other side after which the agent asks whether somebody is there; the second time the call ends."""
    no_audio_s: float = 10.0
    """Without any media for this long after the answer the call ends as `no_audio`."""
    reports_s: float = 10.0
    """In which a trunk that has taken a transfer says what came of it, beyond the ringing of a cold one."""
    answer_s: float = 8.0
    """The model's first words; later the agent says its fallback sentence."""
    most_turns: int = 200
    most_words: int = 120
    """Words of one turn of the agent; the rest is not said."""


class BeginCall(_Message):
    """Takes a call. Its sound comes over `transport`: a websocket that is opened at this process, by a page or
    Twilio, or SIP. A call that came in over SIP has the handle of its `Incoming` as its token."""

    type: Literal["begin"] = "begin"
    request: CallRequest
    token: str = Field(default="", repr=False)
    """Opens the websocket, once: `/media/<token>`."""
    transport: Literal["websocket", "twilio", "sip"] = "websocket"
    services: SpeechServices = SpeechServices()
    limits: Limits = Limits()
    fallback_sentence: str = ""
    recording: str | None = None
    """Path of the recording, a WAV with two channels (agent left) that grows with the call; None: there is none."""
    host_transfers: bool = False
    """Whether the host's carrier transfers the call, as `TransferAsked` asks. Over SIP the process does it itself."""
    carrier_options: Mapping[str, str] = Field(default_factory=dict, repr=False)
    """What the transport needs beyond the request: for SIP `trunk`, the JSON of a `SipTrunk`."""


class Dial(_Message):
    """Places a call that is `Listening`, once: over SIP the INVITE leaves now, and a call that came in is answered.
    Over a websocket it does nothing."""

    type: Literal["dial"] = "dial"
    call_id: str
    before_s: float
    """Not after this moment of `time.monotonic`, which is the same clock in all processes of a machine."""


class HangUp(_Message):
    """Ends a call. The agent says `sentence` first if there is one."""

    type: Literal["hang_up"] = "hang_up"
    call_id: str
    cause: HangupCause = "normal_clearing"
    ended_by: EndedBy = "api"
    sentence: str = ""
    warning: str = ""
    """Why, among the call's warnings."""


class Alive(_Message):
    """The host lives. A process that hears nothing for `HOST_SILENT_S` ends its calls: nobody would know of them."""

    type: Literal["alive"] = "alive"


class TransferUpdate(_Message):
    """What has come of a transfer that the host performs, as `TransferAsked` asked for it."""

    type: Literal["transfer_update"] = "transfer_update"
    call_id: str
    stage: TransferStatus
    cause: TransferCause | None = None
    """Why it failed."""
    is_away: bool = False
    """The carrier takes the contact away from here, or has done so: the end of its sound does not end the call."""


class SawMachine(_Message):
    """The carrier says who answered."""

    type: Literal["answered_by"] = "answered_by"
    call_id: str
    answered_by: AnsweredBy


class ToolKept(_Message):
    """The host has kept that a tool is about to be asked (`ToolAsks`): now it may be."""

    type: Literal["tool_kept"] = "tool_kept"
    call_id: str
    turn_index: int


class QueueMoved(_Message):
    """A caller who waits for a line has another place in the queue; 0: the agent answers now."""

    type: Literal["queue_moved"] = "queue_moved"
    call_id: str
    place: int


Order = Annotated[
    BeginCall
    | Dial
    | HangUp
    | SawMachine
    | TransferUpdate
    | ToolKept
    | QueueMoved
    | TakeCallers
    | RefuseCaller
    | Alive,
    Field(discriminator="type"),
]
"""What a host tells a media process."""


class Ready(_Message):
    """The process is warm and takes calls; websockets are opened at this port of the loopback interface."""

    type: Literal["ready"] = "ready"
    port: int


class Listening(_Message):
    """The call's websocket may be opened now; a call over SIP may be placed with `Dial`."""

    type: Literal["listening"] = "listening"
    call_id: str


class Reached(_Message):
    """A call has reached a stage. Over a websocket it is answered when the socket opens."""

    type: Literal["reached"] = "reached"
    call_id: str
    stage: Literal["initiated", "ringing", "answered"]
    """`initiated`: the carrier has the call."""
    provider_call_id: str | None = None
    """Over SIP the Call-ID."""


class Said(_Message):
    """A turn is over: what was really said, with times of the sound in seconds after the answer."""

    type: Literal["said"] = "said"
    call_id: str
    turn: Turn
    keys: str = ""
    """What was entered with the keys of the telephone, if this turn is that; its text is empty then."""


class ToolAsks(_Message):
    """A tool is about to ask an address outside, which happens once the host says that it has kept this (`ToolKept`).

    `turn` is what the transcript has of it if the process ends meanwhile; else `Said` follows with the same index.
    """

    type: Literal["tool_asks"] = "tool_asks"
    call_id: str
    turn: Turn


class Latency(_Message):
    """How long one answer of the agent took, by part, in milliseconds after the end of the other side's speech."""

    type: Literal["latency"] = "latency"
    call_id: str
    turn_index: int
    total_ms: int
    parts_ms: Mapping[str, int] = Field(default_factory=dict)
    """By part: `endpointing`, `hearing`, `thinking`, `speaking`."""


class TransferAsked(_Message):
    """The host's carrier is to transfer the call to a person. It tells by `TransferUpdate` what comes of it, up to
    `bridged` or `failed`."""

    type: Literal["transfer_asked"] = "transfer_asked"
    call_id: str
    kind: TransferKind
    to: str
    summary: str = ""
    """What the person hears first, in a warm transfer."""
    language: str
    ring_timeout_s: float
    confirm_key: str | None = None
    """The person presses it to take the call; None: whoever answers takes it."""
    sorry: str = ""
    """What the contact hears, if nobody takes over and the agent cannot say so any more."""


class Transferring(_Message):
    """A transfer of the call has reached a stage."""

    type: Literal["transferring"] = "transferring"
    call_id: str
    transfer: CallTransfer


class PersonOnLine(_Message):
    """A person has answered whom this process calls to take the call over: told then, every few seconds while they are
    on the line, and when they are not any more. What was told before of the same try is replaced."""

    type: Literal["person_on_line"] = "person_on_line"
    call_id: str
    number: int
    """Of the try, from 1."""
    leg: TransferLeg
    """Until now."""


class Usage(_Message):
    """What a call has used of a service since the last report about the same: what that service may charge for."""

    type: Literal["usage"] = "usage"
    call_id: str
    item: ServiceItem
    provider: str
    """The kind of the service."""
    model: str | None = None
    unit: str
    quantity: float
    is_own: bool = False
    """With a key of the organization."""


class Ended(_Message):
    """A call is over. It is the last message about it."""

    type: Literal["ended"] = "ended"
    call_id: str
    cause: HangupCause
    ended_by: EndedBy
    answered_by: AnsweredBy | None = None
    disposition: str | None = None
    talk_s: float = 0.0
    """Seconds from the answer to the end."""
    warnings: tuple[str, ...] = ()
    unanswered_questions: tuple[str, ...] = ()
    callback_after_s: float | None = None
    callback_said: SpokenMoment | None = None
    sip_status: int | None = None
    """The final answer to the INVITE, or to the registration before it, if the call was not answered."""
    voicemail_message_left: bool = False
    """The whole message was said to a machine, after the end of its greeting."""
    machine_verdicts: MachineVerdicts = MachineVerdicts()
    recorded: bool = False
    """There is sound in the file of the recording."""
    is_known: bool = True
    """False: the process is gone, and nobody knows what came after its last report."""
    was_sent: bool = True
    """False: the request that places the call certainly did not leave, so no telephone rang."""
    treatment: Literal["queue", "voicemail", "forward"] | None = None
    """Where a caller was who has not come to the agent."""


Report = Annotated[
    Ready
    | CallersTaken
    | Incoming
    | Listening
    | Reached
    | Said
    | ToolAsks
    | Latency
    | TransferAsked
    | Transferring
    | PersonOnLine
    | Usage
    | Ended,
    Field(discriminator="type"),
]
"""What a media process tells its host."""


@cache
def _orders() -> TypeAdapter[Order]:
    return TypeAdapter(Order)


@cache
def _reports() -> TypeAdapter[Report]:
    return TypeAdapter(Report)


def order_from(line: bytes) -> Order:
    """The order of a line.

    Raises:
        ValidationError: it is none. The line is not part of any message: it can hold keys.
    """
    return _orders().validate_json(line)


def report_from(line: bytes) -> Report:
    """The report of a line.

    Raises:
        ValidationError: it is none.
    """
    return _reports().validate_json(line)


def line_of(message: BaseModel) -> bytes:
    """The line of an order or a report."""
    return message.model_dump_json().encode() + b"\n"
