"""Random questions, many of them near the edges of hours, days, holidays, clock changes and counts."""

import random
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from itertools import pairwise
from typing import Any
from zoneinfo import available_timezones

import holidays
import phonenumbers
from phonenumbers import PhoneNumberType

from tests.oracle.law import Question
from tests.oracle.places import place_of, zone_named
from tests.oracle.regions import COUNTRIES
from tests.oracle.states import STATES

KINDS = (PhoneNumberType.FIXED_LINE, PhoneNumberType.MOBILE, PhoneNumberType.TOLL_FREE)
DIALABLE = (*KINDS, PhoneNumberType.FIXED_LINE_OR_MOBILE)
"""Kinds of numbers that are called at all; the type of an invalid number is none of them."""
OTHER_COUNTRIES = ("AT", "BR", "ES", "GG", "GP", "GU", "JE", "JP", "KE", "MX", "NZ", "PR", "RE", "ZA")
PURPOSES = ("marketing", "informational", "collections", "survey")
OUTCOMES = (
    *("answered", "transferred", "voicemail", "voicemail_left", "no_answer", "busy", "rejected", "unreachable"),
    *("abandoned", "fax_or_ivr", None),
)
EDGES = ("00:00", "08:00", "09:00", "10:00", "12:00", "13:00", "14:00", "17:00", "18:00", "20:00", "20:30", "21:00")
EDGES_LATE = ("21:30", "23:59", "01:00", "02:00", "03:00")
STARTS = (date(2021, 7, 1), date(2021, 11, 30), date(2022, 11, 1), date(2023, 3, 1), date(2024, 1, 1))
STARTS_LATE = (date(2026, 8, 11), date(2026, 10, 18), date(2017, 3, 1))
SPANS_H = (24, 72, 168, 720)
FIRST, LAST = date(2026, 1, 1), date(2028, 12, 31)
EARLIEST = date(2016, 1, 1)
CLOSE = (timedelta(0), timedelta(milliseconds=1), timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1))
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def question(seed: int, index: int) -> Question:
    """The question with this number of a seed; always the same one."""
    drawn = random.Random(f"{seed}:{index}")
    country = drawn.choices((drawn.choice(COUNTRIES), "US", drawn.choice(OTHER_COUNTRIES)), (5, 4, 2))[0]
    number = _number(drawn, country)
    hours = _calling_hours(drawn)
    zone = drawn.choice(_zones()) if drawn.random() < 0.1 else None
    near_states = "CA" if country == "US" and drawn.random() < 0.05 else country
    states = tuple(STATES.get(near_states, ()))
    state = drawn.choice(states) if states and drawn.random() < 0.5 else None
    fallback = hours.get("timezone") if hours else None
    place = place_of(number, state=state, zone=zone, fallback_zone=fallback)
    near = drawn.choice(sorted(place.zones))
    country, states = place.calendars[-1]
    at = _moment(drawn, zone=near, country=country, state=_one_of(drawn, country, states), edges=_edges(hours))
    return Question(
        number=number,
        at=at,
        state=state,
        timezone=zone,
        calling_hours=hours,
        purpose=drawn.choices(PURPOSES, (4, 1, 2, 2))[0],
        earlier=_earlier(drawn, at),
        consent=drawn.random() < 0.9,
    )


