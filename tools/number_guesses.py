"""Looking for contacts by number, where numbers are shown without their middle.

Whoever has a whole number may look for it. Asking for one number after the other that looks the same once it is masked
would tell the hidden digits, so that only a few such numbers are looked for in a session.
"""

from collections import OrderedDict
from typing import Any

from mcp.server.mcpserver.exceptions import ToolError

from .text import masked

MOST_ALIKE = 5
"""Different numbers with the same visible digits."""
_MOST_FORMS = 10_000
_FIELDS = ("to", "phone_number")
"""Arguments by which contacts, their rows and their calls are found."""


class NumberGuesses:
    """The numbers of contacts that a session has looked for, by what is visible of them."""

    def __init__(self) -> None:
        self._asked: OrderedDict[str, set[str]] = OrderedDict()

    def note(self, number: str) -> None:
        """Counts a number that is looked for. Raises `ToolError`: too many were alike; nothing was looked up."""
        shown = masked(number)
        asked = self._asked.setdefault(shown, set())
        self._asked.move_to_end(shown)
        if number not in asked and len(asked) >= MOST_ALIKE:
            raise ToolError(
                f"Too many different numbers that look like {shown} were looked for: numbers of contacts are hidden "
                "here, and trying them one by one is not looking for a person. Ask the person for the contact's id."
            )
        asked.add(number)
        if len(self._asked) > _MOST_FORMS:
            self._asked.popitem(last=False)

    def note_question(self, question: Any) -> None:
        """Counts the numbers of contacts in a question to the service. Raises `ToolError` as `note`."""
        for name in _FIELDS:
            number = getattr(question, name, None)
            if isinstance(number, str):
                self.note(number)
