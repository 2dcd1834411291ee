"""Full-text search of rows, with one interface for both engines."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table

from callwright.contract.declaration.model import Input
from callwright.service.platform.database.listing import Finder, Listing
from callwright.service.platform.database.postgres.full_text import JoinedIndex
from callwright.service.platform.database.sqlite.full_text import MarkedIndex

Phrases = Sequence[Sequence[str]]
"""What is searched for: every phrase must occur in a row's words. The words are ASCII."""


class FullText:
    """The words of the rows of a table, in an index beside it.

    Rows have an `id` and a `created_at` in milliseconds. They do not change once their words are in the index. The
    index has their ids in its first column, and a column `words`.
    """

    def __init__(self, rows: Table, index: Table, marks: Mapping[str, str]) -> None:
        """`marks` has the columns by which rows are filtered, each with a short prefix of its own."""
        self._marked = MarkedIndex(rows, index, marks)
        self._joined = JoinedIndex(rows, index)

    def add(self, connection: Connection, words: Sequence[Mapping[str, Any]]) -> None:
        """Puts words into the index. Their rows must exist already."""
        if words:
            self._of(connection).add(connection, words)

    def remove(self, connection: Connection, words: Sequence[Mapping[str, Any]]) -> None:
        """Takes words out of the index, given as they were put in. Rows that it does not have are ignored.

        Their rows are still there. Words that are given differently are taken out too, but that takes long on SQLite.
        """
        if words:
            self._of(connection).remove(connection, words)

    def finder(
        self,
        connection: Connection,
        phrases: Phrases,
        listing: Listing,
        asked: Input,
        *,
        owner: tuple[str, str],
        most: int,
    ) -> Finder:
        """Finds the rows of a list that have the phrases, and counts up to `most` of them.

        `owner` is a column and its value: only rows with this value are found.
        """
        return self._of(connection).finder(connection, phrases, listing, asked, owner=owner, most=most)

    def _of(self, connection: Connection) -> MarkedIndex | JoinedIndex:
        return self._marked if connection.dialect.name == "sqlite" else self._joined
