"""Generates a million calls without transcripts, of 200 deployments. The same organization gets the same data."""

from collections.abc import Generator
from itertools import islice
from random import Random
from typing import Any

from sqlalchemy import Connection, insert

from callwright.service.platform.database.database import Database
from callwright.service.platform.ids import ALPHABET, Ids
from callwright.service.tables.schema import calls, deployments

CALLS = 1_000_000
FIRST_MS = 1_780_000_000_000
_SPACING_MS = 200
_OF_ONE_MILLISECOND = 7
_CALLS_A_DEPLOYMENT = 5_000
_AT_ONCE = 4
_AGENTS = 20
_BATCH = 10_000
_OUTCOMES = (
    *["no_answer"] * 35,
    *["answered"] * 30,
    *["voicemail"] * 15,
    *["busy"] * 8,
    *["rejected"] * 5,
    *["unreachable"] * 3,
    *["invalid_number"] * 3,
    "failed",
)
RARE = "fax_or_ivr"
"""One call in ten thousand."""


def deployment_number(index: int) -> int:
    """The number of a call's deployment. The deployment's id is `dep_` and this number in 24 digits."""
    return index // (_CALLS_A_DEPLOYMENT * _AT_ONCE) * _AT_ONCE + index % _AT_ONCE


def call(call_id: str, org_id: str, index: int, at_ms: int, chance: Random) -> dict[str, Any]:
    """The row of a call."""
    outcome = RARE if index % 10_007 == 0 else chance.choice(_OUTCOMES)
    answered, group = outcome == "answered", deployment_number(index)
    return {
        "id": call_id,
        "org_id": org_id,
        "call_type": "outbound",
        "simulated": True,
        "deployment_id": f"dep_{group:024d}",
        "agent_id": f"agt_{group % _AGENTS:024d}",
        "audience_id": f"aud_{group:024d}",
        "contact_id": f"ctc_{index:024d}",
        "phone_number_id": f"num_{group % 50:024d}",
        "attempt_number": 1,
        "from_number": "+12125550150",
        "to_number": f"+1202{2_000_000 + index % 700_000}",
        "status": "failed" if outcome == "failed" else "completed",
        "outcome": outcome,
        "disposition": ("goal_met", "not_interested", "callback_requested", "interested")[index % 4]
        if answered
        else None,
        "answered_by": "human" if answered else None,
        "ended_by": "agent",
        "hangup_cause": "normal_clearing",
        "created_at": at_ms,
        "started_at": at_ms + 500,
        "ringing_at": at_ms + 900,
        "answered_at": at_ms + 5_000 if answered else None,
        "ended_at": at_ms + 30_000 + chance.randrange(60_000),
        "duration_ms": chance.randrange(90_000) if answered else 0,
        "billed_seconds": 60 if answered else 0,
        "cost_micros": 9_600 if answered else 0,
        "turn_count": 8 if answered else 0,
        "language": "en-US",
        "voice_id": "en-US-ada",
        "variables": '{"first_name":"Person","city":"Springfield"}',
        "driver": "drv_0123456789",
    }


def moment_of(index: int) -> int:
    """When a call is made, in milliseconds since the epoch. Seven calls share a moment."""
    return FIRST_MS + index // _OF_ONE_MILLISECOND * _SPACING_MS


def _made(org_id: str, chance: Random) -> Generator[dict[str, Any]]:
    at_ms = FIRST_MS
    ids = Ids(lambda: at_ms, lambda count: "".join(chance.choices(ALPHABET, k=count)))
    for index in range(CALLS):
        at_ms = moment_of(index)
        yield call(ids.new("cal"), org_id, index, at_ms, chance)


def put(connection: Connection, rows: list[dict[str, Any]]) -> None:
    """Writes rows of calls."""
    connection.execute(insert(calls), rows)


def _put_deployments(connection: Connection, org_id: str) -> None:
    """Writes the deployments of the calls. Columns that lists of calls do not read hold placeholders."""
    text = ("seed", "phone_number_ids", "caller_id_strategy", "retry_policy", "voicemail", "compliance")
    number = ("max_concurrency", "calls_per_second", "ring_timeout_seconds", "max_call_duration_seconds")
    made = {"org_id": org_id, "status": "completed", "simulated": True, **dict.fromkeys(text, "")}
    made |= dict.fromkeys((*number, "status_changed_at", "created_at", "updated_at"), 0)
    rows = [
        {
            **made,
            "id": f"dep_{group:024d}",
            "name": f"{group}",
            "agent_id": f"agt_{group % _AGENTS:024d}",
            "audience_id": f"aud_{group:024d}",
        }
        for group in range(CALLS // _CALLS_A_DEPLOYMENT)
    ]
    connection.execute(insert(deployments), rows)


async def fill(database: Database, org_id: str) -> None:
    """Writes all calls of an organization, and their deployments."""
    await database.write(_put_deployments, org_id)
    made = _made(org_id, Random(1))
    while batch := list(islice(made, _BATCH)):
        await database.write(put, batch)
