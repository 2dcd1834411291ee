"""A span of time in parts for which calls are counted, and parts for which they have to be read."""

from collections.abc import Generator
from dataclasses import dataclass

from sqlalchemy import ColumnElement

from callwright.service.platform.clock.clock import DAY, HOUR
from callwright.service.tables.call_counts import EVER


@dataclass(frozen=True)
class Span:
    """Calls that were made in a span of time; None: without a bound. Counted by `unit_ms`, or read if that is None."""

    from_ms: int | None
    before_ms: int | None
    unit_ms: int | None

    def conditions(self, moment: ColumnElement[int]) -> Generator[ColumnElement[bool]]:
        if self.from_ms is not None:
            yield moment >= self.from_ms
        if self.before_ms is not None:
            yield moment < self.before_ms


def spans(from_ms: int | None, before_ms: int | None, finest: int | None) -> list[Span]:
    """A span of time in parts of whole days, whole hours, and what is left of an hour at each end.

    `finest` is the shortest span by which calls are grouped, if they are grouped by time.
    """
    if from_ms is None and before_ms is None:
        return [Span(None, None, EVER if finest is None else finest)]
    parts: list[Span] = []
    units = [HOUR] if finest == HOUR else [HOUR, DAY]
    outer: int | None = None  # what is shorter than the first unit is read
    tail: list[Span] = []
    for unit in units:
        first = None if from_ms is None else -(-from_ms // unit) * unit
        last = None if before_ms is None else before_ms // unit * unit
        if first is not None and last is not None and first >= last:
            break
        if first != from_ms:
            parts.append(Span(from_ms, first, outer))
        if last != before_ms:
            tail.append(Span(last, before_ms, outer))
        from_ms, before_ms, outer = first, last, unit
    if from_ms is None or before_ms is None or from_ms < before_ms:
        parts.append(Span(from_ms, before_ms, outer))
    return [*parts, *reversed(tail)]
