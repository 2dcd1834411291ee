"""The hours of people in given time zones, for campaigns whose own calling hours alone decide."""

from collections.abc import Sequence

from callwright.contract.deployments.dialling import CallingHours
from callwright.service.rules.open_hours import OpenHours, finish_ms
from callwright.service.rules.regions.places import Place
from tests.support.open_rules import OPEN_RULES


def hours_in(zones: Sequence[str], hours: CallingHours | None) -> OpenHours:
    """When people in these zones may be called, where no region has rules."""
    return OpenHours(OPEN_RULES, Place((), tuple(zones)), hours, "informational")


def first_allowed(hours: CallingHours | None, zones: Sequence[str], at_ms: int) -> int | None:
    """The first moment at which the hours allow a call in every zone."""
    return hours_in(zones, hours).first(at_ms)


def finish(begin_ms: int, calling_ms: int, hours: CallingHours | None, zones: Sequence[str]) -> int | None:
    """When calling ends that goes on only in allowed time."""
    return finish_ms(begin_ms, calling_ms, hours_in(zones, hours))
