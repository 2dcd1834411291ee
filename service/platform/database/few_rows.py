"""Lists with a filter that an index answers: few rows are gathered by it, more are read in the order of the list."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from sqlalchemy import Connection, Select

from callwright.service.platform.database.listing import RowScan, Span, in_order

FEW = 5_000
"""Up to so many rows are gathered and sorted. More stand so close together that they are read in the list's order."""


@dataclass(frozen=True)
class ByIndex:
    """Finds the rows of a list by an index, and counts up to `most` of them.

    `found` has all rows that match all filters, by the index. `gathered` has those of a span of the list, out of few.
    `in_turn` has all rows that match too, for a span of the list in whose order they are read.
    """

    connection: Connection
    found: Select[Any]
    gathered: Callable[[Span], Select[Any]]
    in_turn: Callable[[Span], Select[Any]]
    most: int

    @cached_property
    def _count(self) -> int:
        return RowScan(self.connection, self.found, max(self.most, FEW + 1)).total()

    def total(self) -> int:
        """How many rows there are, up to `most`."""
        return min(self._count, self.most)

    def rows(self, span: Span) -> Select[Any]:
        """The rows of a span of the list."""
        if self._count > FEW:
            return RowScan(self.connection, self.in_turn(span)).rows(span)
        return self.gathered(span)


def of_span(connection: Connection, found: Select[Any], span: Span) -> Select[Any]:
    """Those rows that a span has, out of few: they are sorted, so no index of their order is needed."""
    return in_order(RowScan(connection, found).rows(replace(span, rounded=None)), span.order)
