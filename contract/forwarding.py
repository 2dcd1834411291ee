"""Forwarding a caller to another telephone, where an `action` may say so."""

from typing import Annotated, Protocol, TypeVar

from pydantic import Field

from callwright.contract.declaration.field_types import E164

ForwardTo = Annotated[E164, Field(description="Where to forward callers, in E.164; with action forward only.")]


class MayForward(Protocol):
    """A choice of what happens to a caller."""

    @property
    def action(self) -> str:
        """What happens; `forward` among others."""
        ...

    @property
    def forward_to(self) -> str | None:
        """The number of the other telephone; None where nobody is forwarded."""
        ...


Choice = TypeVar("Choice", bound=MayForward)


def checked_forward(choice: Choice) -> Choice:
    """The choice. Raises ValueError where its action and its number do not belong together."""
    if (choice.action == "forward") != (choice.forward_to is not None):
        raise ValueError("forward_to is required when action is forward, and not allowed otherwise")
    return choice
