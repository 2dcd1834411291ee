"""Lists of calls by what is counted of them, such as an outcome: the counts say how many there are, and where.

Without them the engines would scan the calls of the whole organization up to the last one that matches.
"""

from collections.abc import Collection, Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, select, union_all

from callwright.service.platform.clock.clock import HOUR
from callwright.service.platform.database.listing import RowScan, Span, after_position, without_index
from callwright.service.tables import call_spans
from callwright.service.tables.schema import call_counts, call_kinds, calls
from callwright.service.tables.schema.campaigns import LONG, SORTED_OWNER, UNDER_WAY

MOST_PARTS = 250
"""So many hours of deployments are read one by one; SQLite allows 500."""
_MOST_ROWS = 1_000
_SPARE_ROWS = 300
_NEAR_HOURS = 3
"""Within so many hours that have enough calls, all calls of the organization are read."""
_C, _K, _N = calls.c, call_kinds.c, call_counts.c

Part = tuple[str | None, int]
"""A deployment, and the beginning of an hour."""


@dataclass(frozen=True)
class OfKinds:
    """Finds the calls of an organization by filters that kinds of calls have, and by when they were made.

    `conditions` are these filters on calls without those on time, `of_kinds` the same on kinds. Counts up to `most`.
    """

    connection: Connection
    org_id: str
    conditions: Sequence[ColumnElement[bool]]
    of_kinds: Sequence[ColumnElement[bool]]
    made: call_spans.Span
    most: int | None = None

    def total(self) -> int:
        """How many calls there are."""
        found = self._count()
        return found if self.most is None else min(found, self.most)

    def _count(self) -> int:
        return sum(self.connection.execute(each).scalar() or 0 for each in self._counting())

    def rows(self, span: Span) -> Select[Any]:
        """The calls of a span of the list, looked for where they are."""
        (column, descends), *_ = span.order
        exact = span.rounded.column if span.rounded is not None else column
        if exact is not _C.created_at:
            return self._sorted(span)
        own = [_C.org_id == self.org_id, *self.conditions, *self.made.conditions(_C.created_at)]
        whole = RowScan(self.connection, select(calls).where(*own))
        if not self.of_kinds or column is not _C.created_at or span.skipped + span.count > _MOST_ROWS:
            return whole.rows(span)
        found = self._parts(span, descends=descends)
        if found is None:
            return whole.rows(span)
        parts, has_enough = found
        hours = {hour for _, hour in parts}
        if has_enough and (max(hours) - min(hours) < _NEAR_HOURS * HOUR or len(parts) > MOST_PARTS):
            edge = _C.created_at >= min(hours) if descends else _C.created_at < max(hours) + HOUR
            return RowScan(self.connection, select(calls).where(*own, edge)).rows(span)
        if len(parts) > MOST_PARTS:
            return whole.rows(span)
        return self._of_parts(parts, span)

    def few(self, most_calls: int) -> Select[Any] | None:
        """The ids of the calls, if the counts have at most `most_calls` of them, in parts that are read one by one."""
        parts = self._all_parts()
        if len(parts) > MOST_PARTS or sum(calls for *_, calls in parts) > most_calls:
            return None
        return self._ids([(deployment_id, hour) for deployment_id, hour, _ in parts])

    def _of_parts(self, parts: Collection[Part], span: Span) -> Select[Any]:
        """The calls of a span that are in these parts, or under way."""
        last = () if span.last is None else (after_position(span.order, span.last),)
        of_parts = select(calls).where(_C.id.in_(self._ids(parts)), *last)
        return (of_parts.offset(span.skipped) if span.skipped else of_parts).limit(span.count)

    def _ids(self, parts: Collection[Part]) -> Select[Any]:
        """The ids of the calls that are in these parts, or under way.

        The index by end and outcome says which calls of a part have an outcome, so that only these are read. A call of
        a part ended within an hour after it; long calls are looked for beside.
        """
        kinds = select(_K.outcome).where(_K.org_id == self.org_id, *self.of_kinds).distinct()
        outcomes = self.connection.execute(kinds).scalars().all()
        one = select(_C.id).where(_C.org_id == self.org_id, *self.conditions)
        made = without_index(_C.created_at)
        ids = [
            one.where(_C.deployment_id == deployment_id, _C.ended_at >= hour, _C.ended_at < hour + 2 * HOUR).where(
                made >= hour, made < hour + HOUR, _C.outcome.in_(outcomes)
            )
            for deployment_id, hour in parts
        ]
        if parts:
            hours = [hour for _, hour in parts]
            ids.append(one.where(LONG, made >= min(hours), made < max(hours) + HOUR))
        ids += [one.where(_C.ended_at.is_(None), each) for each in UNDER_WAY]
        return select(_C.id).where(_C.id.in_(union_all(*ids)), *self.made.conditions(_C.created_at))

    def _sorted(self, span: Span) -> Select[Any]:
        """The calls of a span of a list by duration or end: in that order, but for few that are gathered and sorted."""
        own, owner = [*self.conditions, *self.made.conditions(_C.created_at)], SORTED_OWNER
        in_turn = select(calls).where(owner == self.org_id, *own)
        if own:
            count, needed = self._count(), span.skipped + span.count
            everything = replace(self, conditions=(), of_kinds=(), made=call_spans.Span(None, None, None))
            if count * count < needed * everything._count():
                parts = self._all_parts()
                if len(parts) <= MOST_PARTS:
                    return self._of_parts([(deployment_id, hour) for deployment_id, hour, _ in parts], span)
                if count < needed:
                    in_turn = select(calls).where(_C.org_id == self.org_id, *own)
        return RowScan(self.connection, in_turn).rows(span)

    def _all_parts(self) -> Sequence[tuple[str | None, int, int]]:
        """Where all these calls are, and how many at each place, to one part more than are read one by one."""
        hours = call_spans.Span(
            None if self.made.from_ms is None else self.made.from_ms - HOUR + 1, self.made.before_ms, HOUR
        )
        there = (_N.org_id == self.org_id, _N.span_ms == HOUR, *self.of_kinds, *hours.conditions(_N.begins_at))
        counted = func.sum(_N.calls).label("counted")
        statement = select(_K.deployment_id, _N.begins_at, counted).join_from(
            call_counts, call_kinds, _K.id == _N.kind_id
        )
        parts = statement.where(*there).group_by(_K.deployment_id, _N.begins_at)
        found = self.connection.execute(parts.limit(MOST_PARTS + 1))
        return [(row.deployment_id, row.begins_at, int(row.counted)) for row in found]

    def _parts(self, span: Span, *, descends: bool) -> tuple[set[Part], bool] | None:
        """Where the first calls of the span are, and whether more come after; None if that takes long to say."""
        needed = span.skipped + span.count
        last: int | None = None if span.last is None else span.last[0]
        begins = _N.begins_at
        near = [_N.org_id == self.org_id, _N.span_ms == HOUR, *self.of_kinds]
        if self.made.from_ms is not None:
            near.append(begins > self.made.from_ms - HOUR)
        if self.made.before_ms is not None:
            near.append(begins < self.made.before_ms)
        if last is not None:
            near.append(begins <= last if descends else begins > last - HOUR)
        statement = (
            select(_K.deployment_id, begins, _N.calls)
            .join_from(call_counts, call_kinds, _K.id == _N.kind_id)
            .where(*near)
            .order_by(begins.desc() if descends else begins)
            .limit(needed + _SPARE_ROWS)
        )
        rows = self.connection.execute(statement).all()
        parts, sure = set[Part](), 0
        for index, (deployment_id, hour, count) in enumerate(rows):
            if sure >= needed and hour != rows[index - 1].begins_at:
                return parts, True
            parts.add((deployment_id, hour))
            sure += count if self._is_whole(hour, last, descends=descends) else 0
        return (parts, False) if len(rows) < needed + _SPARE_ROWS else None

    def _is_whole(self, hour_ms: int, last_ms: int | None, *, descends: bool) -> bool:
        """Whether all calls of an hour are asked for."""
        if self.made.from_ms is not None and hour_ms < self.made.from_ms:
            return False
        if self.made.before_ms is not None and hour_ms + HOUR > self.made.before_ms:
            return False
        return last_ms is None or (hour_ms + HOUR <= last_ms if descends else hour_ms > last_ms)

    def _counting(self) -> Generator[Select[Any]]:
        """Statements whose results add up to the number of calls."""
        own = [_C.org_id == self.org_id, *self.conditions]
        under_way = select(func.count()).select_from(calls)
        for each in UNDER_WAY:
            yield under_way.where(
                *own, _C.ended_at.is_(None), each, *self.made.conditions(without_index(_C.created_at))
            )
        for part in call_spans.spans(self.made.from_ms, self.made.before_ms, None):
            if part.unit_ms is None:
                yield under_way.where(*own, _C.ended_at.is_not(None), *part.conditions(_C.created_at))
            else:
                counted = select(func.sum(_N.calls)).join_from(call_counts, call_kinds, _K.id == _N.kind_id)
                of_unit = (_N.org_id == self.org_id, _N.span_ms == part.unit_ms)
                yield counted.where(*of_unit, *self.of_kinds, *part.conditions(_N.begins_at))
