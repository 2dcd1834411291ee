"""Full-text search on Postgres: a table of words with an index, joined with their rows."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, delete, func, insert, literal, literal_column, select

from callwright.contract.declaration.model import Input
from callwright.service.platform.database.listing import Listing, RowScan, filter_conditions

_CONFIGURATION: ColumnElement[Any] = literal_column("'simple'")


class JoinedIndex:
    """Words of rows. See `full_text.FullText`."""

    def __init__(self, rows: Table, index: Table) -> None:
        self._rows, self._index = rows, index
        self._key = index.columns[0]
        self._add = insert(index)

    def add(self, connection: Connection, words: Sequence[Mapping[str, Any]]) -> None:
        connection.execute(self._add, [dict(one) for one in words])

    def remove(self, connection: Connection, words: Sequence[Mapping[str, Any]]) -> None:
        connection.execute(delete(self._index).where(self._key.in_([one[self._key.name] for one in words])))

    def finder(
        self,
        connection: Connection,
        phrases: Sequence[Sequence[str]],
        listing: Listing,
        asked: Input,
        *,
        owner: tuple[str, str],
        most: int,
    ) -> RowScan:
        column, value = owner
        vector = func.to_tsvector(_CONFIGURATION, self._index.c.words)
        query = func.to_tsquery(_CONFIGURATION, literal(tsquery(phrases)))
        with_words = select(self._key).where(vector.op("@@")(query))
        own = self._rows.c[column] == value
        return RowScan(
            connection,
            listing.rows.where(own, *filter_conditions(listing, asked), self._rows.c.id.in_(with_words)),
            most,
        )


def tsquery(phrases: Sequence[Sequence[str]]) -> str:
    """All phrases, for `to_tsquery('simple', …)`."""
    return " & ".join("(" + " <-> ".join(phrase) + ")" for phrase in phrases)
