"""Generates an audience of millions of people, and a campaign that has called most of them."""

from collections import Counter
from typing import Any

from sqlalchemy import Connection, insert, text

from callwright.contract.deployments.settings import CampaignSettings
from callwright.service.platform.database.database import Database
from callwright.service.platform.json_text import json_text
from callwright.service.platform.search_words import word_column
from callwright.service.tables import contacts_by_name
from callwright.service.tables.campaign_settings import columns_of
from callwright.service.tables.contacts_by_counters import COUNTERS
from callwright.service.tables.schema import audiences, deployments

PEOPLE = 5_000_000
AUDIENCE, CAMPAIGN = f"aud_{'9' * 24}", f"dep_{'9' * 24}"
"""The newest of their lists."""
_MADE_MS = 1_790_000_000_000
_BATCH = 20_000
_FIRST = ("Ada", "Bob", "Chen", "Dora", "Emil", "Fatima", "Grace")
_STATES = ("completed", "completed", "completed", "exhausted", "pending", "retry_waiting", "completed")
_OUTCOMES = ("answered", "answered", "answered", "no_answer", None, "busy", "answered")
_SAID = ("goal_met", "goal_met", "goal_met", None, None, None, "goal_met")
_RARE = 10_003
"""One person in so many opted out."""
_SERIES = (
    "WITH RECURSIVE series(i) AS (SELECT CAST(:begin AS BIGINT) UNION ALL SELECT i + 1 FROM series WHERE i + 1 < :end) "
)


def name_of(index: int) -> str:
    """A person's name: one of seven first names, and a last name of a thousand."""
    return f"{_FIRST[index % len(_FIRST)]} Sur{index // len(_FIRST) % 1_000}name"


def _chosen(values: tuple[str | None, ...]) -> str:
    """The SQL expression of one of the values in turn."""
    cases = " ".join(f"WHEN {place} THEN '{value}'" for place, value in enumerate(values) if value is not None)
    return f"CASE i % {len(values)} {cases} END"


_NAME = f"{_chosen(_FIRST)} || ' Sur' || CAST(i / {len(_FIRST)} % 1000 AS VARCHAR(10)) || 'name'"
_ROWS = (
    "INSERT INTO audience_rows (id, org_id, audience_id, position, phone, country, external_id, dedupe_key, "
    f"name_words, cells, steering, created_at) {_SERIES} "
    f"SELECT 'ctc_p' || CAST(100000000 + i AS VARCHAR(20)), :org, '{AUDIENCE}', i + 1, "
    "'+1' || CAST(2020000000 + i AS VARCHAR(20)), 'US', 'crm-' || CAST(i AS VARCHAR(20)), "
    f"'+1' || CAST(2020000000 + i AS VARCHAR(20)), ' ' || lower({_NAME}), "
    f"'{{\"name\"\\:\"' || {_NAME} || '\"}}', '{{}}', {_MADE_MS} FROM series"
)
_DUE = f"CASE WHEN i % {len(_STATES)} IN (4, 5) AND i % {_RARE} > 0 THEN {_MADE_MS} END"
_CONTACTS = (
    "INSERT INTO deployment_contacts (deployment_id, id, org_id, position, phone, status, attempts, due_at, next_at, "
    f"attempt_times, last_outcome, last_disposition) {_SERIES} "
    f"SELECT '{CAMPAIGN}', 'ctc_p' || CAST(100000000 + i AS VARCHAR(20)), :org, i + 1, "
    f"'+1' || CAST(2020000000 + i AS VARCHAR(20)), "
    f"CASE WHEN i % {_RARE} = 0 THEN 'completed' ELSE {_chosen(_STATES)} END, 1, {_DUE}, {_DUE}, '[]', "
    f"CASE WHEN i % {_RARE} = 0 THEN 'answered' ELSE {_chosen(_OUTCOMES)} END, "
    f"CASE WHEN i % {_RARE} = 0 THEN 'do_not_call' ELSE {_chosen(_SAID)} END FROM series"
)


def _counters(count: int) -> dict[str, Any]:
    """The counters of the campaign, of nearly so many contacts."""
    rare = -(-count // _RARE)
    found: dict[str, Any] = {"contacts": count, "attempts": count}
    for column, values, said in (
        ("status", _STATES, "completed"),
        ("last_outcome", _OUTCOMES, "answered"),
        ("last_disposition", _SAID, "do_not_call"),
    ):
        held = Counter({value: (count - rare) // len(values) * values.count(value) for value in values if value})
        found[COUNTERS[column]] = json_text(held + Counter({said: rare}))
    return found


def _put_lists(connection: Connection, org_id: str, count: int) -> None:
    counted = {"row_count": count, "valid_count": count, "countries": json_text({"US": count})}
    made: dict[str, Any] = {"created_at": _MADE_MS, "updated_at": _MADE_MS}
    rows = {"invalid_count": 0, "duplicate_count": 0, "dedupe": "phone", "columns": "[]", **counted}
    named = {"id": AUDIENCE, "org_id": org_id, "name": "people", "description": "", "status": "ready", "source": "csv"}
    connection.execute(insert(audiences), {**named, **rows, **made})
    campaign = {"id": CAMPAIGN, "org_id": org_id, "name": "people", "agent_id": "agt_1", "audience_id": AUDIENCE}
    state = {"status": "paused", "simulated": True, "seed": "", "phone_number_ids": "[]", "max_concurrency": 10}
    at = {"status_changed_at": _MADE_MS, "started_at": _MADE_MS, "clock_ms": _MADE_MS}
    made |= columns_of(CampaignSettings()) | _counters(count)
    connection.execute(insert(deployments), {**campaign, **state, **at, **made})


def _put_people(connection: Connection, org_id: str, begin: int, end: int) -> None:
    for statement in (_ROWS, _CONTACTS):
        connection.execute(text(statement), {"org": org_id, "begin": begin, "end": end})
    names = ((index + 1, word_column(name_of(index))) for index in range(begin, end))
    contacts_by_name.add(connection, AUDIENCE, list(names))


async def fill_people(database: Database, org_id: str, count: int) -> None:
    """Writes so many people: an audience, and a campaign that is paused in its middle."""
    await database.write(_put_lists, org_id, count)
    for begin in range(0, count, _BATCH):
        await database.write(_put_people, org_id, begin, min(begin + _BATCH, count))
