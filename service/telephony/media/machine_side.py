"""A machine answers instead of a person: how it is known, and what the agent does then."""

from typing import Protocol

from callwright.service.telephony.engine import AnsweredBy, CallRequest, EndedBy, HangupCause
from callwright.service.telephony.media.findings import End, Findings, Then
from callwright.service.telephony.media.policy import Phrases, Saying
from callwright.service.telephony.media.voicemail import Machine, is_machine_greeting


class AgentSide(Protocol):
    """What the agent can do about a machine."""

    @property
    def says_goodbye(self) -> bool:
        """Whether it says its last words already."""
        ...

    async def silence(self) -> None:
        """It says no more of what it was saying."""
        ...

    async def leave(self, saying: Saying, end: End) -> None:
        """It says something last."""
        ...

    def finish(self, cause: HangupCause, ended_by: EndedBy) -> None:
        """It hangs up."""
        ...


class MachineSide:
    """Looks for a machine as long as nobody else is known to have answered."""

    def __init__(self, request: CallRequest, phrases: Phrases, findings: Findings, agent: AgentSide) -> None:
        self._policy, self._phrases, self._findings, self._agent = request.voicemail, phrases, findings, agent
        self._detects, self._is_spoken_to = request.voicemail.detection, False
        self._machine = Machine()
        self.yields = True
        """Whether the agent lets itself be interrupted. It does not while it leaves its message."""

    @property
    def is_met(self) -> bool:
        """Whether a machine is known to have answered, to which a message is to be left."""
        return self._machine.is_met

    def hear(self, pcm: bytes, now: float) -> None:
        """Takes sound of the other side."""
        if self._detects or self.is_met:
            self._machine.hear(pcm, now)

    def speech_ended(self, now: float) -> None:
        """The other side stopped speaking."""
        self._machine.speech_ended(now)

    async def tick(self, now: float, *, speaks: bool) -> None:
        """Leaves the message once the greeting of a machine that was met is over."""
        ended = self._machine.ended(now, speaks=speaks)
        if ended is not None and not self._agent.says_goodbye:
            self._findings.greeting_ended(ended)
            await self._speak(ended)

    async def takes(self, text: str, now: float) -> bool:
        """Whether words are a machine's greeting that nobody needs to answer."""
        if not self._detects or not is_machine_greeting(text):
            return False
        self._findings.heard("machine_end_silence")
        await self._meet(now)
        return self._policy.action != "continue"

    async def saw(self, answered_by: AnsweredBy, now: float) -> None:
        """The carrier says who answered. It knows better than the words."""
        self._findings.carrier_saw(answered_by)
        if self._agent.says_goodbye or not self._detects:
            return
        if answered_by == "human":
            self._detects = False
        elif answered_by != "unknown":
            await self._meet(now)
            self._findings.answered_by = answered_by
            if self.is_met:
                await self._speak(answered_by)

    def agent_is_done(self, then: Then) -> None:
        """The agent has said all of a turn."""
        if self._is_spoken_to and (then == "hang_up" or self._policy.action == "continue"):
            self._findings.message_left = True

    async def _meet(self, now: float) -> None:
        """Does with a machine what the request wants."""
        self._detects = False
        self._findings.answered_by = "machine_end_silence"
        if self._policy.action == "continue":
            self._is_spoken_to = True
            return
        await self._agent.silence()
        if self._policy.action == "hangup":
            self._agent.finish("agent_hangup", "agent")
        else:
            self._machine.met(now)

    async def _speak(self, answered_by: AnsweredBy) -> None:
        if not self._agent.says_goodbye:
            self._findings.answered_by = answered_by
            self._is_spoken_to, self.yields = True, False
            message = self._phrases.for_machine(self._findings.warnings)
            await self._agent.leave(message, End("agent_hangup", "agent"))
