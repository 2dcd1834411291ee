"""May this person be called at this moment? Answered from the page of rules, without the code that answers it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tests.oracle import caps, hours
from tests.oracle.places import Place, place_of, zone_named
from tests.oracle.regions import CONSENTS, in_force


@dataclass(frozen=True)
class Question:
    """A call that might be made. Times are UTC, the number is E.164."""

    number: str
    at: datetime
    state: str | None
    timezone: str | None
    calling_hours: dict[str, Any] | None
    purpose: str
    earlier: Sequence[tuple[datetime, str | None]]
    consent: bool


@dataclass(frozen=True)
class Answer:
    """Whether the call may be made, and if not, the first rule found that forbids it."""

    allowed: bool
    rule: str


ALLOWED = Answer(allowed=True, rule="")


def may_call(question: Question) -> Answer:
    """Whether every rule allows the call, wherever the person may be."""
    campaign = question.calling_hours or {}
    by_person = campaign.get("timezone_mode", "callee") == "callee"
    place = place_of(
        question.number,
        state=question.state,
        zone=question.timezone,
        fallback_zone=campaign.get("timezone") if by_person else None,
    )
    forbidden = (
        hours.forbids(place, question.at, purpose=question.purpose, calling_hours=question.calling_hours)
        or _consent(place, question)
        or caps.forbids(place, question.at, purpose=question.purpose, earlier=question.earlier)
    )
    return ALLOWED if forbidden is None else Answer(allowed=False, rule=forbidden)


def _consent(place: Place, question: Question) -> str | None:
    if question.consent:
        return None
    for zone in sorted(place.zones):
        on = question.at.astimezone(zone_named(zone)).date()
        for rule in in_force(CONSENTS, laws=place.laws, purpose=question.purpose, on=on):
            return rule.id
    return None
