"""The people of the state machine, and when each may be called: written down once more, apart from the product's rules.

It says what is forbidden for certain. What it says nothing of may still be deferred by the product.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

from callwright.contract.deployments.dialling import WEEKDAYS, CallingHours, Window

HOUR_MS = 3_600_000
Limit = tuple[int, int, int, int]
"""First and last day of the week, Monday is 0; the first minute of the day and the one after the last."""


@dataclass(frozen=True)
class Person:
    """Somebody with a number: the region, and every zone in which they may be."""

    number: str
    region: str
    zones: tuple[str, ...]

    @property
    def country(self) -> str:
        """The country, as the first part of the region."""
        return self.region.partition("-")[0]


_AUSTRALIA = ("Australia/Sydney", "Australia/Adelaide", "Australia/Darwin", "Australia/Brisbane", "Australia/Perth")
_PLACES: tuple[tuple[str, str, tuple[str, ...], int], ...] = (
    ("+12125550{:03d}", "US-NY", ("America/New_York",), 4),
    ("+13105550{:03d}", "US-CA", ("America/Los_Angeles",), 3),
    ("+12145550{:03d}", "US-TX", ("America/Chicago",), 3),
    ("+13055550{:03d}", "US-FL", ("America/New_York",), 3),
    ("+18505550{:03d}", "US-FL", ("America/New_York", "America/Chicago"), 2),
    ("+16025550{:03d}", "US-AZ", ("America/Phoenix",), 2),
    ("+18085550{:03d}", "US-HI", ("Pacific/Honolulu",), 2),
    ("+14015550{:03d}", "US-RI", ("America/New_York",), 2),
    ("+493055500{:03d}", "DE", ("Europe/Berlin",), 3),
    ("+442079460{:03d}", "GB", ("Europe/London",), 3),
    ("+919812345{:03d}", "IN", ("Asia/Kolkata",), 3),
    ("+61491570{:03d}", "AU", _AUSTRALIA, 2),
)
PEOPLE = tuple(
    Person(pattern.format(156 + place), region, zones)
    for pattern, region, zones, count in _PLACES
    for place in range(count)
)
"""Of several regions: eight states of the United States, and four other countries."""
BY_NUMBER = {person.number: person for person in PEOPLE}

_STRICT: tuple[Limit, ...] = ((0, 5, 9 * 60, 20 * 60),)
_BY_PURPOSE: dict[tuple[str, str], tuple[Limit, ...]] = {
    ("US", "marketing"): ((0, 6, 8 * 60, 21 * 60),),
    ("US", "collections"): ((0, 6, 8 * 60, 21 * 60),),
    ("US-TX", "marketing"): ((0, 5, 9 * 60, 21 * 60), (6, 6, 12 * 60, 21 * 60)),
    ("US-FL", "marketing"): ((0, 6, 8 * 60, 20 * 60),),
    ("US-RI", "marketing"): ((0, 4, 9 * 60, 18 * 60), (5, 5, 10 * 60, 17 * 60)),
    ("IN", "marketing"): ((0, 6, 10 * 60, 21 * 60),),
    ("AU", "marketing"): ((0, 4, 9 * 60, 20 * 60), (5, 5, 9 * 60, 17 * 60)),
    ("AU", "survey"): ((0, 4, 9 * 60, 20 * 60 + 30), (5, 6, 9 * 60, 17 * 60)),
}
_HOLIDAYS: dict[str, tuple[date, ...]] = {
    "US": (date(2027, 5, 31),),
    "DE": (date(2027, 3, 26), date(2027, 3, 29), date(2027, 5, 6), date(2027, 5, 17)),
    "GB": (date(2027, 3, 26), date(2027, 3, 29), date(2027, 5, 3), date(2027, 5, 31)),
    "AU": (date(2027, 3, 26), date(2027, 3, 29)),
}
"""Those of the first half of the year in which the machine plays."""


def forbidden_hour(person: Person, purpose: str, hours: CallingHours | None, at_ms: int) -> str | None:
    """Why a person may not be called at a moment; None if nothing here forbids it."""
    for zone in person.zones:
        local = datetime.fromtimestamp(at_ms / 1_000, UTC).astimezone(ZoneInfo(zone))
        for limits in _limits_of(person, purpose, has_own=hours is not None):
            if not _is_within(limits, local):
                return f"{person.region}, {purpose}: {local:%a %H:%M} in {zone}"
        if _is_strict(person, purpose, has_own=hours is not None) and local.date() in _HOLIDAYS.get(person.country, ()):
            return f"{person.region}: a holiday in {zone}, {local.date()}"
    own_zones = [hours.timezone or "UTC"] if hours and hours.timezone_mode == "fixed" else person.zones
    for zone in own_zones:
        local = datetime.fromtimestamp(at_ms / 1_000, UTC).astimezone(ZoneInfo(zone))
        if hours is not None and not any(_is_in_window(window, local) for window in hours.windows):
            return f"the campaign's own hours: {local:%a %H:%M} in {zone}"
    return None


def _limits_of(person: Person, purpose: str, *, has_own: bool) -> list[Sequence[Limit]]:
    found: list[Sequence[Limit]] = [_STRICT] if _is_strict(person, purpose, has_own=has_own) else []
    codes = dict.fromkeys((person.country, person.region))
    return found + [_BY_PURPOSE[code, purpose] for code in codes if (code, purpose) in _BY_PURPOSE]


def _is_strict(person: Person, purpose: str, *, has_own: bool) -> bool:
    """Whether the strict hours hold: everywhere but where a law was read that a campaign with own hours may use."""
    return not (has_own and person.country == "US" and purpose == "collections")


def _is_within(limits: Sequence[Limit], local: datetime) -> bool:
    minute = local.hour * 60 + local.minute
    return any(first <= local.weekday() <= last and begin <= minute < end for first, last, begin, end in limits)


def _is_in_window(window: Window, local: datetime) -> bool:
    return WEEKDAYS[local.weekday()] in window.days and window.start <= f"{local:%H:%M}" < window.end


def caps_of(person: Person, purpose: str) -> tuple[tuple[int, int], ...]:
    """The most calls to a number within so many milliseconds, over all campaigns."""
    week = (7, 168 * HOUR_MS)
    return (week,) if (person.country, purpose) == ("US", "collections") else ((3, 24 * HOUR_MS), week)


def pauses_of(person: Person, purpose: str) -> tuple[tuple[tuple[str, ...], int], ...]:
    """Outcomes after which a number is left alone for so many milliseconds."""
    if (person.country, purpose) == ("US", "collections"):
        return ((("answered", "transferred"), 168 * HOUR_MS),)
    if person.country == "GB":
        return ((("voicemail", "voicemail_left"), 24 * HOUR_MS), (("abandoned",), 72 * HOUR_MS))
    return ()
