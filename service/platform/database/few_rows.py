"""Lists with a filter that an index answers: few rows are gathered by it, more are read in the order of the list."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from sqlalchemy import Connection, Select

from callwright.service.platform.database.listing import RowScan, Span, in_order

FEW = 5_000
"""Up to so many rows are gathered and sorted. More stand so close together that they are read in the list's order."""

NAMED = 300
"""Up to so many ids are named in a statement, so that the index is asked once."""


@dataclass(frozen=True)
class ByIndex:
    """Finds the rows of a list by an index, and counts up to `most` of them.

    `found` has the ids of all rows that match all filters, by the index; `known` those of these ids, without it.
    `gathered` has the rows of a span of the list, out of few ids. `in_turn` has all rows that match too, for a span of
    the list in whose order they are read.
    """

    connection: Connection
    found: Select[Any]
    known: Callable[[Sequence[str]], Select[Any]]
    gathered: Callable[[Select[Any], Span], Select[Any]]
    in_turn: Callable[[Span], Select[Any]]
    most: int

    @cached_property
    def _ids(self) -> Sequence[str]:
        """The ids, up to one more than are named in a statement. To ask for a common word twice takes long."""
        return self.connection.execute(self.found.limit(NAMED + 1)).scalars().all()

    @cached_property
    def _count(self) -> int:
        if len(self._ids) <= NAMED:
            return len(self._ids)
        return RowScan(self.connection, self.found, max(self.most, FEW + 1)).total()

    def total(self) -> int:
        """How many rows there are, up to `most`."""
        return min(self._count, self.most)

    def rows(self, span: Span) -> Select[Any]:
        """The rows of a span of the list."""
        if self._count > FEW:
            return RowScan(self.connection, self.in_turn(span)).rows(span)
        return self.gathered(self.known(self._ids) if len(self._ids) <= NAMED else self.found, span)


def of_span(connection: Connection, found: Select[Any], span: Span) -> Select[Any]:
    """Those rows that a span has, out of few: they are sorted, so no index of their order is needed."""
    return in_order(RowScan(connection, found).rows(replace(span, rounded=None)), span.order)
