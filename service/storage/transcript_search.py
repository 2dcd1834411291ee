"""The index of what was said: kept with each transcript, asked in the same words on both engines."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, bindparam, func, insert, literal, literal_column, select

from callwright.service.domain.search_words import Query, words_of

from .schema import transcript_words

_ADD = insert(transcript_words)
_BREAK = " endofturn "
"""Stands between turns, so that no phrase matches across two speakers."""


def searchable(texts: Iterable[str]) -> str:
    """The words of a transcript's turns as they are indexed."""
    return _BREAK.join(" ".join(words_of(text)) for text in texts)


def add(connection: Connection, rows: list[dict[str, Any]]) -> None:
    """Indexes transcripts: `call_id` and `words` of each."""
    if rows:
        connection.execute(_ADD, rows)


def calls_with(connection: Connection, query: Query) -> Select[tuple[str]]:
    """The ids of calls in whose transcript every phrase stands."""
    if connection.dialect.name == "sqlite":
        matches: ColumnElement[bool] = literal_column("transcript_words").op("MATCH")(bindparam("words", query.fts5))
        return select(transcript_words.c.call_id).where(matches)
    vector = func.to_tsvector(literal_column("'simple'"), transcript_words.c.words)
    wanted = func.to_tsquery(literal_column("'simple'"), literal(query.tsquery))
    return select(transcript_words.c.call_id).where(vector.op("@@")(wanted))
