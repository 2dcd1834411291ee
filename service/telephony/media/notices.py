"""What an agent has to say before anything else: that a machine calls, and that the call is recorded.

People say hello while the greeting begins, which interrupts it. So what was cut off is said again.
"""

import re
from collections.abc import Sequence

from callwright.service.telephony.media.policy import Saying

MOST_WORDS_OF_A_HELLO = 4
"""Words with which people answer the telephone. After more the conversation goes on from what they said."""
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

        It is nothing once the notices were said. To a hello the first words are said again, once.
        """
        if self._is_said:
            return (), False
        if self._opening and len(heard.split()) <= MOST_WORDS_OF_A_HELLO:
            opening, self._opening = self._opening, ()
            return opening, True
        return (Saying(self._text, self._language),), False


def _plain(text: str) -> str:
    return f" {' '.join(_WORDS.findall(text.casefold()))} "
