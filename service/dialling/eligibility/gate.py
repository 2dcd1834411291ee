"""Whether a person may be called at a time. Previews, schedules and claims all use this check;
the forecast asks it about calling hours alone."""

from dataclasses import dataclass
from typing import Literal

from callwright.contract.deployments.dialling import CallingHours
from callwright.service.platform.phone import zones_of
from callwright.service.rules.calling_hours import first_allowed, zones_for

NeverReason = Literal["do_not_call", "no_consent", "calling_hours"]
DO_NOT_CALL: NeverReason = "do_not_call"
NO_CONSENT: NeverReason = "no_consent"
CALLING_HOURS: NeverReason = "calling_hours"
"""Why a contact is suppressed: the number is on the organization's list, the consent column does not say yes, or the
calling hours allow no time of the week."""


@dataclass(frozen=True)
class Allowed:
    """The person may be called at this time."""


@dataclass(frozen=True)
class Deferred:
    """The person may be called from `until_ms` on, not now."""

    until_ms: int


@dataclass(frozen=True)
class Never:
    """The person may not be called in this campaign."""

    reason: NeverReason


Decision = Allowed | Deferred | Never
_ALLOWED = Allowed()


@dataclass(frozen=True)
class Candidate:
    """A person to be called, due at `due_ms`. The calling hours must allow the call in all `zones`.

    `blocked` is the reason in the database why the person is never called, see `reasons.why_not`.
    """

    contact_id: str
    due_ms: int
    zones: tuple[str, ...] = ()
    blocked: NeverReason | None = None


def zones_of_person(hours: CallingHours | None, timezone: str | None, phone: str) -> tuple[str, ...]:
    """The time zones in which the calling hours must allow a call to a person; none without calling hours."""
    return () if hours is None else zones_for(hours, timezone, zones_of(phone))


def gate(candidate: Candidate, hours: CallingHours | None, at_ms: int) -> Decision:
    """Whether a person may be called at a time, by `blocked` and the calling hours of the campaign."""
    if candidate.blocked is not None:
        return Never(candidate.blocked)
    allowed_ms = first_allowed(hours, candidate.zones, at_ms)
    if allowed_ms is None:
        return Never(CALLING_HOURS)
    return _ALLOWED if allowed_ms == at_ms else Deferred(allowed_ms)


def next_call_ms(
    hours: CallingHours | None, timezone: str | None, phone: str, at_ms: int, end_ms: int | None
) -> int | None:
    """When a person who is due at `at_ms` is called; None for never, or not before the end."""
    decision = gate(Candidate("", at_ms, zones_of_person(hours, timezone, phone)), hours, at_ms)
    if isinstance(decision, Never):
        return None
    found_ms = decision.until_ms if isinstance(decision, Deferred) else at_ms
    return None if end_ms is not None and found_ms >= end_ms else found_ms
