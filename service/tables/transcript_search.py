"""The full-text index of transcripts, with one interface for both engines."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, select

from callwright.contract.declaration.model import Input
from callwright.service.platform.database.full_text import FullText
from callwright.service.platform.database.listing import Finder, Listing
from callwright.service.platform.search_words import Query, words_of
from callwright.service.tables.schema import calls, transcript_words, transcripts

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
    "agent_version": "ver",
}
"""The columns by which calls are filtered, with their prefixes in the index. Existing indexes contain the prefixes.

A column that was added later is null in the calls that an index had before.
"""
_SAID = select(transcripts.c.call_id, transcripts.c.turns).where(
    transcripts.c.call_id.in_(bindparam("ids", expanding=True))
)
WORDS = FullText(calls, transcript_words, MARKED)
_BREAK = " endofturn "
"""Separates turns, so that no phrase matches across two turns."""


def searchable(texts: Iterable[str]) -> str:
    """The words of a transcript's turns as they are indexed."""
    return _BREAK.join(" ".join(words_of(text)) for text in texts)


def add(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    """Indexes transcripts, given by `call_id` and `words`. The rows of the calls must be final by now."""
    WORDS.add(connection, rows)


def remove(connection: Connection, call_ids: Sequence[str]) -> None:
    """Takes the words of these calls out of the index. Their transcripts are still there."""
    said = connection.execute(_SAID, {"ids": list(call_ids)})
    WORDS.remove(connection, [{"call_id": row.call_id, "words": _words_of(row.turns)} for row in said])


def _words_of(turns: str) -> str:
    return searchable(turn["text"] for turn in json.loads(turns))


def finder(connection: Connection, query: Query, listing: Listing, asked: Input, *, org_id: str, most: int) -> Finder:
    """Finds the calls of an organization whose transcript has every phrase, and counts up to `most` of them."""
    return WORDS.finder(connection, query.phrases, listing, asked, owner=("org_id", org_id), most=most)
