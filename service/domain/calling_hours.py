"""When a person may be called: the first allowed moment, in every time zone they may be in."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from callwright.contract.dialling import WEEKDAYS, CallingHours, Window

from .clock import milliseconds, moment

_DAYS_AHEAD = 8
_ROUNDS = 60
"""Bound of the search for a moment that suits several zones; windows a week apart need far fewer."""


@lru_cache(maxsize=1_000)
def _zone(name: str) -> ZoneInfo:
    return ZoneInfo(name)


def _at(day: date, clock_time: str, zone: ZoneInfo) -> datetime:
    hours, minutes = (int(part) for part in clock_time.split(":"))
    if hours == 24:
        return datetime.combine(day + timedelta(days=1), time(0), zone).astimezone(UTC)
    return datetime.combine(day, time(hours, minutes), zone).astimezone(UTC)


def _first_in_zone(windows: Sequence[Window], zone: ZoneInfo, at: datetime) -> datetime | None:
    today = at.astimezone(zone).date()
    for ahead in range(_DAYS_AHEAD):
        day = today + timedelta(days=ahead)
        starts = [
            max(at, _at(day, window.start, zone))
            for window in windows
            if WEEKDAYS[day.weekday()] in window.days and at < _at(day, window.end, zone)
        ]
        if starts:
            return min(starts)
    return None


def zones_for(hours: CallingHours, own_zone: str | None, number_zones: Sequence[str]) -> tuple[str, ...]:
    """The zones that must allow a call: the contact's own if known, else all the number may be in, else the fallback.

    More than three zones (toll-free numbers) say nothing about where somebody is.
    """
    if hours.timezone_mode == "fixed":
        return (hours.timezone or "UTC",)
    if own_zone is not None:
        return (own_zone,)
    if 0 < len(number_zones) <= 3:
        return tuple(number_zones)
    return (hours.timezone or "UTC",)


def first_allowed(hours: CallingHours | None, zones: Sequence[str], at_ms: int) -> int | None:
    """The first moment from `at_ms` on at which every zone allows a call; `None` when there is none in a week.

    Windows are half-open and mean local wall time; an hour that a clock change skips does not exist.
    """
    if hours is None:
        return at_ms
    at = moment(at_ms)
    for _ in range(_ROUNDS):
        latest = at
        for name in zones:
            found = _first_in_zone(hours.windows, _zone(name), latest)
            if found is None:
                return None
            latest = found
        if latest == at:
            return milliseconds(at)
        at = latest
    return None
