"""The index of what was said: kept with each transcript, asked in the same words on both engines."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    bindparam,
    false,
    func,
    insert,
    literal,
    literal_column,
    select,
)

from callwright.service.domain.search_words import Query, words_of

from .schema import calls, organizations, transcript_words, transcripts

FEW = 5_000
"""Up to so many calls in which the words stand are looked up one by one: 5 µs each."""
NARROW = 10_000
"""Up to so many calls that the filters leave are read one by one: up to 45 µs each."""
FREQUENT = 50_000
"""From so many on, the newest calls are read until enough of them have the words in them."""

_ADD = insert(transcript_words)
_BREAK_WORD = "endofturn"
_BREAK = f" {_BREAK_WORD} "
"""Stands between turns, so that no phrase matches across two speakers."""
_SAID = "callwright_said"
_IN_A_TEXT = r'"text": ?"(?:[^"]*[^a-z0-9"])?{}(?![a-z0-9])'
_BETWEEN = r'[^a-z0-9"]+'
_ROWID: ColumnElement[Any] = literal_column("rowid")


def searchable(texts: Iterable[str]) -> str:
    """The words of a transcript's turns as they are indexed."""
    return _BREAK.join(" ".join(words_of(text)) for text in texts)


def add(connection: Connection, rows: list[dict[str, Any]]) -> None:
    """Indexes transcripts: `call_id` and `words` of each."""
    if rows:
        connection.execute(_ADD, rows)


@dataclass(frozen=True)
class Found:
    """The calls of an organization in whose transcript every phrase stands, and how many fit where that is known."""

    rows: Select[Any]
    total: int | None = None


def find(
    connection: Connection, query: Query, org_id: str, filters: Sequence[ColumnElement[bool]], *, counted: bool
) -> Found:
    """The calls in which the words stand. `filters` are not applied: they tell how many calls come into question.

    SQLite cannot go from a call to its entry in the index, only back, and knows nothing of how frequent words are. So
    the way is chosen here, by counting. `counted` says whether the total is wanted.
    """
    own = select(calls).where(calls.c.org_id == org_id)
    if connection.dialect.name != "sqlite":
        return Found(own.where(calls.c.id.in_(_with_words(query))))
    some = _count(connection, _matching(query, _ROWID).limit(FREQUENT))
    if some <= FEW:
        return _listed(connection, org_id, _matching(query, transcript_words.c.call_id))
    if filters:
        left = select(calls.c.id).where(calls.c.org_id == org_id, *filters)
        if _count(connection, left.limit(NARROW + 1)) <= NARROW:
            return _listed(connection, org_id, _read(connection, left, query))
    indexed = own.where(calls.c.id.in_(_matching(query, transcript_words.c.call_id)))
    rows = _read(connection, own, query) if some >= FREQUENT else indexed
    if not counted:
        return Found(rows)
    alone = _count(connection, select(organizations.c.id).limit(2)) == 1
    everything = _matching(query, _ROWID) if alone and not filters else indexed.with_only_columns(calls.c.id)
    return Found(rows, _count(connection, everything.where(*filters)))


def _listed(connection: Connection, org_id: str, ids: Select[Any]) -> Found:
    """The calls with these ids, which are found once and then looked up one by one."""
    found = json.dumps(list(connection.execute(ids).scalars()))
    listed = select(func.json_each(found).table_valued("value").c.value)
    # The sign keeps SQLite from walking all calls of the organization in order, and looking each up in the list.
    return Found(select(calls).where(literal_column("+calls.org_id") == org_id, calls.c.id.in_(listed)))


def _with_words(query: Query) -> Select[tuple[str]]:
    vector = func.to_tsvector(literal_column("'simple'"), transcript_words.c.words)
    wanted = func.to_tsquery(literal_column("'simple'"), literal(query.tsquery))
    return select(transcript_words.c.call_id).where(vector.op("@@")(wanted))


def _matching(query: Query, column: ColumnElement[Any]) -> Select[Any]:
    matches: ColumnElement[bool] = literal_column("transcript_words").op("MATCH")(bindparam("words", query.fts5))
    return select(column).select_from(transcript_words).where(matches)


def _count(connection: Connection, rows: Select[Any]) -> int:
    return connection.execute(select(func.count()).select_from(rows.subquery())).scalar_one()


def _read(connection: Connection, own: Select[Any], query: Query) -> Select[Any]:
    """The calls whose transcripts, read one by one, hold the words."""
    driver: Any = connection.connection.driver_connection
    driver.create_function(_SAID, 1, said_in(query))
    said = getattr(func, _SAID)(transcripts.c.turns)
    return own.join(transcripts, transcripts.c.call_id == calls.c.id).where(
        cast("ColumnElement[bool]", said != false())
    )


def said_in(query: Query) -> Callable[[str], bool]:
    """Says of a transcript, as it is stored, whether the index finds it.

    Plain ASCII without escapes is looked through as it stands, which is faster than reading it: a text then ends at the
    next quotation mark.
    """
    phrases = [f" {' '.join(phrase)} " for phrase in query.phrases]
    plain = all(_BREAK_WORD not in phrase for phrase in query.phrases)
    patterns = [re.compile(_IN_A_TEXT.format(_BETWEEN.join(phrase))) for phrase in query.phrases]

    def said(turns: str) -> bool:
        if plain and turns.isascii() and "\\" not in turns:
            letters = turns.lower()
            return all(pattern.search(letters) for pattern in patterns)
        words = f" {searchable(turn['text'] for turn in json.loads(turns))} "
        return all(phrase in words for phrase in phrases)

    return said
