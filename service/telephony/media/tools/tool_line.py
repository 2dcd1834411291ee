"""What tools do on the line of a call, through its conversation."""

from datetime import datetime

from callwright.service.telephony.media.findings import End
from callwright.service.telephony.media.talk import Talk


class ToolLine:
    """The line of one call."""

    def __init__(self, talk: Talk) -> None:
        self._talk = talk

    @property
    def speaks(self) -> bool:
        """Whether the agent is saying something."""
        return self._talk.speaks

    async def say_meanwhile(self, sentence: str) -> None:
        """Says that something is looked up."""
        await self._talk.say(self._talk.phrases.own_or(sentence, "look_up"))

    async def say_goodbye(self, sentence: str) -> None:
        """Says the last sentence and ends the call."""
        saying = self._talk.phrases.own_or(sentence, "goodbye", then="hang_up")
        await self._talk.leave(saying, End("normal_clearing", "agent"))

    async def press(self, keys: str) -> None:
        """Presses keys of the telephone."""
        await self._talk.voice.press(keys)

    def call_back_at(self, moment: datetime) -> None:
        """The contact is to be called then; who asked not to be called again is not."""
        findings = self._talk.findings
        if findings.disposition != "do_not_call":
            findings.disposition, findings.call_back_at = "callback_requested", moment
