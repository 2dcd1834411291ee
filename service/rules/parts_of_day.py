"""The parts of a person's day in which they are called again after nobody answered. Pure functions."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta

from callwright.contract.deployments.dialling import PartOfDay
from callwright.service.platform.clock.clock import SECOND
from callwright.service.platform.clock.zones import zone_of

HOURS: Mapping[PartOfDay, tuple[int, int]] = {"morning": (9, 12), "afternoon": (12, 17), "evening": (17, 20)}
"""The first full hour of each part by local time, and the hour at which it is over."""


def part_of(at_ms: int, zone: str) -> PartOfDay | None:
    """The part of the day in which a moment falls in a time zone; None for the night."""
    hour = _local(at_ms, zone).hour
    return next((part for part, (first, end) in HOURS.items() if first <= hour < end), None)


def next_untried_ms(parts: Sequence[PartOfDay], attempts_ms: Sequence[int], from_ms: int, zone: str) -> int | None:
    """The first moment from `from_ms` on in the first of these parts in which no attempt was made.

    None if one was made in each. Daylight saving is that of the time zone.
    """
    tried = {part_of(at_ms, zone) for at_ms in attempts_ms}
    part: PartOfDay | None = next((part for part in parts if part not in tried), None)
    if part is None:
        return None
    first, end = HOURS[part]
    today = _local(from_ms, zone).date()
    is_over = from_ms >= _at(today, end, zone)
    return max(from_ms, _at(today + timedelta(days=is_over), first, zone))


def _local(at_ms: int, zone: str) -> datetime:
    return datetime.fromtimestamp(at_ms / SECOND, UTC).astimezone(zone_of(zone))


def _at(day: date, hour: int, zone: str) -> int:
    return round(datetime.combine(day, time(hour), zone_of(zone)).timestamp()) * SECOND
