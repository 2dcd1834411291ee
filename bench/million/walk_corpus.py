"""Generates calls without transcripts, of 200 deployments in 20 days, with their contacts, events and audit entries.

Fewer calls are of as many deployments and days: so that the statistics of both have as many groups, and what a request
takes longer comes from the calls. The same organization gets the same data.
"""

from collections.abc import Generator
from itertools import islice
from random import Random
from typing import Any

from sqlalchemy import Connection, insert

from bench.million.people_corpus import name_of
from callwright.contract.deployments.settings import CampaignSettings
from callwright.service.accounts.principals import SERVICE
from callwright.service.platform.database.database import Database
from callwright.service.platform.ids import ALPHABET, Ids
from callwright.service.platform.json_text import json_text
from callwright.service.platform.search_words import word_column
from callwright.service.tables import call_counts, calls_by_name
from callwright.service.tables.campaign_settings import columns_of
from callwright.service.tables.ledger import RELEASE, RESERVATION
from callwright.service.tables.schema import audit_log, deployment_contacts, deployments, outbox, transactions

CALLS = 1_000_000
FIRST_MS = 1_780_000_000_000
_SPACING_MS = 12_000
_OF_ONE_MILLISECOND = 7
_DEPLOYMENTS = 200
_AT_ONCE = 4
_AGENTS = 20
_BATCH = 2_500
_CALLS_OF_ROUND = 75
"""Calls for which money is held back together."""
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


def deployment_number(index: int, count: int = CALLS) -> int:
    """The number of the deployment of one of `count` calls. Its id is `dep_` and this number in 24 digits."""
    return index // (max(1, count // _DEPLOYMENTS) * _AT_ONCE) * _AT_ONCE + index % _AT_ONCE


def call(call_id: str, org_id: str, index: int, at_ms: int, chance: Random, count: int = CALLS) -> dict[str, Any]:
    """The row of one of `count` calls."""
    outcome = RARE if index % 10_007 == 0 else chance.choice(_OUTCOMES)
    answered, group = outcome == "answered", deployment_number(index, count)
    return {
        "id": call_id,
        "org_id": org_id,
        "call_type": "outbound",
        "simulated": True,
        "deployment_id": f"dep_{group:024d}",
        "agent_id": f"agt_{group % _AGENTS:024d}",
        "audience_id": f"aud_{group:024d}",
        "contact_id": f"ctc_{index:024d}",
        "contact_name": name_of(index),
        "name_words": word_column(name_of(index)),
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


def moment_of(index: int, count: int = CALLS) -> int:
    """When one of `count` calls is made, in milliseconds since the epoch. Seven calls share a moment."""
    return FIRST_MS + index // _OF_ONE_MILLISECOND * _SPACING_MS * CALLS // count


def _made(org_id: str, chance: Random, count: int) -> Generator[dict[str, Any]]:
    at_ms = FIRST_MS
    ids = Ids(lambda: at_ms, lambda count: "".join(chance.choices(ALPHABET, k=count)))
    for index in range(count):
        at_ms = moment_of(index, count)
        yield call(ids.new("cal"), org_id, index, at_ms, chance, count)


def put(connection: Connection, rows: list[dict[str, Any]]) -> None:
    """Writes rows of calls that have ended."""
    calls_by_name.put(connection, rows)
    call_counts.add(connection, [row["id"] for row in rows])


def _put_with_records(connection: Connection, rows: list[dict[str, Any]], first: int) -> None:
    """Writes rows of calls with what else is written for each: contact, events, audit entry and charge."""
    put(connection, rows)
    numbers = {row["id"]: f"{first + index:024d}" for index, row in enumerate(rows)}
    contacts = [
        {
            "deployment_id": row["deployment_id"],
            "id": row["contact_id"],
            "org_id": row["org_id"],
            "position": int(numbers[row["id"]]),
            "phone": row["to_number"],
            "status": "completed",
            "attempts": 1,
            "attempt_times": "[]",
            "last_outcome": row["outcome"],
            "last_disposition": row["disposition"],
            "last_call_id": row["id"],
        }
        for row in rows
    ]
    connection.execute(insert(deployment_contacts), contacts)
    told = [(row, "call.started", row["started_at"]) for row in rows]
    told += [(row, "call.completed", row["ended_at"]) for row in rows]
    events = [
        {
            "id": f"evt_{'b' if kind == 'call.completed' else 'a'}{numbers[row['id']][1:]}",
            "org_id": row["org_id"],
            "type": kind,
            "created_at": at_ms,
            "data": json_text({"call_id": row["id"]}),
            "simulated": True,
            "subject_id": row["id"],
            "fanned_out_at": at_ms,
        }
        for row, kind, at_ms in told
    ]
    connection.execute(insert(outbox), events)
    entries = [
        {
            "id": f"aud_{numbers[row['id']]}",
            "org_id": row["org_id"],
            "at": row["ended_at"],
            "actor": SERVICE.actor,
            "action": "call.ended",
            "subject": row["id"],
            "changes": "{}",
        }
        for row in rows
    ]
    connection.execute(insert(audit_log), entries)
    charges = [
        {
            "id": f"txn_{numbers[row['id']]}",
            "org_id": row["org_id"],
            "type": "call_charge",
            "amount_micros": -row["cost_micros"],
            "balance_after_micros": 0,
            "reference_type": "call",
            "reference_id": row["id"],
            "description": "outbound call",
            "created_at": row["ended_at"],
        }
        for row in rows
        if row["cost_micros"]
    ]
    held = [
        {
            "id": f"txn_{place}{numbers[row['id']][1:]}",
            "org_id": row["org_id"],
            "type": kind,
            "amount_micros": sign * 1_000_000,
            "balance_after_micros": 0,
            "reference_type": "deployment",
            "reference_id": row["deployment_id"],
            "description": f"for {_CALLS_OF_ROUND} calls",
            "created_at": row["ended_at"],
        }
        for row in rows[::_CALLS_OF_ROUND]
        for place, kind, sign in (("a", RESERVATION, -1), ("b", RELEASE, 1))
    ]
    connection.execute(insert(transactions), [*charges, *held])


def _put_deployments(connection: Connection, org_id: str, count: int) -> None:
    """Writes the deployments of the calls. Columns that lists do not read hold placeholders."""
    made = {"org_id": org_id, "status": "completed", "simulated": True, "seed": "", "phone_number_ids": "[]"}
    made |= dict.fromkeys(("max_concurrency", "status_changed_at", "created_at", "updated_at"), 0)
    made |= columns_of(CampaignSettings())
    rows = [
        {
            **made,
            "id": f"dep_{group:024d}",
            "name": f"{group}",
            "agent_id": f"agt_{group % _AGENTS:024d}",
            "audience_id": f"aud_{group:024d}",
        }
        for group in range(deployment_number(count - 1, count) + _AT_ONCE)
    ]
    connection.execute(insert(deployments), rows)


async def fill(database: Database, org_id: str, count: int = CALLS) -> None:
    """Writes so many calls of an organization, with their deployments and records."""
    await database.write(_put_deployments, org_id, count)
    made, first = _made(org_id, Random(1), count), 0
    while batch := list(islice(made, _BATCH)):
        await database.write(_put_with_records, batch, first)
        first += len(batch)
