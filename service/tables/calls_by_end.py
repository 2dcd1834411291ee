"""Lists of calls by when they ended: the index by end says which, if they are few, and about when they were made."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, literal_column, select

from callwright.service.platform.clock.clock import HOUR
from callwright.service.platform.database.listing import RowScan, Span, without_index
from callwright.service.tables import call_spans
from callwright.service.tables.schema import calls
from callwright.service.tables.schema.campaigns import LONG, SORTED_OWNER

FEW = 5_000
"""Up to so many calls are gathered and sorted by duration."""
FEW_BY_MADE = 1_000
"""Up to so many calls are gathered and sorted by when they were made; more stand close together in that order."""
_C = calls.c
END = func.coalesce(_C.ended_at, literal_column("0"))
"""The end as its index has it, and as lists are sorted by it: 0 for calls under way."""


@dataclass(frozen=True)
class ByEnd:
    """Finds the calls of an organization that ended in a span of time.

    `conditions` are the other filters. Counts up to `most`. Of many calls, those are read that were made up to an hour
    before the span, or since the first of the long calls that ended in it.
    """

    connection: Connection
    org_id: str
    ended: call_spans.Span
    conditions: Sequence[ColumnElement[bool]]
    most: int | None = None

    def total(self) -> int:
        """How many calls there are, up to `most`."""
        return RowScan(self.connection, self._by_end(), self.most).total()

    def rows(self, span: Span) -> Select[Any]:
        """The calls of a span of the list."""
        (column, _), *_ = span.order
        exact = span.rounded.column if span.rounded is not None else column
        if exact is END:
            return RowScan(self.connection, self._by_end()).rows(span)
        is_by_made = exact is _C.created_at
        most = FEW_BY_MADE if is_by_made else FEW
        if RowScan(self.connection, self._by_end(), most + 1).total() <= most:
            few = self._by_end().with_only_columns(_C.id)
            return RowScan(self.connection, select(calls).where(_C.id.in_(few))).rows(replace(span, rounded=None))
        owner = _C.org_id if is_by_made else SORTED_OWNER
        made = self._made().conditions(_C.created_at)
        asked_for = (*self.ended.conditions(_C.ended_at), *made, *self.conditions)
        return RowScan(self.connection, select(calls).where(owner == self.org_id, *asked_for)).rows(span)

    def _by_end(self) -> Select[Any]:
        """The calls, by the index. A call under way has no end, and stands there with 0."""
        owner = SORTED_OWNER
        ended = replace(self.ended, from_ms=max(self.ended.from_ms or 1, 1))
        return select(calls).where(owner == self.org_id, *ended.conditions(END), *self.conditions)

    def _made(self) -> call_spans.Span:
        """When these calls were made: in the hour before they ended, but for the long ones."""
        made = without_index(_C.created_at)  # else Postgres looks for the first call by the index of all calls
        ends = (LONG, _C.org_id == self.org_id, *self.ended.conditions(_C.ended_at))
        found = select(func.min(made), func.max(made)).where(*ends)
        first, last = self.connection.execute(found).one()
        from_ms, before_ms = self.ended.from_ms, self.ended.before_ms
        if from_ms is not None:
            from_ms = from_ms - HOUR if first is None else min(first, from_ms - HOUR)
        if before_ms is not None and last is not None:
            before_ms = max(last + 1, before_ms)
        return replace(self.ended, from_ms=from_ms, before_ms=before_ms)
