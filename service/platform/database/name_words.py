"""The words of people's names, by which lists find their rows: an index of words and of how they begin.

On SQLite it is a full-text table without a copy (FTS5), on Postgres an index of the table itself (GIN).
"""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Table,
    TableClause,
    and_,
    column,
    literal,
    literal_column,
    table,
    text,
)
from sqlalchemy.dialects.postgresql import TSQUERY

from callwright.service.platform.database.prepared import Prepared
from callwright.service.platform.search_words import stored_words

LONGEST = 60
"""On Postgres so many characters of a word are indexed: an entry of its indexes has a limit."""
_CUT_FROM = 900
"""Only in names as long as this are words cut, which takes time."""
_TAG_BYTES = 6
_FAR_MORE = 4
"""How many times as many rows of Postgres have a word that is compared in the rows, beside one that the index finds."""
_OFTEN = text(
    "SELECT word, (SELECT coalesce(sum(often), 0) FROM pg_stats, "
    "unnest(CAST(CAST(most_common_elems AS text) AS text[]), most_common_elem_freqs) AS common (element, often) "
    "WHERE schemaname = current_schema() AND tablename = :index AND starts_with(element, word)) "
    "FROM unnest(CAST(:words AS text[])) AS word"
)
"""In which share of the rows of an index words of Postgres begin so, by its statistics; 0 of those that are rare."""


def _tag(owner_id: str) -> str:
    """What the words of an owner begin with on SQLite: 12 characters, on which the table's prefixes depend."""
    return blake2b(owner_id.encode(), digest_size=_TAG_BYTES).hexdigest()


class NameWords:
    """The words of the column `name_words` of a table, as `word_column` makes it.

    Each owner has words of its own. On SQLite the index leads to places: a whole number by which the rows of an owner
    are found. Several rows may have one place, which has the words of all of them.
    """

    def __init__(self, rows: Table, name: str, *, owner: str) -> None:
        """`name` is that of the full-text table, and `owner` a column of `rows`."""
        self._rows, self._name, self._owner = rows, name, owner
        put = f"INSERT INTO {name} (rowid, words) VALUES (:place, :words)"
        self._put = Prepared(text(put))
        self._take = text(f"INSERT INTO {name} ({name}, rowid, words) VALUES ('delete', :place, :words)")
        self._places = table(name, column("rowid"))

    def has_places(self, connection: Connection) -> bool:
        """Whether the index is a table beside the rows, which has to be written, and leads to places: on SQLite."""
        return connection.dialect.name == "sqlite"

    def add(self, connection: Connection, owner_id: str, words: Iterable[tuple[int, str | None]]) -> None:
        """Puts the words of names into the index, each with its place. Postgres does so itself."""
        if self.has_places(connection) and (rows := _entries(owner_id, _by_place(words))):
            self._put.run_many(connection, rows)

    def remove(self, connection: Connection, owner_id: str, words: Iterable[tuple[int, str | None]]) -> None:
        """Takes words out of their places, where they must stand. Postgres does so itself."""
        if self.has_places(connection) and (rows := _entries(owner_id, _by_place(words))):
            connection.execute(self._take, rows)

    @property
    def places(self) -> TableClause:
        """The full-text table of SQLite, to be joined. Its places are in the column `rowid`."""
        return self._places

    def matches(self, connection: Connection, owner_id: str, asked: str) -> ColumnElement[bool]:
        """That words of the name begin with the words asked for, which are some: a condition on `places` on SQLite,
        on the rows on Postgres."""
        words = list(dict.fromkeys(stored_words(asked)))
        if self.has_places(connection):
            tag = _tag(owner_id)
            match = " AND ".join(f'"{tag}{word}" *' for word in words)
            return literal_column(self._name).op("MATCH")(match)
        tag, words = owner_id[TAG_BEGINS - 1 :], list(dict.fromkeys(word[:LONGEST] for word in words))
        found = self._rare(connection, tag, words)
        compared = [self._rows.c.name_words.like(f"% {word}%") for word in words if word not in found]
        begins = literal_column(vector(self._rows.name, self._owner)).op("@@")
        query = literal(" & ".join(f"'{tag}:{word}':*" for word in found)).cast(TSQUERY)
        return and_(self._rows.c.name_words.is_not(None), begins(query), *compared)  # the index has only these rows

    def _rare(self, connection: Connection, tag: str, words: Sequence[str]) -> Sequence[str]:
        """The words that the index of Postgres finds: all but those that are frequent beside another one.

        The index reads all entries of each of its words, even where another one has a single row.
        """
        if len(words) < 2:
            return words
        tagged = [f"{tag}:{word}" for word in words]
        asked = {"index": f"ix_{self._rows.name}_names", "words": tagged}
        shares: dict[str, float] = {word: share for word, share in connection.execute(_OFTEN, asked)}
        most = min(shares.values()) * _FAR_MORE
        return [word for word in words if shares[f"{tag}:{word}"] <= most]


TAG_BEGINS = 23
"""The place in an id from which on its characters are random. They stand before the words of its owner on Postgres."""


def vector(rows: str, owner: str) -> str:
    """The expression of the index of Postgres, with the columns of the table `rows`, or plain ones for ''."""
    prefix = f"{rows}." if rows else ""
    words = (
        f"CASE WHEN length({prefix}name_words) < {_CUT_FROM} THEN {prefix}name_words "
        f"ELSE regexp_replace({prefix}name_words, '([^ ]{{{LONGEST}}})[^ ]+', '\\1', 'g') END"
    )
    tagged = f"replace({words}, ' ', ' ' || substr({prefix}{owner}, {TAG_BEGINS}) || ':')"
    return f"array_to_tsvector(string_to_array(substr({tagged}, 2), ' '))"


def _by_place(words: Iterable[tuple[int, str | None]]) -> Mapping[int, dict[str, None]]:
    found: dict[int, dict[str, None]] = {}
    for place, name in words:
        if name:
            found.setdefault(place, {}).update(dict.fromkeys(name.split()))
    return found


def _entries(owner_id: str, by_place: Mapping[int, Iterable[str]]) -> list[dict[str, Any]]:
    """Entries in ascending order, because the index flushes its memory when a rowid is lower than the one before."""
    tag = _tag(owner_id)
    return [{"place": place, "words": " ".join(tag + word for word in by_place[place])} for place in sorted(by_place)]
