"""Whether a person may be called at a moment: the only answer for previews, schedules and claims.

The rules are asked in one order, and the first that forbids the call is the one that is named: the do-not-call list,
consent, the hours and holidays of the campaign and of every region and time zone in which the person may be, and the
caps on calls to the number. Where a cap moves the call beyond the hours that forbid it now, the cap is named. It fails
closed: what is not known to be allowed is not dialled.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from callwright.service.dialling.eligibility.attempts import PastCall, first_within
from callwright.service.platform.phone import is_dialable
from callwright.service.rules.open_hours import CALLING_HOURS as HOURS_RULE
from callwright.service.rules.open_hours import OpenHours

NeverReason = Literal["not_dialable", "do_not_call", "no_consent", "calling_hours", "predial_declined"]
NOT_DIALABLE: NeverReason = "not_dialable"
DO_NOT_CALL: NeverReason = "do_not_call"
NO_CONSENT: NeverReason = "no_consent"
CALLING_HOURS: NeverReason = "calling_hours"
"""Why a contact is suppressed: the number cannot be called (emergency, premium, short code), it is on the list of the
organization, there is no consent that the campaign or the region needs, or no moment within 100 days is allowed."""
PERSON_DELETED = "person_deleted"
"""Why a contact is suppressed whose person had their data deleted. No changed rule makes it wait again."""
_ROUNDS = 50
"""Bounds the search for a moment that hours and caps both allow."""


@dataclass(frozen=True)
class Allowed:
    """The person may be called at this moment."""


@dataclass(frozen=True)
class Deferred:
    """The person may be called from `until_ms` on, not now; `rule` forbids it now."""

    until_ms: int
    rule: str


@dataclass(frozen=True)
class Never:
    """The person may not be called in this campaign; `rule` forbids it."""

    reason: NeverReason
    rule: str


Decision = Allowed | Deferred | Never
_ALLOWED = Allowed()


@dataclass(frozen=True)
class Candidate:
    """A person to be called, due at `due_ms`.

    `hours` are the moments at which they may be called, `past` the calls to the number. `blocked` is the reason in the
    database why the person is never called, see `reasons.why_not`. `consents` says that the campaign names a column of
    consent or states that it has the consent of everybody.
    """

    contact_id: str
    phone: str
    due_ms: int
    hours: OpenHours
    blocked: NeverReason | None = None
    past: Sequence[PastCall] = ()
    consents: bool = False


def gate(candidate: Candidate, at_ms: int) -> Decision:
    """Whether a person may be called at a moment."""
    if not is_dialable(candidate.phone):
        return Never(NOT_DIALABLE, NOT_DIALABLE)
    if candidate.blocked is not None:
        return Never(candidate.blocked, candidate.blocked)
    hours = candidate.hours
    needed = hours.in_force(at_ms).consent
    if needed and not candidate.consents:
        return Never(NO_CONSENT, needed[0].id)
    found_ms, capped = at_ms, None
    for _ in range(_ROUNDS):
        open_ms = hours.first(found_ms)
        if open_ms is None:
            return Never(CALLING_HOURS, hours.beside_own(at_ms))
        if not candidate.past:
            found_ms = open_ms
            break
        found_ms, rule = first_within(candidate.past, hours.in_force(open_ms), open_ms)
        capped = capped or rule
        if found_ms == open_ms:
            break
    if found_ms == at_ms:
        return _ALLOWED
    return Deferred(found_ms, capped or hours.forbidding(at_ms) or HOURS_RULE)


def next_call_ms(candidate: Candidate, end_ms: int | None) -> int | None:
    """When a person is called who is due; None for never, or not before the end."""
    decision = gate(candidate, candidate.due_ms)
    if isinstance(decision, Never):
        return None
    found_ms = decision.until_ms if isinstance(decision, Deferred) else candidate.due_ms
    return None if end_ms is not None and found_ms >= end_ms else found_ms
