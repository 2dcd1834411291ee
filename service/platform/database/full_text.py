"""Searching the words of rows, asked and answered alike on both engines."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table

from callwright.contract.declaration.model import Input
from callwright.service.platform.database.listing import Finder, Listing
from callwright.service.platform.database.postgres.full_text import JoinedIndex
from callwright.service.platform.database.sqlite.full_text import MarkedIndex

Phrases = Sequence[Sequence[str]]
"""What is searched for: every phrase has to stand in a row's words. The words are ASCII."""


class FullText:
    """The words of the rows of a table, in an index beside it.

    Rows have an `id`, and in `created_at` the moment in milliseconds at which they were made. They are final once their
    words are in the index. The index has their ids in its first column, and their `words`.
    """

    def __init__(self, rows: Table, index: Table, marks: Mapping[str, str]) -> None:
        """`marks` names the columns by which rows are filtered, with a few letters of its own for each."""
        self._marked = MarkedIndex(rows, index, marks)
        self._joined = JoinedIndex(rows, index)

    def add(self, connection: Connection, words: Sequence[Mapping[str, Any]]) -> None:
        """Puts words into the index. The rows that they belong to must stand by now."""
        if words:
            self._of(connection).add(connection, words)

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
        """Finds the rows of a list with such words, and counts up to `most` of them.

        `owner` is a column with the value that all rows have in it which may be found.
        """
        return self._of(connection).finder(connection, phrases, listing, asked, owner=owner, most=most)

    def _of(self, connection: Connection) -> MarkedIndex | JoinedIndex:
        return self._marked if connection.dialect.name == "sqlite" else self._joined
