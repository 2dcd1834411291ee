"""Lists of an audience's rows: how many there are, and the rows with an own id."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, literal, select, union_all

from callwright.service.platform.database.few_rows import ByIndex, of_span
from callwright.service.platform.database.listing import RowScan, Span, without_index
from callwright.service.tables.schema import audience_rows
from callwright.service.tables.schema.campaigns import AUDIENCE_END, OTHER_OWN_ID

_R = audience_rows.c


@dataclass(frozen=True)
class AllRows:
    """Finds all rows of an audience, of which it knows how many it has."""

    scan: RowScan
    count: int

    def total(self) -> int:
        """How many rows there are."""
        return self.count

    def rows(self, span: Span) -> Select[Any]:
        """The rows of a span of the list."""
        return self.scan.rows(span)


def by_own_id(connection: Connection, audience_id: str, own_id: str, listed: Select[Any], *, most: int) -> ByIndex:
    """Finds the rows with an own id among those that are `listed`, which match all filters.

    It is what the audience tells people apart by, or it has an index beside that.
    """
    own = select(_R.id).where(_R.external_id == own_id)
    parts = (
        own.where(_R.audience_id == audience_id, _R.dedupe_key == own_id),
        own.where(
            without_index(_R.audience_id) == audience_id,
            literal(audience_end(audience_id)) == AUDIENCE_END,
            OTHER_OWN_ID,
        ),
    )
    found = select(_R.id).where(_R.id.in_(union_all(*parts)))

    def known(ids: Sequence[str]) -> Select[Any]:
        return select(_R.id).where(_R.id.in_(ids))

    def gathered(few: Select[Any], span: Span) -> Select[Any]:
        return select(audience_rows).where(_R.id.in_(of_span(connection, few, span)))

    def in_turn(span: Span) -> Select[Any]:
        del span
        return listed

    return ByIndex(connection, found, known, gathered, in_turn, most)


def audience_end(audience_id: str) -> str:
    """What `AUDIENCE_END` is for an audience."""
    return audience_id[22:]
