"""Calling hours: the first time at which a person may be called, in every time zone that they may be in."""

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from callwright.contract.deployments.dialling import WEEKDAYS, CallingHours, Window
from callwright.service.platform.clock.clock import milliseconds, moment

_DAYS_AHEAD = 8
_ROUNDS = 60
"""The limit of the search for a time that every zone allows; real windows need far fewer rounds."""


@lru_cache(maxsize=1_000)
def _zone(name: str) -> ZoneInfo:
    return ZoneInfo(name)


def _holds(windows: Sequence[Window], local: datetime) -> bool:
    clock_time, weekday = f"{local:%H:%M}", WEEKDAYS[local.weekday()]
    return any(weekday in window.days and window.start <= clock_time < window.end for window in windows)


def _beginnings(windows: Sequence[Window], day: date, zone: ZoneInfo) -> Iterator[datetime]:
    """The times of a day at which a window may begin: its start (twice in an hour that a clock change repeats), and the
    moment of a clock change."""
    for window in windows:
        hours, minutes = (int(part) for part in window.start.split(":"))
        for fold in (0, 1):
            yield datetime.combine(day, time(hours, minutes, fold=fold), zone).astimezone(UTC)
    begin, end = (datetime.combine(day + timedelta(days=days), time(0), zone).astimezone(UTC) for days in (0, 1))
    before = begin.astimezone(zone).utcoffset()
    if before != end.astimezone(zone).utcoffset():
        first, last = int(begin.timestamp()), int(end.timestamp())
        while last - first > 1:
            middle = (first + last) // 2
            changed = datetime.fromtimestamp(middle, zone).utcoffset() != before
            first, last = (first, middle) if changed else (middle, last)
        yield datetime.fromtimestamp(last, UTC)


def _first_in_zone(windows: Sequence[Window], zone: ZoneInfo, at: datetime) -> datetime | None:
    local = at.astimezone(zone)
    if _holds(windows, local):
        return at
    for ahead in range(_DAYS_AHEAD):
        day = local.date() + timedelta(days=ahead)
        found = [
            start for start in _beginnings(windows, day, zone) if start > at and _holds(windows, start.astimezone(zone))
        ]
        if found:
            return min(found)
    return None


def zones_for(hours: CallingHours, own_zone: str | None, number_zones: Sequence[str]) -> tuple[str, ...]:
    """The zones that must allow a call: the contact's own, else all that the number may be in, else the fallback.

    A number with more than three zones, such as a toll-free one, does not show where its owner is.
    """
    if hours.timezone_mode == "fixed":
        return (hours.timezone or "UTC",)
    if own_zone is not None:
        return (own_zone,)
    if 0 < len(number_zones) <= 3:
        return tuple(number_zones)
    return (hours.timezone or "UTC",)


def first_allowed(hours: CallingHours | None, zones: Sequence[str], at_ms: int) -> int | None:
    """The first time from `at_ms` on at which every zone allows a call; `None` when there is none in a week.

    Windows are half-open, in local time. An hour that a clock change skips does not exist.
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
