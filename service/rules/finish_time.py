"""When calling ends if it takes a given time and is possible only within the calling hours."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from functools import reduce
from zoneinfo import ZoneInfo

from callwright.contract.deployments.dialling import WEEKDAYS, CallingHours, Window
from callwright.service.platform.clock.clock import milliseconds, moment

DAYS_AHEAD = 100
"""Days ahead for which an end is estimated."""

Span = tuple[int, int]
"""A start and an end (not included), in milliseconds since the epoch."""


def finish_ms(begin_ms: int, calling_ms: int, hours: CallingHours | None, zones: Sequence[str]) -> int | None:
    """When calling ends that begins at `begin_ms`, takes `calling_ms` and continues only while every zone allows calls.

    None when that is more than 100 days ahead.
    """
    if hours is None:
        return begin_ms + calling_ms if calling_ms <= timedelta(days=DAYS_AHEAD) // timedelta(milliseconds=1) else None
    left_ms = calling_ms
    for start_ms, end_ms in reduce(_both, (_open(hours.windows, ZoneInfo(zone), begin_ms) for zone in zones)):
        opens_ms = max(start_ms, begin_ms)
        if end_ms - opens_ms >= left_ms:
            return opens_ms + left_ms
        left_ms -= max(0, end_ms - opens_ms)
    return None


def _open(windows: Sequence[Window], zone: ZoneInfo, begin_ms: int) -> Iterator[Span]:
    """The times at which the windows are open in a zone, in order and without overlaps."""
    first = moment(begin_ms).astimezone(zone).date()
    for ahead in range(DAYS_AHEAD):
        day = first + timedelta(days=ahead)
        today = [window for window in windows if WEEKDAYS[day.weekday()] in window.days]
        spans = sorted((_moment(day, window.start, zone), _moment(day, window.end, zone)) for window in today)
        merged: list[Span] = []
        for start_ms, end_ms in spans:
            if merged and start_ms <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(end_ms, merged[-1][1]))
            else:
                merged.append((start_ms, end_ms))
        yield from merged


def _moment(day: date, clock_time: str, zone: ZoneInfo) -> int:
    hour, minute = (int(part) for part in clock_time.split(":"))
    local = datetime.combine(day + timedelta(days=hour // 24), time(hour % 24, minute), zone)
    return milliseconds(local)


def _both(left: Iterator[Span], right: Iterator[Span]) -> Iterator[Span]:
    """The times that are in a span of both."""
    mine, other = next(left, None), next(right, None)
    while mine is not None and other is not None:
        start_ms, end_ms = max(mine[0], other[0]), min(mine[1], other[1])
        if start_ms < end_ms:
            yield start_ms, end_ms
        if mine[1] < other[1]:
            mine = next(left, None)
        else:
            other = next(right, None)
