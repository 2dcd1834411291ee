"""The conversation of a call and its voice, as far as what works beside them needs them."""

from typing import Protocol

from callwright.service.telephony.engine import EndedBy, HangupCause
from callwright.service.telephony.media.findings import End, Findings, Then
from callwright.service.telephony.media.policy import Phrases, Saying


class Voice(Protocol):
    """What the conversation does in the pipeline."""

    async def say(self, text: str, *, language: str | None = None, then: Then = "listen") -> None:
        """Says a sentence as a turn of its own, after what is being said."""
        ...

    async def silence(self) -> None:
        """Interrupts what is being said and thought."""
        ...

    async def expect_answer(self) -> None:
        """The model was asked."""
        ...

    async def press(self, keys: str) -> None:
        """Presses keys, after what is being said."""
        ...

    async def play(self, pcm: bytes) -> None:
        """Plays sound that is no speech, after what is being said."""
        ...


class Talk(Protocol):
    """What tools, transfers and the treatment of callers know of the conversation."""

    @property
    def findings(self) -> Findings:
        """What is known about the call."""
        ...

    @property
    def phrases(self) -> Phrases:
        """What is said by rule."""
        ...

    @property
    def voice(self) -> Voice:
        """What speaks."""
        ...

    @property
    def speaks(self) -> bool:
        """Whether the agent is saying something."""
        ...

    async def answered(self) -> None:
        """The agent begins."""
        ...

    async def say(self, saying: Saying) -> None:
        """Says a sentence."""
        ...

    async def leave(self, saying: Saying, end: End) -> None:
        """Says something last."""
        ...

    def finish(self, cause: HangupCause, ended_by: EndedBy) -> None:
        """The agent's part of the call is over."""
        ...
