"""What was said on calls, as it is kept when they end: their turns, and the words by which they are found."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, insert

from callwright.service.platform.database.prepared import Prepared
from callwright.service.platform.json_text import json_text
from callwright.service.tables import transcript_search
from callwright.service.tables.schema import transcripts
from callwright.service.telephony.engine import Turn

_ADD = Prepared(insert(transcripts))


def keep(connection: Connection, org_id: str, said: Mapping[str, Sequence[Turn]]) -> None:
    """Writes the turns of calls by their ids. Of a call on which nobody spoke nothing is kept."""
    spoken = {call_id: turns for call_id, turns in said.items() if turns}
    if not spoken:
        return
    rows = [
        {"call_id": call_id, "org_id": org_id, "turns": json_text([_stored(turn) for turn in turns])}
        for call_id, turns in spoken.items()
    ]
    _ADD.run_many(connection, rows)
    words = [
        {"call_id": call_id, "words": transcript_search.searchable(turn.text for turn in turns)}
        for call_id, turns in spoken.items()
    ]
    transcript_search.add(connection, words)


def _stored(turn: Turn) -> dict[str, Any]:
    """A turn as transcripts have it. Its index comes first, and what it has not is left out."""
    stored: dict[str, Any] = {
        "index": turn.index,
        "role": turn.speaker,
        "text": turn.text,
        "start_seconds": turn.start_s,
        "end_seconds": turn.end_s,
        "language": turn.language,
        "source": turn.source,
        "interrupted": turn.interrupted,
    }
    if turn.latency is not None:
        stored["latency_ms"] = {"total": turn.latency.total_ms, **turn.latency.parts_ms}
    if turn.tool_call is not None:
        stored["tool_call"] = asdict(turn.tool_call)
    return stored
