"""Full-text search on SQLite: an FTS5 table that answers a search without the rows.

Looking up every row that has the words would take too long. So the rowid of an entry contains the time of its row, and
a second column contains a mark for each value by which rows are filtered.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlalchemy import Connection, Select, Table, func, literal_column, select, text

from callwright.contract.declaration.model import Input
from callwright.service.platform.database.listing import Listing, Span, Wanted, wanted_of

IN_A_MILLISECOND = 1_000_000
"""Rowids for each millisecond in which rows were made."""
FEW = 200
"""Up to this many matches are read at once in ascending order: then they need no count, and reading backwards past
long stretches without a match takes longer.
"""
_NO_END = 2**63 - 1


class MarkedIndex:
    """Words of rows. See `full_text.FullText`."""

    def __init__(self, rows: Table, index: Table, marks: Mapping[str, str]) -> None:
        name, key = index.name, index.columns[0].name
        found = f"SELECT rowid FROM {name} WHERE {name} MATCH :match AND rowid >= :first AND rowid < :end"
        self.rows, self.key, self.marks = rows, key, marks
        self.add_marked = text(f"INSERT INTO {name} (rowid, {key}, words, marks) VALUES (:place, :key, :words, :marks)")
        self.last = text(f"SELECT max(rowid) FROM {name} WHERE rowid BETWEEN :first AND :last")
        self.count = text(f"SELECT count(*) FROM ({found} LIMIT :most)")
        self.up = text(f"{found} ORDER BY rowid LIMIT :most")
        self.down = text(f"{found} ORDER BY rowid DESC LIMIT :most")
        self.keys = text(
            f"SELECT {name}.rowid, {key} FROM json_each(:places) AS place "
            f"CROSS JOIN {name} ON {name}.rowid = place.value"
        )
        self.placed = text(f"SELECT rowid, {key} FROM {name} WHERE rowid BETWEEN :first AND :last")
        self.remove_placed = text(f"DELETE FROM {name} WHERE rowid = :place")
        self.facts = select(rows.c.id, rows.c.created_at, *(rows.c[column] for column in marks))

    def mark(self, column: str, value: str | int) -> str:
        """The word for rows with a value in a column. Hexadecimal, because the index does not distinguish case."""
        return f"{self.marks[column]}x{str(value).encode(errors='surrogatepass').hex()}"

    def add(self, connection: Connection, words: Sequence[Mapping[str, Any]]) -> None:
        """Puts words into the table, with the marks of their rows."""
        ids = json.dumps([one[self.key] for one in words])
        found = connection.execute(self.facts.where(self.rows.c.id.in_(_values(ids)))).all()
        facts = {row.id: tuple(row)[1:] for row in found}
        placed: list[dict[str, Any]] = []
        taken: dict[int, int] = {}
        for one in words:
            at_ms, *values = facts[one[self.key]]
            taken[at_ms] = place = taken[at_ms] + 1 if at_ms in taken else self._free(connection, at_ms)
            marks = [
                self.mark(name, value) for name, value in zip(self.marks, values, strict=True) if value is not None
            ]
            placed.append({"key": one[self.key], "words": one["words"], "place": place, "marks": " ".join(marks)})
        # In ascending order, because the index flushes its memory whenever a rowid is lower than the one before.
        connection.execute(self.add_marked, sorted(placed, key=lambda one: one["place"]))

    def remove(self, connection: Connection, keys: Sequence[str]) -> None:
        """Takes the words of these rows out of the table, which has them at the milliseconds of their rows."""
        found = connection.execute(self.facts.where(self.rows.c.id.in_(_values(json.dumps(list(keys)))))).all()
        gone = {row.id for row in found}
        for at_ms in {row.created_at for row in found}:
            first = at_ms * IN_A_MILLISECOND
            rows = connection.execute(self.placed, {"first": first, "last": first + IN_A_MILLISECOND - 1}).all()
            for place, key in rows:
                if key in gone:
                    connection.execute(self.remove_placed, {"place": place})

    def _free(self, connection: Connection, at_ms: int) -> int:
        """The next free rowid of a millisecond. The caller holds the only write lock."""
        first = at_ms * IN_A_MILLISECOND
        last = connection.execute(self.last, {"first": first, "last": first + IN_A_MILLISECOND - 1}).scalar()
        return first if last is None else last + 1

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
