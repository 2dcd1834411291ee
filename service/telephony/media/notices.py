"""What an agent has to say before anything else: that a machine calls, and that the call is recorded.

People say hello while the greeting begins, which interrupts it. So what was cut off is said again, and who said
something else than hello has an answer after it.
"""

import re
from collections.abc import Sequence

from callwright.service.telephony.media.policy import LivePolicy, Phrases, Saying
from callwright.service.telephony.simulated.conversation.phrases import bank_of
from callwright.service.telephony.simulated.conversation.speech_acts import is_hello

_WORDS = re.compile(r"\w+")


class Notices:
    """What of the notices has not been said yet. `opening` are the first words, which hold them."""

    def __init__(self, text: str, language: str, opening: Sequence[Saying] = ()) -> None:
        self._text, self._language, self._opening = text, language, opening
        self._is_said = not text.strip()

    def said(self, text: str) -> None:
        """The agent has said this."""
        self._is_said = self._is_said or _plain(self._text) in _plain(text)

    def due(self, heard: str) -> tuple[Sequence[Saying], bool]:
        """What is to be said before a turn of the other side is answered, and whether that is the answer.

        It is nothing once the notices were said. To a hello the first words are said again, once; whatever else was
        said is answered after the notices.
        """
        if self._is_said:
            return (), False
        if self._opening and self._is_hello(heard):
            opening, self._opening = self._opening, ()
            return opening, True
        return (Saying(self._text, self._language),), False

    def _is_hello(self, heard: str) -> bool:
        """Whether somebody just answers the telephone. In a language without phrases that is one word, of any kind."""
        bank = bank_of(self._language)
        return len(heard.split()) == 1 if bank is None else is_hello(heard, bank)


def _plain(text: str) -> str:
    return f" {' '.join(_WORDS.findall(text.casefold()))} "


def opening_of(policy: LivePolicy | None, phrases: Phrases, language: str) -> tuple[list[Saying], Notices]:
    """The first words of the agent, and what has to be said in them. `language` is the agent's."""
    first = policy.open() if policy else phrases.opening()
    text = policy.notices if policy else phrases.notices
    return first, Notices(text, first[-1].language if first else language, first)  # the notices may be a phrase
