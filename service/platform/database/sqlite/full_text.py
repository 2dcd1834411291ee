"""Full-text search on SQLite: an FTS5 table that answers a search without the rows.

Looking up every row that has the words would take too long. So the rowid of an entry contains the time of its row, and
a second column contains a mark for each value by which rows are filtered.

The full-text table keeps no copy of what it indexes. The rows beside it, in a table with `_places` after its name, say
whose words are at a rowid, with a checksum of what was indexed.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import blake2b
from typing import Any
from zlib import crc32

from sqlalchemy import Connection, Select, Table, func, literal_column, select, text

from callwright.contract.declaration.model import Input
from callwright.service.platform.database.listing import Listing, Span, Wanted, wanted_of
from callwright.service.platform.database.prepared import Prepared

IN_A_MILLISECOND = 10_000
"""Rowids for each millisecond in which rows were made. The index keeps differences of rowids, so few are shorter."""
_SPELLED = 12
"""Up to this many bytes of a value are spelled out in its mark. Of a longer one it has a hash."""
FEW = 200
"""Up to this many matches are read at once in ascending order: then they need no count, and reading backwards past
long stretches without a match takes longer.
"""
_NO_END = 2**63 - 1
_LAST_PLACE = IN_A_MILLISECOND - 1
"""The last rowid of a millisecond, counted from its first."""


@lru_cache(maxsize=2_000)
def _spelled(value: str) -> str:
    plain = value.encode(errors="surrogatepass")
    return f"x{plain.hex()}" if len(plain) <= _SPELLED else f"h{blake2b(plain, digest_size=8).hexdigest()}"


def _checksum(words: str, marks: str) -> int:
    return crc32(f"{words}\n{marks}".encode())


class MarkedIndex:
    """Words of rows. See `full_text.FullText`."""

    def __init__(self, rows: Table, index: Table, marks: Mapping[str, str]) -> None:
        name, key = index.name, index.columns[0].name
        places = f"{name}_places"
        found = f"SELECT rowid FROM {name} WHERE {name} MATCH :match AND rowid >= :first AND rowid < :end"
        self.name, self.rows, self.key, self.marks = name, rows, key, marks
        self.add_marked = Prepared(text(f"INSERT INTO {name} (rowid, words, marks) VALUES (:place, :words, :marks)"))
        self.add_place = Prepared(
            text(f"INSERT INTO {places} (place, {key}, checksum) VALUES (:place, :key, :checksum)")
        )
        last = f"SELECT max(place) FROM {places} WHERE place BETWEEN first.value AND first.value + {_LAST_PLACE}"
        self.last = text(f"SELECT first.value, ({last}) FROM json_each(:firsts) AS first")
        self.count = text(f"SELECT count(*) FROM ({found} LIMIT :most)")
        self.up = text(f"{found} ORDER BY rowid LIMIT :most")
        self.down = text(f"{found} ORDER BY rowid DESC LIMIT :most")
        self.keys = text(
            f"SELECT {places}.place, {key} FROM json_each(:places) AS one "
            f"CROSS JOIN {places} ON {places}.place = one.value"
        )
        self.placed = text(f"SELECT place, {key} AS key, checksum FROM {places} WHERE place BETWEEN :first AND :last")
        self.remove_marked = text(
            f"INSERT INTO {name} ({name}, rowid, words, marks) VALUES ('delete', :place, :words, :marks)"
        )
        self.remove_place = text(f"DELETE FROM {places} WHERE place = :place")
        self.facts = select(rows.c.id, rows.c.created_at, *(rows.c[column] for column in marks))

    def mark(self, column: str, value: str | int) -> str:
        """The word for rows with a value in a column. Hexadecimal, because the index does not distinguish case."""
        return self.marks[column] + _spelled(str(value))

    def add(self, connection: Connection, words: Sequence[Mapping[str, Any]]) -> None:
        """Puts words into the table, with the marks of their rows."""
        facts = self._facts(connection, [one[self.key] for one in words])
        placed: list[dict[str, Any]] = []
        free = self._free(connection, {at_ms for at_ms, _ in facts.values()})
        for one in words:
            at_ms, marks = facts[one[self.key]]
            place = free[at_ms]
            free[at_ms] += 1
            checksum = _checksum(one["words"], marks)
            placed.append(
                {"key": one[self.key], "words": one["words"], "place": place, "marks": marks, "checksum": checksum}
            )
        # In ascending order, because the index flushes its memory whenever a rowid is lower than the one before.
        placed.sort(key=lambda one: one["place"])
        self.add_marked.run_many(connection, placed)
        self.add_place.run_many(connection, placed)

    def remove(self, connection: Connection, words: Sequence[Mapping[str, Any]]) -> None:
        """Takes the words of these rows out of the table, which has them at the milliseconds of their rows."""
        facts = self._facts(connection, [one[self.key] for one in words])
        gone = {one[self.key]: one["words"] for one in words if one[self.key] in facts}
        for at_ms in {at_ms for at_ms, _ in facts.values()}:
            first = at_ms * IN_A_MILLISECOND
            for row in connection.execute(self.placed, {"first": first, "last": first + _LAST_PLACE}).all():
                if row.key in gone:
                    indexed = {"words": gone[row.key], "marks": facts[row.key][1]}
                    if _checksum(**indexed) != row.checksum:
                        indexed = self._indexed(connection, row.place)
                    connection.execute(self.remove_marked, {"place": row.place, **indexed})
                    connection.execute(self.remove_place, {"place": row.place})

    def _facts(self, connection: Connection, keys: Sequence[str]) -> dict[str, tuple[int, str]]:
        """The moment and the marks of each of these rows."""
        found = connection.execute(self.facts.where(self.rows.c.id.in_(_values(json.dumps(keys))))).all()
        return {row.id: (row.created_at, " ".join(self._marks(tuple(row)[2:]))) for row in found}

    def _marks(self, values: Sequence[Any]) -> Iterator[str]:
        for prefix, value in zip(self.marks.values(), values, strict=True):
            if value is not None:
                yield prefix + _spelled(str(value))

    def _indexed(self, connection: Connection, place: int) -> dict[str, str]:
        """What is indexed at a rowid, read from the whole index: that takes a minute for a million rows.

        Only a row that has changed since then needs it, or words that this program would make differently.
        """
        terms = f"{self.name}_terms"
        connection.execute(text(f"CREATE VIRTUAL TABLE temp.{terms} USING fts5vocab(main, {self.name}, instance)"))
        read = text(f"SELECT col, term FROM temp.{terms} WHERE doc = :place ORDER BY col, offset")
        found = connection.execute(read, {"place": place}).all()
        connection.execute(text(f"DROP TABLE temp.{terms}"))
        return {name: " ".join(row.term for row in found if row.col == name) for name in ("words", "marks")}

    def _free(self, connection: Connection, moments_ms: Collection[int]) -> dict[int, int]:
        """The next free rowid of each of these milliseconds. The caller holds the only write lock."""
        firsts = json.dumps([at_ms * IN_A_MILLISECOND for at_ms in moments_ms])
        return {
            first // IN_A_MILLISECOND: first if last is None else last + 1
            for first, last in connection.execute(self.last, {"firsts": firsts})
        }

    def finder(
        self,
        connection: Connection,
        phrases: Sequence[Sequence[str]],
        listing: Listing,
        asked: Input,
        *,
        owner: tuple[str, str],
        most: int,
    ) -> "Indexed":
        return Indexed(connection, self, listing.rows, fts5(phrases), owner, wanted_of(asked), most)


def fts5(phrases: Sequence[Sequence[str]]) -> str:
    return " AND ".join('"' + " ".join(phrase) + '"' for phrase in phrases)


def _values(array: str) -> Select[Any]:
    return select(func.json_each(array).table_valued("value").c.value)


@dataclass(frozen=True)
class Indexed:
    """Finds rows by a full-text table."""

    connection: Connection
    index: MarkedIndex
    listed: Select[Any]
    words: str
    owner: tuple[str, str]
    wanted: Sequence[Wanted]
    most: int

    @cached_property
    def _asked(self) -> dict[str, Any]:
        marks = [f'"{self.index.mark(*self.owner)}"']
        asked: dict[str, Any] = {"first": 0, "end": _NO_END}
        for one in self.wanted:
            if one.test == "from":
                asked = _narrowed(asked, first=one.values[0] * IN_A_MILLISECOND)
            elif one.test == "before":
                asked = _narrowed(asked, end=one.values[0] * IN_A_MILLISECOND)
            else:
                # No row has the prefix alone as its mark, so an empty list of values finds nothing.
                marked = dict.fromkeys(self.index.mark(one.column, value) for value in one.values)
                any_of = list(marked) or [self.index.marks[one.column]]
                marks.append("(" + " OR ".join(f'"{each}"' for each in any_of) + ")")
        asked["match"] = f"words : ({self.words}) AND marks : ({' AND '.join(marks)})"
        return asked

    @cached_property
    def _few(self) -> Sequence[int] | None:
        """All rowids that match, in ascending order; None if there are more than `FEW`."""
        found = self.connection.execute(self.index.up, {**self._asked, "most": FEW + 1}).scalars().all()
        return None if len(found) > FEW else found

    def total(self) -> int:
        """How many rows there are, up to `most`."""
        if self._few is not None:
            return min(len(self._few), self.most)
        return self.connection.execute(self.index.count, {**self._asked, "most": self.most}).scalar_one()

    def rows(self, span: Span) -> Select[Any]:
        """The rows of the span. Within a millisecond rowids have no meaningful order, so rows are ordered by id."""
        (_, down), *_, (_, ids_down) = span.order
        asked = self._asked
        ids: list[str] = []
        if span.last is not None:
            at_ms, last_id = span.last[0], span.last[-1]
            together = sorted(self._keys(self._within(asked, at_ms)).values(), reverse=ids_down)
            ids = [each for each in together if (each < last_id if ids_down else each > last_id)]
            bound = {"end": at_ms * IN_A_MILLISECOND} if down else {"first": (at_ms + 1) * IN_A_MILLISECOND}
            asked = _narrowed(asked, **bound)
        ids += self._behind(asked, span, span.count - len(ids), down=down, ids_down=ids_down)
        # The `+` keeps SQLite from scanning all rows of the owner in order, and looking each up in the list.
        table, (column, value) = self.index.rows, self.owner
        own = literal_column(f"+{table.name}.{column}") == value
        return self.listed.where(own, table.c.id.in_(_values(json.dumps(ids[: span.count]))))

    def _places(self, asked: dict[str, Any], *, most: int = _NO_END, down: bool = False) -> Sequence[int]:
        """The first rowids that match."""
        if self._few is None:
            statement = self.index.down if down else self.index.up
            return self.connection.execute(statement, {**asked, "most": most}).scalars().all()
        found = [place for place in self._few if asked["first"] <= place < asked["end"]]
        return (found[::-1] if down else found)[:most]

    def _within(self, asked: dict[str, Any], at_ms: int) -> Sequence[int]:
        first = at_ms * IN_A_MILLISECOND
        return self._places(_narrowed(asked, first=first, end=first + IN_A_MILLISECOND))

    def _behind(self, asked: dict[str, Any], span: Span, count: int, *, down: bool, ids_down: bool) -> list[str]:
        """The ids of `count` rows in order, after the first `span.skipped`."""
        if count <= 0:
            return []
        places = self._places(asked, most=span.skipped + count, down=down)
        if len(places) <= span.skipped:
            return []
        begin_ms, end_ms = places[span.skipped] // IN_A_MILLISECOND, places[-1] // IN_A_MILLISECOND
        begin = (begin_ms + 1 if down else begin_ms) * IN_A_MILLISECOND
        before = sum(1 for place in places if (place >= begin if down else place < begin))
        # `places` may lack rows of the last millisecond that come before those that it has.
        rest = () if down and places[-1] == end_ms * IN_A_MILLISECOND else self._within(asked, end_ms)
        found = self._keys({*places[before:], *rest})
        ordered = sorted(found, key=lambda place: found[place], reverse=ids_down)
        ordered.sort(key=lambda place: place // IN_A_MILLISECOND, reverse=down)
        return [found[place] for place in ordered][span.skipped - before :][:count]

    def _keys(self, places: Collection[int]) -> dict[int, str]:
        rows = self.connection.execute(self.index.keys, {"places": json.dumps(list(places))})
        return dict(tuple(row) for row in rows)


def _narrowed(asked: dict[str, Any], *, first: int = 0, end: int = _NO_END) -> dict[str, Any]:
    """The search, limited to rowids from `first` on and below `end`. Both may be outside the range of rowids."""
    return {**asked, "first": min(max(first, asked["first"]), _NO_END), "end": max(min(end, asked["end"]), 0)}
