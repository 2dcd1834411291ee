"""Finished calls for tests, put into the database with what was said on them."""

import json
from typing import Any

from sqlalchemy import insert

from callwright.service.tables import call_counts, calls_by_name, transcript_search
from callwright.service.tables.schema import transcripts
from tests.support.service import Tenant

DIALLED_MS = 4_000_000_000_000
"""In the year 2096: the recording of a call that has not ended yet is not old either."""


def turn(index: int, role: str = "agent", text: str = "Hello.") -> dict[str, Any]:
    """A turn as it is stored."""
    times = {"start_seconds": index * 2.0, "end_seconds": index * 2.0 + 1.5}
    words = {"text": text, "language": "en-US", "source": "policy", "interrupted": False}
    return {"index": index, "role": role, **words, **times}


async def put_call(tenant: Tenant, *, turns: int = 0, **fields: Any) -> str:
    """A finished call in the database; its id."""
    call_id: str = fields.get("id") or tenant.services.ids.new("cal")
    row: dict[str, Any] = {
        "id": call_id,
        "org_id": tenant.org_id,
        "call_type": "outbound",
        "simulated": True,
        "agent_id": "agt_1",
        "attempt_number": 1,
        "from_number": "+12125550150",
        "to_number": "+12125550100",
        "status": "completed",
        "outcome": "answered",
        "created_at": DIALLED_MS,
        "started_at": DIALLED_MS + 500,
        "ringing_at": DIALLED_MS + 1_000,
        "answered_at": DIALLED_MS + 5_000,
        "ended_at": DIALLED_MS + 47_000,
        "duration_ms": 42_000,
        "billed_seconds": 42,
        "cost_micros": 8_400,
        "turn_count": turns,
        "language": "en-US",
        "voice_id": "en-US-ada",
        **fields,
    }
    spoken = json.dumps([turn(index, "agent" if index % 2 == 0 else "contact") for index in range(turns)])

    def put(connection: Any) -> None:
        calls_by_name.put(connection, [row])
        call_counts.add(connection, [call_id])
        if turns:
            connection.execute(insert(transcripts), {"call_id": call_id, "org_id": tenant.org_id, "turns": spoken})

    await tenant.database.write(put)
    return call_id


async def put_conversation(tenant: Tenant, *said: tuple[str, str], **fields: Any) -> str:
    """A finished call with what was said on it, indexed as the dialler does."""
    call_id = await put_call(tenant, turn_count=len(said), **fields)
    turns = [turn(index, role, text) for index, (role, text) in enumerate(said)]
    row = {"call_id": call_id, "org_id": tenant.org_id, "turns": json.dumps(turns)}
    words = {"call_id": call_id, "words": transcript_search.searchable(text for _, text in said)}
    await tenant.database.write(lambda connection: connection.execute(insert(transcripts), row).rowcount)
    await tenant.database.write(transcript_search.add, [words])
    return call_id
