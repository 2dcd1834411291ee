"""What a person has to confirm before a tool dials or spends."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field

from callwright.contract.declaration.model import Input
from callwright.tools.runtime.tool_context import ToolContext
from callwright.tools.wording.cleaning import cleaned

LONGEST_QUESTION = 4_000
"""Characters of what a person is asked. What is longer is refused and never cut."""
_MOST_SHOWN = 600
_LONGEST_ANSWER = LONGEST_QUESTION + 200


class ConfirmationArguments(Input):
    """The argument of every tool that has to be confirmed."""

    person_agreed_to: Annotated[
        str | None,
        Field(
            max_length=_LONGEST_ANSWER,
            description="Only when an answer asks for it: the sentence the person agreed to, word for word.",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Confirmation:
    """What a person has to confirm before a call of a tool runs."""

    sentence: str | None
    """What the person says yes to. Made of the organization's own settings and of counts, the same at each asking.
    None where nobody has to be asked, as long as `bound` holds.
    """
    shown: str | None = None
    """More for the person's eyes only, for example the first greeting."""
    bound: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Arguments that hold the call to what was looked at, for example the plan: values as JSON has them. They count
    where nobody has to be asked, too.
    """

    @property
    def question(self) -> str | None:
        """What the person reads."""
        if self.sentence is None:
            return None
        sentence = cleaned(self.sentence)
        return f"{sentence}\n{self.shown[:_MOST_SHOWN]}" if self.shown else sentence


ConfirmationOf = Callable[[ToolContext, Any], Awaitable[Confirmation | None]]
"""Finds out what a person has to confirm before a call with these arguments; None where nothing is dialled or spent."""
