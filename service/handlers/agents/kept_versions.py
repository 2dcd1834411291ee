"""The versions of an agent as rows: what it said from one change to the next, when it was changed, and by whom.

A version holds the fields that a deployment keeps of its agent when it starts (`SNAPSHOT`). Its row is written once.
Numbers are given under the lock of the agent's row, so that none is given twice and none is left out.
"""

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import bindparam, delete, func, insert, select

from callwright.contract.problems import NOT_FOUND
from callwright.service.dialling.agent_snapshot import SNAPSHOT
from callwright.service.handlers.request_context import RequestContext
from callwright.service.platform.database.prepared import Prepared
from callwright.service.platform.json_text import json_text
from callwright.service.platform.refusals import Refusal, not_found
from callwright.service.tables.schema import agent_versions

_V = agent_versions.c
_ADD = Prepared(insert(agent_versions))
_FIND = Prepared(
    select(agent_versions).where(
        _V.agent_id == bindparam("agent"), _V.version == bindparam("version"), _V.org_id == bindparam("org")
    )
)
_NUMBERS = select(func.min(_V.version), func.max(_V.version)).where(
    _V.agent_id == bindparam("agent"), _V.org_id == bindparam("org")
)


def add_first(context: RequestContext, row: Mapping[str, Any]) -> None:
    """Keeps the first version of an agent whose row was just inserted."""
    _add(context, row["id"], 1, {name: row[name] for name in SNAPSHOT}, None)


def add_if_changed(
    context: RequestContext, row: Any, changes: Mapping[str, Any], restored_from: int | None = None
) -> dict[str, int]:
    """Keeps a version if the changes are of what the agent says or how.

    `row` is the agent's row before them, under its lock. Returns the number as a further column to change.
    """
    before = {name: getattr(row, name) for name in SNAPSHOT}
    after = {name: changes.get(name, value) for name, value in before.items()}
    if after == before:
        return {}
    _add(context, row.id, row.version + 1, after, restored_from)
    return {"version": row.version + 1}


def _add(
    context: RequestContext, agent_id: str, version: int, fields: Mapping[str, Any], restored_from: int | None
) -> None:
    row = {
        "agent_id": agent_id,
        "version": version,
        "org_id": context.org_id,
        "fields": json_text(fields),
        "created_at": context.now_ms,
        "actor": context.principal.actor,
        "user_id": context.principal.user_id,
        "restored_from": restored_from,
    }
    _ADD.run(context.connection, row)


def find(context: RequestContext, agent_id: str, version: int, *, field: str) -> Any:
    """The row of a version of the organization's agent. Raises `Refusal`: not_found, for `field`; it says which there
    are."""
    asked = {"agent": agent_id, "version": version, "org": context.org_id}
    row = _FIND.first(context.connection, asked)
    if row is None:
        first, last = context.connection.execute(_NUMBERS, {"agent": agent_id, "org": context.org_id}).one()
        if first is None:
            raise not_found(field)
        there = f"it has {first} to {last}" if first < last else f"it has version {first} alone"
        raise Refusal(NOT_FOUND, f"the agent has no version {version}; {there}", field=field)
    return row


def fields_of(row: Any) -> dict[str, Any]:
    """The columns of the agent that a version holds; those that it lacks were not there when it was made."""
    kept = json.loads(row.fields)
    return {name: kept.get(name) for name in SNAPSHOT}


def remove_all(context: RequestContext, agent_id: str) -> None:
    """Removes the versions of an agent that is deleted."""
    context.connection.execute(delete(agent_versions).where(_V.agent_id == agent_id, _V.org_id == context.org_id))
