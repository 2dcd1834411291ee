"""The number to which callers are forwarded, wherever somebody may give one."""

from typing import TypeVar

from callwright.contract.deployments.inbound import AfterHours, Overflow
from callwright.contract.inbound_routing import RoutingFallback
from callwright.service.platform.phone import Dialable, read_number
from callwright.service.platform.refusals import invalid

Choice = TypeVar("Choice", AfterHours, Overflow, RoutingFallback)


def checked_forward(choice: Choice, field: str, own_number: str) -> Choice:
    """The choice with its `forward_to` in E.164. Raises `Refusal` if it cannot be called or is the number itself."""
    if choice.forward_to is None:
        return choice
    field = f"{field}.forward_to"
    if not choice.forward_to.startswith("+"):
        raise invalid(field, "must be a phone number in E.164, which begins with +")
    found = read_number(choice.forward_to)
    if not isinstance(found, Dialable):
        raise invalid(field, found.message)
    if found.e164 == own_number:
        raise invalid(field, "is the number that is called; give another one")
    return choice.model_copy(update={"forward_to": found.e164})
