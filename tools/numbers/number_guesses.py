"""Limits look-ups and additions of contacts by number, where numbers are masked.

A person who has a whole number may look for it, and may add it to an audience. But trying many numbers that look the
same when masked would reveal the hidden digits, and so would counts of duplicates among such numbers. So a session may
look for only a few numbers that look alike, and add only some.
"""

from collections import OrderedDict
from collections.abc import Iterable
from threading import Lock
from typing import Any

from mcp.server.mcpserver.exceptions import ToolError

from callwright.tools.numbers.masking import numbers_hidden_in
from callwright.tools.wording.text import masked

MOST_ALIKE = 5
"""The most different numbers with the same visible digits that may be looked for."""
MOST_ALIKE_ADDED = 30
"""The most different numbers with the same visible digits that may be added. At least three digits are hidden, so this
is at most 3 % of the possible ones. Of a hundred thousand people with one area code about ten look alike by chance, and
hardly ever 30. Consecutive numbers of a company differ in their last digits, so they do not look alike.
"""
_MOST_FORMS = 10_000
_FIELDS = ("to", "phone_number")
"""Arguments that find contacts, their rows and their calls. External ids are counted where their column is known, by
the code that requests it.
"""


class NumberGuesses:
    """The numbers of contacts that a session has looked for or added, by their visible digits."""

    def __init__(self) -> None:
        self._asked: OrderedDict[str, set[str]] = OrderedDict()
        self._added: dict[str, tuple[int, ...]] = {}
        self._adding = Lock()

    def note(self, number: str) -> None:
        """Counts a number that is looked for. Raises `ToolError` if too many look alike; nothing was looked up then."""
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
        """Counts the numbers of contacts in a request to the service. Raises `ToolError` as `note`."""
        for name in _FIELDS:
            number = getattr(question, name, None)
            if isinstance(number, str):
                self.note(number)
        name = getattr(question, "name", None)
        for number in numbers_hidden_in(name) if isinstance(name, str) else ():
            self.note(number)

    def note_added(self, numbers: Iterable[str]) -> None:
        """Counts the numbers of people who are about to be added, in E.164 or in digits; each counts once in a session.

        Raises `ToolError` if too many look alike; then none of them is counted, and nobody may be added. Threads may
        call it at once.
        """
        with self._adding:
            self._note_added(numbers)

    def _note_added(self, numbers: Iterable[str]) -> None:
        found: dict[str, tuple[int, ...]] = {}
        for number in numbers:
            shown, digits = masked(number), int(number.removeprefix("+"))
            alike = found.get(shown) or self._added.get(shown, ())
            if digits in alike:
                continue
            if len(alike) >= MOST_ALIKE_ADDED:
                raise ToolError(
                    f"Nothing was added: more than {MOST_ALIKE_ADDED} different numbers that look like {shown} would "
                    "be in what this session adds. Numbers of contacts are hidden here, and counts of duplicates among "
                    "numbers that differ in hidden digits alone would tell them. Leave out such rows and call again. "
                    "If they are people who really are to be called, ask the person to add them without an assistant. "
                    "Where external ids are no telephone numbers, name their column after what they are, such as "
                    "customer_id: then they do not count."
                )
            found[shown] = (*alike, digits)
        self._added |= found
        if len(self._added) > 2 * _MOST_FORMS:
            # Those with the most numbers stay, so that adding a thousand other people does not erase the attempts.
            most = sorted(self._added.items(), key=lambda entry: len(entry[1]), reverse=True)
            self._added = dict(most[:_MOST_FORMS])
