"""A conversation that notes what is said in it."""

from dataclasses import dataclass, field

from callwright.service.telephony.engine import EndedBy, HangupCause
from callwright.service.telephony.media.findings import End, Findings, Then
from callwright.service.telephony.media.policy import Phrases, Saying


@dataclass
class Silent:
    """A voice that notes what it plays."""

    played: list[bytes] = field(default_factory=list[bytes])

    async def say(self, text: str, *, language: str | None = None, then: Then = "listen") -> None:
        raise AssertionError(text)

    async def silence(self) -> None: ...

    async def expect_answer(self) -> None: ...

    async def press(self, keys: str) -> None: ...

    async def play(self, pcm: bytes) -> None:
        self.played.append(pcm)


@dataclass
class Heard:
    """The conversation of a caller: what they hear, and how it ends. A sentence takes no time."""

    phrases: Phrases
    findings: Findings = field(default_factory=Findings)
    voice: Silent = field(default_factory=Silent)
    speaks: bool = False
    said: list[str] = field(default_factory=list[str])
    ended: list[End] = field(default_factory=list[End])
    agent_answers: int = 0

    async def answered(self) -> None:
        self.agent_answers += 1

    async def say(self, saying: Saying) -> None:
        self.said.append(saying.text)

    async def leave(self, saying: Saying, end: End) -> None:
        self.said.append(saying.text)
        self.ended.append(end)

    def finish(self, cause: HangupCause, ended_by: EndedBy) -> None:
        self.ended.append(End(cause, ended_by))
