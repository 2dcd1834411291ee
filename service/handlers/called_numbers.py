"""What is checked where somebody is to call a number without a telephone: that it answers, and as whom they call."""

from typing import Any

from sqlalchemy import Row

from callwright.contract.problems import NUMBER_NOT_CAPABLE
from callwright.service.platform.phone import Dialable, read_number
from callwright.service.platform.refusals import Refusal, invalid


def check_answered(number: Row[Any]) -> None:
    """Raises `Refusal`: number_not_capable if no inbound deployment answers the number."""
    if number.inbound_deployment_id is None:
        raise Refusal(NUMBER_NOT_CAPABLE, "nobody answers the number: create_inbound_deployment binds an agent to it")


def shown_caller(caller: str, number: Row[Any]) -> str:
    """The caller's number in E.164. Raises `Refusal`: invalid_field if it is none, or the number that is called."""
    found = read_number(caller)
    if not isinstance(found, Dialable):
        raise invalid("caller", found.message)
    if found.e164 == number.number:
        raise invalid("caller", "is the number that is called; give another one")
    return found.e164
