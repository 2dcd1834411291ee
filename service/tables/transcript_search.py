"""The index of what was said: kept with each transcript, asked in the same words on both engines.

On Postgres it is a table with an index, joined with the calls. SQLite would have to look up every call in which the
words stand, so its full-text table answers alone: a row's number holds the moment of the call, and a second column
holds a mark for each fact that calls are filtered by. A call is final once its words are written, and so are the marks.
"""

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sqlalchemy import Connection, Select, func, insert, literal, literal_column, select, text

from callwright.contract.declaration.model import Input
from callwright.service.platform.database.listing import (
    Finder,
    Listing,
    Span,
    Walk,
    Wanted,
    matches,
    wanted_of,
)
from callwright.service.rules.search_words import Query, words_of
from callwright.service.tables.schema import calls, transcript_words

IN_A_MILLISECOND = 1_000_000
"""Row numbers of the full-text table for each millisecond in which calls were made."""
MARKED = {
    "org_id": "org",
    "deployment_id": "dep",
    "agent_id": "agt",
    "audience_id": "aud",
    "contact_id": "ctc",
    "call_type": "typ",
    "status": "sta",
    "outcome": "out",
    "disposition": "dis",
    "to_number": "tel",
    "language": "lng",
    "answered_by": "ans",
}
"""What the marks of each column begin with."""

FEW = 200
"""Up to so many matches are read all at once and forwards: then they need not be counted, and going to places from the
end, past long stretches without a match, takes longer.
"""
_NO_END = 2**63 - 1
_BREAK = " endofturn "
"""Stands between turns, so that no phrase matches across two speakers."""
_C = calls.c
_ADD = insert(transcript_words)
_FACTS = select(_C.id, _C.created_at, *(_C[name] for name in MARKED))
_ADD_MARKED = text(
    "INSERT INTO transcript_words (rowid, call_id, words, marks) VALUES (:place, :call_id, :words, :marks)"
)
_LAST = text("SELECT max(rowid) FROM transcript_words WHERE rowid BETWEEN :first AND :last")
_FIND = "SELECT rowid FROM transcript_words WHERE transcript_words MATCH :match AND rowid >= :first AND rowid < :end"
_COUNT = text(f"SELECT count(*) FROM ({_FIND} LIMIT :most)")
_UP = text(f"{_FIND} ORDER BY rowid LIMIT :most")
_DOWN = text(f"{_FIND} ORDER BY rowid DESC LIMIT :most")
_CALLS = text(
    "SELECT transcript_words.rowid, call_id FROM json_each(:places) AS place "
    "CROSS JOIN transcript_words ON transcript_words.rowid = place.value"
)


def searchable(texts: Iterable[str]) -> str:
    """The words of a transcript's turns as they are indexed."""
    return _BREAK.join(" ".join(words_of(text)) for text in texts)


def mark(column: str, value: str) -> str:
    """The word that stands for a call's having a value. In hexadecimal, because the index knows no capital letters."""
    return f"{MARKED[column]}x{value.encode(errors='surrogatepass').hex()}"


