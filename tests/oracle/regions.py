"""The rules of docs/reference/rules.md that decide whether a call may be made, copied from the page by hand."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta
from typing import TypeVar

MARKETING = frozenset({"marketing"})
COLLECTIONS = frozenset({"collections"})
SURVEY = frozenset({"survey"})
EVERY_PURPOSE = frozenset({"marketing", "informational", "collections", "survey"})
ALWAYS = date.min
EVERYWHERE_ELSE = "*"

Span = tuple[time, time | None]
"""A stretch of a day, its end left out; None is midnight."""
Week = tuple[tuple[Span, ...], ...]
"""The stretches of each day, Monday first."""


@dataclass(frozen=True)
class Rule:
    """What all rules have."""

    id: str
    purposes: frozenset[str]
    verified: bool
    since: date


@dataclass(frozen=True)
class Hours(Rule):
    """When calls may be made, in the time of the person."""

    week: Week
    holidays_of: str | None
    """The region on whose holidays no call is made; `*` is the place of the person."""


@dataclass(frozen=True)
class Cap(Rule):
    """At most so many calls to a number in a stretch of time."""

    calls: int
    within: timedelta


@dataclass(frozen=True)
class Pause(Rule):
    """No call for a time after a call that ended in one of these ways."""

    outcomes: frozenset[str]
    lasts: timedelta


@dataclass(frozen=True)
class Consent(Rule):
    """Only who agreed is called."""


def _clock(text: str) -> time | None:
    hour, _, minute = text.partition(":")
    return None if hour == "24" else time(int(hour), int(minute or 0))


def spans(text: str) -> tuple[Span, ...]:
    """`10-13 14-20` as stretches."""
    found: list[Span] = []
    for part in text.split():
        start, end = part.split("-")
        found.append((_clock(start) or time(0), _clock(end)))
    return tuple(found)


def week(working: str, saturday: str, sunday: str) -> Week:
    """One week: five equal days, a Saturday and a Sunday; empty means no calls."""
    return (spans(working),) * 5 + (spans(saturday), spans(sunday))


def _daily(text: str) -> Week:
    return week(text, text, text)


def _hours(
    id: str,
    purposes: frozenset[str],
    days: Week,
    *,
    verified: bool,
    holidays_of: str | None = None,
    since: date = ALWAYS,
) -> Hours:
    return Hours(id, purposes, verified, since, days, holidays_of)


_REGULATION_F = date(2021, 11, 30)
_OFCOM = date(2017, 3, 1)
_DECRET = date(2023, 3, 1)
_DAY = timedelta(days=1)

HOURS: tuple[Hours, ...] = (
    _hours("*.hours", EVERY_PURPOSE, week("9-20", "9-20", ""), verified=True, holidays_of=EVERYWHERE_ELSE),
    _hours("US.hours-marketing", MARKETING, _daily("8-21"), verified=False),
    _hours("US.hours-collections", COLLECTIONS, _daily("8-21"), verified=True),
    _hours("US-AL.hours", MARKETING, week("8-20", "8-20", ""), verified=False, holidays_of="US-AL"),
    _hours("US-CT.hours", MARKETING, _daily("9-20"), verified=False),
    _hours("US-DC.hours", MARKETING, _daily("8-21"), verified=True),
    _hours("US-FL.hours", MARKETING, _daily("8-20"), verified=True, since=date(2021, 7, 1)),
    _hours("US-KY.hours", MARKETING, _daily("10-21"), verified=False),
    _hours("US-LA.hours", MARKETING | SURVEY, week("8-20", "8-20", ""), verified=True, holidays_of="US-LA"),
    _hours("US-MA.hours", MARKETING, _daily("8-20"), verified=True),
    _hours("US-MD.hours", MARKETING, _daily("8-20"), verified=False, since=date(2024, 1, 1)),
    _hours("US-ME.hours", MARKETING, week("9-17", "", ""), verified=False),
    _hours("US-MI.hours", MARKETING, _daily("9-21"), verified=False),
    _hours("US-MN.hours", MARKETING, _daily("9-21"), verified=False),
    _hours("US-MS.hours", MARKETING, week("8-20", "8-20", ""), verified=True),
    _hours("US-NM.hours", MARKETING, _daily("9-21"), verified=True),
    _hours("US-NV.hours", MARKETING, _daily("9-20"), verified=False),
    _hours("US-OK.hours", MARKETING, _daily("8-20"), verified=False, since=date(2022, 11, 1)),
    _hours("US-PA.hours", MARKETING, week("8-21", "8-21", ""), verified=False, since=date(2026, 10, 18)),
    _hours("US-RI.hours", MARKETING, week("9-18", "10-17", ""), verified=True, holidays_of="US-RI"),
    _hours("US-TX.hours", MARKETING, week("9-21", "9-21", "12-21"), verified=False),
    _hours("US-UT.hours", MARKETING, week("8-21", "8-21", ""), verified=True, holidays_of="US-UT"),
    _hours("US-WA.hours", MARKETING, _daily("8-20"), verified=True),
    _hours("US-WY.hours", MARKETING, _daily("8-20"), verified=False),
    _hours("IN.hours", MARKETING, _daily("10-21"), verified=False),
    _hours("AU.hours-marketing", MARKETING, week("9-20", "9-17", ""), verified=True, holidays_of="AU"),
    _hours("AU.hours-survey", SURVEY, week("9-20:30", "9-17", "9-17"), verified=False, holidays_of="AU"),
    _hours("CA.hours", MARKETING, week("9-21:30", "10-18", "10-18"), verified=True),
    _hours("CA-BC.hours", MARKETING, week("9-21:30", "10-18", "10-18"), verified=False, holidays_of="CA-BC"),
    _hours("FR.hours", MARKETING, week("10-13 14-20", "", ""), verified=True, holidays_of="FR", since=_DECRET),
)

CAPS: tuple[Cap, ...] = (
    Cap("*.caps-day", EVERY_PURPOSE, True, ALWAYS, 3, _DAY),
    Cap("*.caps-week", EVERY_PURPOSE, True, ALWAYS, 7, 7 * _DAY),
    Cap("US.caps-collections", COLLECTIONS, True, _REGULATION_F, 7, 7 * _DAY),
    Cap("US-FL.caps", MARKETING, False, date(2021, 7, 1), 3, _DAY),
    Cap("US-MD.caps", MARKETING, False, date(2024, 1, 1), 3, _DAY),
    Cap("US-OK.caps", MARKETING, False, date(2022, 11, 1), 3, _DAY),
    Cap("FR.caps", MARKETING, True, _DECRET, 4, 30 * _DAY),
)

PAUSES: tuple[Pause, ...] = (
    Pause("US.pause-collections", COLLECTIONS, True, _REGULATION_F, frozenset({"answered", "transferred"}), 7 * _DAY),
    Pause("GB.pause-abandoned", EVERY_PURPOSE, False, _OFCOM, frozenset({"abandoned"}), 3 * _DAY),
    Pause("GB.pause-voicemail", EVERY_PURPOSE, False, _OFCOM, frozenset({"voicemail", "voicemail_left"}), _DAY),
)

CONSENTS: tuple[Consent, ...] = (
    Consent("*.consent", MARKETING, True, ALWAYS),
    Consent("US.consent", MARKETING, False, ALWAYS),
    Consent("GB.consent", MARKETING, False, date(2003, 12, 11)),
    Consent("IE.consent", MARKETING, False, date(2011, 7, 1)),
    Consent("CA.consent", MARKETING, False, ALWAYS),
    Consent("DE.consent", MARKETING, True, ALWAYS),
    Consent("FR.consent", MARKETING, False, date(2026, 8, 11)),
)

COUNTRIES = ("US", "GB", "IE", "IN", "AU", "CA", "DE", "FR")
"""The countries of the page."""


def region_of(rule: Rule) -> str:
    """Where a rule holds: `US-FL` of `US-FL.hours`."""
    return rule.id.partition(".")[0]


AnyRule = TypeVar("AnyRule", bound=Rule)
Laws = Sequence[tuple[str, frozenset[str]]]
"""Countries, each with the states whose rules hold beside it."""


def in_force(rules: Sequence[AnyRule], *, laws: Laws, purpose: str, on: date) -> list[AnyRule]:
    """The rules of one kind that hold where a person may be, on a day.

    The default holds where a country has no rule, and beside each rule that is not verified.
    """
    held = [rule for rule in rules if purpose in rule.purposes and rule.since <= on]
    strict = [rule for rule in held if region_of(rule) == EVERYWHERE_ELSE]
    found: list[AnyRule] = []
    for country, states in laws:
        places = {country, *(f"{country}-{state}" for state in states)}
        own = [rule for rule in held if region_of(rule) in places]
        known = any(region_of(rule) == country for rule in own) and all(rule.verified for rule in own)
        found += own if known else [*own, *strict]
    return found
