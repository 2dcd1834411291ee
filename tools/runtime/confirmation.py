"""What a person has to confirm before a tool dials or spends."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field

from callwright.contract.confirmations import LONGEST_QUESTION as LONGEST_QUESTION
from callwright.contract.declaration.field_types import Spend
from callwright.contract.declaration.model import Input
from callwright.tools.runtime.tool_context import ToolContext
from callwright.tools.wording.cleaning import cleaned

_MOST_SHOWN = 600
_LONGEST_ANSWER = LONGEST_QUESTION + 200


class ConfirmationArguments(Input):
    """The argument of every tool that has to be confirmed."""

    person_agreed_to: Annotated[
        str | None,
        Field(
            max_length=_LONGEST_ANSWER,
            description="Only if asked: the agreed sentence.",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Confirmation:
    """What a person has to confirm before a call of a tool runs."""

    sentence: str | None
    """What the person agrees to, made of the organization's own settings and of counts, the same each time it is made.
    None if nobody has to be asked, as long as `pinned` holds.
    """
    shown: str | None = None
    """More text for the person only, for example the first greeting."""
    pinned: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Arguments that bind the call to what was read, for example the plan, as JSON values. They also apply if nobody
    has to be asked.
    """
    deployment_id: str | None = None
    """The deployment that it is about, to which the page with the question leads."""
    people: int | None = None
    """How many people it means, where that is known."""
    cost_at_most: Spend | None = None
    """What it costs at most, where that is known."""

    @property
    def question(self) -> str | None:
        """The text that the person reads."""
        if self.sentence is None:
            return None
        sentence = cleaned(self.sentence)
        return f"{sentence}\n{self.shown[:_MOST_SHOWN]}" if self.shown else sentence


ConfirmationOf = Callable[[ToolContext, Any], Awaitable[Confirmation | None]]
"""Finds what a person has to confirm before a call with these arguments; None if nothing is dialled or spent."""
