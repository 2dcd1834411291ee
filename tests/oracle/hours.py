"""Whether hours and holidays allow a moment, in each time zone in which a person may be."""

from datetime import date, datetime, time
from functools import cache
from typing import Any

import holidays

from tests.oracle.places import Place, zone_named
from tests.oracle.regions import EVERYWHERE_ELSE, HOURS, Span, Week, in_force, spans, week

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
USUAL: Week = week("9-20", "9-20", "")
"""When people are called if a campaign has no hours of its own."""


def forbids(place: Place, at: datetime, *, purpose: str, calling_hours: dict[str, Any] | None) -> str | None:
    """The rule that forbids a call at a moment; None: hours and holidays allow it."""
    if not place.zones:
        return "no time zone is known"
    for zone in sorted(place.zones):
        local = at.astimezone(zone_named(zone))
        rule = _campaign(place, local, at, calling_hours) or _law(place, local, purpose)
        if rule is not None:
            return f"{rule} in {zone}"
    return None


def _campaign(place: Place, local: datetime, at: datetime, hours: dict[str, Any] | None) -> str | None:
    if hours is None:
        open_week, clock, skips = USUAL, local, True
    else:
        fixed = hours.get("timezone_mode", "callee") == "fixed"
        clock = at.astimezone(zone_named(hours["timezone"])) if fixed else local
        open_week, skips = _week(hours["windows"]), hours.get("skip_public_holidays", True)
    if not _within(open_week[clock.weekday()], clock.time()):
        return "calling_hours"
    return "skip_public_holidays" if skips and _is_holiday(place, local.date()) else None


def _law(place: Place, local: datetime, purpose: str) -> str | None:
    on = local.date()
    rules = in_force(HOURS, laws=place.laws, purpose=purpose, on=on)
    for rule in rules:
        if not _within(rule.week[local.weekday()], local.time()):
            return rule.id
        if rule.holidays_of == EVERYWHERE_ELSE and _is_holiday(place, on):
            return f"{rule.id}, a holiday"
        if rule.holidays_of not in (None, EVERYWHERE_ELSE):
            country, _, state = rule.holidays_of.partition("-")
            if on in _holidays(country, state or None, on.year):
                return f"{rule.id}, a holiday"
    return None


def _within(open_spans: tuple[Span, ...], moment: time) -> bool:
    return any(start <= moment and (end is None or moment < end) for start, end in open_spans)


def _week(windows: list[dict[str, Any]]) -> Week:
    return tuple(
        tuple(
            span for window in windows if day in window["days"] for span in spans(f"{window['start']}-{window['end']}")
        )
        for day in DAYS
    )


def _is_holiday(place: Place, on: date) -> bool:
    return any(_is_holiday_in(country, states, on) for country, states in place.calendars)


def _is_holiday_in(country: str, states: frozenset[str], on: date) -> bool:
    """Of the country, or of at least half of the states in which the person may be."""
    may_be_in = states & set(_states(country)) or _states(country)
    free = sum(on in _holidays(country, state, on.year) for state in may_be_in)
    return on in _holidays(country, None, on.year) or (free > 0 and free >= len(may_be_in) / 2)


@cache
def _states(country: str) -> frozenset[str]:
    try:
        return frozenset(holidays.country_holidays(country).subdivisions)
    except NotImplementedError:
        return frozenset()


@cache
def _holidays(country: str, state: str | None, year: int) -> frozenset[date]:
    """Public holidays of a country, and of one state; none where the library knows none."""
    try:
        return frozenset(holidays.country_holidays(country, subdiv=state, years=year))
    except NotImplementedError:
        return frozenset()