def add(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    """Indexes transcripts: `call_id` and `words` of each. What else there is to say of the calls must stand by now."""
    if not rows:
        return
    if connection.dialect.name != "sqlite":
        connection.execute(_ADD, list(rows))
        return
    ids = json.dumps([row["call_id"] for row in rows])
    found = connection.execute(_FACTS.where(_C.id.in_(_values(ids)))).all()
    facts = {row.id: tuple(row)[1:] for row in found}
    placed: list[dict[str, Any]] = []
    taken: dict[int, int] = {}
    for row in rows:
        at_ms, *values = facts[row["call_id"]]
        taken[at_ms] = place = taken[at_ms] + 1 if at_ms in taken else _free(connection, at_ms)
        marks = [mark(name, value) for name, value in zip(MARKED, values, strict=True) if value is not None]
        placed.append({**row, "place": place, "marks": " ".join(marks)})
    # In order, because the index writes down what it holds in memory whenever a number is below the one before.
    connection.execute(_ADD_MARKED, sorted(placed, key=lambda one: one["place"]))


def _free(connection: Connection, at_ms: int) -> int:
    """The next row number of a millisecond. Whoever asks holds the only lock for writing."""
    first = at_ms * IN_A_MILLISECOND
    last = connection.execute(_LAST, {"first": first, "last": first + IN_A_MILLISECOND - 1}).scalar()
    return first if last is None else last + 1


def _values(array: str) -> Select[Any]:
    """The values of a JSON array."""
    return select(func.json_each(array).table_valued("value").c.value)


def finder(
    connection: Connection,
    query: Query,
    listing: Listing,
    asked: Input,
    *,
    org_id: str,
    most: int,
) -> Finder:
    """Finds the calls of an organization in whose transcript every phrase stands, and counts up to `most` of them."""
    if connection.dialect.name == "sqlite":
        return Indexed(connection, listing.rows, query, org_id, wanted_of(asked), most)
    own = listing.rows.where(_C.org_id == org_id, *matches(listing, asked), _C.id.in_(_with_words(query)))
    return Walk(connection, own, most)


def _with_words(query: Query) -> Select[tuple[str]]:
    vector = func.to_tsvector(literal_column("'simple'"), transcript_words.c.words)
    asked = func.to_tsquery(literal_column("'simple'"), literal(query.tsquery))
    return select(transcript_words.c.call_id).where(vector.op("@@")(asked))


@dataclass(frozen=True)
class Indexed:
    """Finds calls in the full-text table of SQLite."""

    connection: Connection
    calls: Select[Any]
    query: Query
    org_id: str
    wanted: Sequence[Wanted]
    most: int

    @cached_property
    def _asked(self) -> dict[str, Any]:
        marks = [f'"{mark("org_id", self.org_id)}"']
        asked: dict[str, Any] = {"first": 0, "end": _NO_END}
        for one in self.wanted:
            if one.test == "from":
                asked = _narrowed(asked, first=one.values[0] * IN_A_MILLISECOND)
            elif one.test == "before":
                asked = _narrowed(asked, end=one.values[0] * IN_A_MILLISECOND)
            else:
                # No value has the mark without one, so where nothing is allowed nothing is found.
                any_of = dict.fromkeys(mark(one.column, value) for value in one.values) or [MARKED[one.column]]
                marks.append("(" + " OR ".join(f'"{each}"' for each in any_of) + ")")
        asked["match"] = f"words : ({self.query.fts5}) AND marks : ({' AND '.join(marks)})"
        return asked

    @cached_property
    def _few(self) -> Sequence[int] | None:
        """All numbers, the lowest first, unless they are many."""
        found = self.connection.execute(_UP, {**self._asked, "most": FEW + 1}).scalars().all()
        return None if len(found) > FEW else found

    def total(self) -> int:
        """How many calls there are, up to `most`."""
        if self._few is not None:
            return min(len(self._few), self.most)
        return self.connection.execute(_COUNT, {**self._asked, "most": self.most}).scalar_one()

    def rows(self, span: Span) -> Select[Any]:
        """The calls that are meant. Within a millisecond their numbers say nothing, so they go by their ids."""
        (_, down), *_, (_, ids_down) = span.order
        asked = self._asked
        ids: list[str] = []
        if span.last is not None:
            at_ms, last_id = span.last[0], span.last[-1]
            together = sorted(self._calls(self._within(asked, at_ms)).values(), reverse=ids_down)
            ids = [each for each in together if (each < last_id if ids_down else each > last_id)]
            bound = {"end": at_ms * IN_A_MILLISECOND} if down else {"first": (at_ms + 1) * IN_A_MILLISECOND}
            asked = _narrowed(asked, **bound)
        ids += self._behind(asked, span, span.count - len(ids), down=down, ids_down=ids_down)
        # The sign keeps SQLite from walking all calls of the organization in order, and looking each up in the list.
        own = literal_column("+calls.org_id") == self.org_id
        return self.calls.where(own, _C.id.in_(_values(json.dumps(ids[: span.count]))))

    def _places(self, asked: dict[str, Any], *, most: int = _NO_END, down: bool = False) -> Sequence[int]:
        """The first numbers of what is asked."""
        if self._few is None:
            return self.connection.execute(_DOWN if down else _UP, {**asked, "most": most}).scalars().all()
        found = [place for place in self._few if asked["first"] <= place < asked["end"]]
        return (found[::-1] if down else found)[:most]

    def _within(self, asked: dict[str, Any], at_ms: int) -> Sequence[int]:
        """The numbers of a millisecond."""
        first = at_ms * IN_A_MILLISECOND
        return self._places(_narrowed(asked, first=first, end=first + IN_A_MILLISECOND))

    def _behind(self, asked: dict[str, Any], span: Span, count: int, *, down: bool, ids_down: bool) -> list[str]:
        """The ids of so many calls in order, behind the first ones."""
        if count <= 0:
            return []
        places = self._places(asked, most=span.skipped + count, down=down)
        if len(places) <= span.skipped:
            return []
        begin_ms, end_ms = places[span.skipped] // IN_A_MILLISECOND, places[-1] // IN_A_MILLISECOND
        begin = (begin_ms + 1 if down else begin_ms) * IN_A_MILLISECOND
        before = sum(1 for place in places if (place >= begin if down else place < begin))
        # Calls of the last millisecond may be missing, and come before those that are there.
        rest = () if down and places[-1] == end_ms * IN_A_MILLISECOND else self._within(asked, end_ms)
        found = self._calls({*places[before:], *rest})
        ordered = sorted(found, key=lambda place: found[place], reverse=ids_down)
        ordered.sort(key=lambda place: place // IN_A_MILLISECOND, reverse=down)
        return [found[place] for place in ordered][span.skipped - before :][:count]

    def _calls(self, places: Collection[int]) -> dict[int, str]:
        """The ids of the calls with these numbers."""
        rows = self.connection.execute(_CALLS, {"places": json.dumps(list(places))})
        return dict(tuple(row) for row in rows)


def _narrowed(asked: dict[str, Any], *, first: int = 0, end: int = _NO_END) -> dict[str, Any]:
    """What is asked, from one number on and before another. They may be any, also such as no row can have."""
    return {
        **asked,
        "first": min(max(first, asked["first"]), _NO_END),
        "end": max(min(end, asked["end"]), 0),
    }
