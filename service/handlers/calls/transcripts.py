"""Searching transcripts."""

import json
from typing import Any

from sqlalchemy import Row, select

from callwright.contract.calls import transcripts as contract
from callwright.contract.declaration.pagination import MOST_COUNTED, Page
from callwright.service.handlers.calls.calls import COLUMNS, check_version
from callwright.service.handlers.request_context import RequestContext, handles
from callwright.service.handlers.resources import resource
from callwright.service.platform.clock.clock import whole_seconds
from callwright.service.platform.database.listing import Listing
from callwright.service.platform.refusals import invalid
from callwright.service.platform.search_words import Query, read_query, words_of
from callwright.service.tables.schema import calls, transcripts
from callwright.service.tables.transcript_search import finder

_C = calls.c
SPOKEN = select(calls, transcripts.c.turns).outerjoin(transcripts, transcripts.c.call_id == _C.id)
"""Calls with what was said, read together: a page has up to 200 of them."""


@handles(contract.search_transcripts)
def search_transcripts(asked: contract.SearchTranscripts, context: RequestContext) -> Page[contract.TranscriptMatch]:
    """A page of calls in which the words were said, the newest first."""
    check_version(asked)
    query = read_query(asked.query)
    if query is None:
        raise invalid("query", "needs at least one word")
    listing = Listing(contract.search_transcripts, SPOKEN, COLUMNS, _C.id)
    found = finder(context.connection, query, listing, asked, org_id=context.org_id, most=MOST_COUNTED)

    def to_resource(row: Row[Any]) -> contract.TranscriptMatch:
        return _match(row, query, asked)

    return context.page(listing, asked, to_resource, found)


def _match(row: Row[Any], query: Query, asked: contract.SearchTranscripts) -> contract.TranscriptMatch:
    hits = [
        turn
        for turn in json.loads(row.turns or "[]")
        if (asked.speaker is None or turn["role"] == asked.speaker) and query.occurs_in(words_of(turn["text"]))
    ]
    return resource(
        contract.TranscriptMatch,
        row,
        call_id=row.id,
        duration_seconds=whole_seconds(row.duration_ms),
        match_count=len(hits),
        snippets=[
            contract.Snippet(
                turn_index=turn["index"], role=turn["role"], start_seconds=turn["start_seconds"], text=turn["text"]
            )
            for turn in hits[: asked.snippets]
        ],
    )