def _number(drawn: random.Random, country: str) -> str:
    """A valid number: the library's example with other digits, in the US and Canada with any area code too."""
    kind = drawn.choices(KINDS, (5, 4, 1))[0]
    example = phonenumbers.example_number_for_type(country, kind)
    assert example is not None, country
    written = phonenumbers.format_number(example, phonenumbers.PhoneNumberFormat.E164)
    plain = len(str(example.country_code)) + 1
    for tries in range(400):
        kept = plain + (3 if kind == PhoneNumberType.TOLL_FREE else tries // 50)
        tried = written[:kept] + "".join(drawn.choice("0123456789") for _ in written[kept:])
        parsed = phonenumbers.parse(tried)
        region = phonenumbers.region_code_for_number(parsed)
        there = region == country or (kind == PhoneNumberType.TOLL_FREE and region in COUNTRIES)
        if there and phonenumbers.number_type(parsed) in DIALABLE:
            return tried
    raise LookupError(f"{country} has no {kind}")


@cache
def _zones() -> tuple[str, ...]:
    """Zones that a list may name: of continents and oceans, not abbreviations."""
    places = ("America/", "Europe/", "Asia/", "Australia/", "Africa/", "Pacific/")
    return tuple(sorted(zone for zone in available_timezones() if zone.startswith(places)))


def _calling_hours(drawn: random.Random) -> dict[str, Any] | None:
    if drawn.random() < 0.15:
        return None
    mode = drawn.choices(("callee", "fixed"), (4, 1))[0]
    hours: dict[str, Any] = {"timezone_mode": mode, "windows": [_window(drawn) for _ in range(drawn.randint(1, 3))]}
    if drawn.random() < 0.8:
        hours["windows"] = [{"days": list(DAYS), "start": "00:00", "end": "24:00"}]
    if mode == "fixed" or drawn.random() < 0.3:
        hours["timezone"] = drawn.choice(_zones())
    if drawn.random() < 0.6:
        hours["skip_public_holidays"] = drawn.random() < 0.3
    return hours


def _window(drawn: random.Random) -> dict[str, Any]:
    start = drawn.randrange(0, 24 * 4)
    end = drawn.randrange(start + 1, 24 * 4 + 1)
    days = drawn.sample(DAYS, drawn.randint(1, 7))
    return {"days": days, "start": _quarter(start), "end": _quarter(end)}


def _quarter(count: int) -> str:
    return f"{count // 4:02}:{count % 4 * 15:02}"


def _edges(hours: dict[str, Any] | None) -> list[str]:
    own = [window[end] for window in hours["windows"] for end in ("start", "end")] if hours else []
    return [*EDGES, *EDGES_LATE, *(edge for edge in own if edge != "24:00")]


def _one_of(drawn: random.Random, country: str, states: frozenset[str]) -> str | None:
    """One of the states in which the person may be, or any of the country; now and then none."""
    may_be_in = sorted(states) or _states(country)
    return drawn.choice(may_be_in) if may_be_in and drawn.random() < 0.8 else None


@cache
def _states(country: str) -> tuple[str, ...]:
    try:
        return tuple(holidays.country_holidays(country).subdivisions)
    except NotImplementedError:
        return ()


def _moment(drawn: random.Random, *, zone: str, country: str, state: str | None, edges: Sequence[str]) -> datetime:
    """A moment, to the millisecond: on any day, a holiday, a day when clocks change or a rule begins."""
    span = (LAST - FIRST).days
    day = FIRST + timedelta(days=drawn.randrange(span))
    kind = drawn.random()
    if kind < 0.15:
        day = drawn.choice(_holidays(country, state, day.year) or (day,))
    elif kind < 0.3:
        day = drawn.choice(_clock_changes(zone, day.year) or (day,))
    elif kind < 0.35:
        day = drawn.choice((*STARTS, *STARTS_LATE))
    elif kind < 0.4:
        day = EARLIEST + timedelta(days=drawn.randrange((FIRST - EARLIEST).days))
    day += timedelta(days=drawn.choice((0, 0, 0, 0, -1, 1)))
    if drawn.random() < 0.5:
        minute = drawn.randrange(24 * 60)
        clock = time(minute // 60, minute % 60, drawn.randrange(60), drawn.randrange(1_000) * 1_000)
        return datetime.combine(day, clock, zone_named(zone)).astimezone(UTC)
    edge = time.fromisoformat(drawn.choice(edges))
    local = datetime.combine(day, edge, zone_named(zone)).replace(fold=drawn.randint(0, 1))
    return local.astimezone(UTC) + drawn.choice((1, -1)) * drawn.choice(CLOSE)


@cache
def _holidays(country: str, state: str | None, year: int) -> tuple[date, ...]:
    try:
        return tuple(sorted(holidays.country_holidays(country, subdiv=state, years=year)))
    except NotImplementedError:
        return ()


@cache
def _clock_changes(zone: str, year: int) -> tuple[date, ...]:
    """The days of a year on which the clocks of a zone change."""
    days = [datetime(year, 1, 1, tzinfo=zone_named(zone)) + timedelta(days=count) for count in range(365)]
    return tuple(day.date() for day, next_day in pairwise(days) if day.utcoffset() != next_day.utcoffset())


def _earlier(drawn: random.Random, at: datetime) -> tuple[tuple[datetime, str | None], ...]:
    if drawn.random() < 0.4:
        return ()
    calls: list[tuple[datetime, str | None]] = []
    for _ in range(drawn.choice((1, 2, 3, 3, 4, 5, 7, 8))):
        hours = drawn.choice(SPANS_H)
        if drawn.random() < 0.4:
            ago = timedelta(hours=hours) + drawn.choice((1, -1)) * drawn.choice(CLOSE)
        else:
            ago = timedelta(milliseconds=drawn.randrange(1, hours * 3_600_000))
        calls.append((at - ago, drawn.choice(OUTCOMES)))
    return tuple(sorted(calls, key=lambda call: call[0]))
