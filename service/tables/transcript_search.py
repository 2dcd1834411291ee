"""The index of what was said: kept with each transcript, asked in the same words on both engines."""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection

from callwright.contract.declaration.model import Input
from callwright.service.platform.database.full_text import FullText
from callwright.service.platform.database.listing import Finder, Listing
from callwright.service.rules.search_words import Query, words_of
from callwright.service.tables.schema import calls, transcript_words

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
"""The columns by which calls are filtered, as the index names them. Indexes that are there have these names."""
WORDS = FullText(calls, transcript_words, MARKED)
_BREAK = " endofturn "
"""Stands between turns, so that no phrase matches across two speakers."""


def searchable(texts: Iterable[str]) -> str:
    """The words of a transcript's turns as they are indexed."""
    return _BREAK.join(" ".join(words_of(text)) for text in texts)


def add(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    """Indexes transcripts: `call_id` and `words` of each. What else there is to say of the calls must stand by now."""
    WORDS.add(connection, rows)


def finder(connection: Connection, query: Query, listing: Listing, asked: Input, *, org_id: str, most: int) -> Finder:
    """Finds the calls of an organization in whose transcript every phrase stands, and counts up to `most` of them."""
    return WORDS.finder(connection, query.phrases, listing, asked, owner=("org_id", org_id), most=most)
