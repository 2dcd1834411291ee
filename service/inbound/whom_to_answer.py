"""What is known of a caller, and with which agent they talk: the caller's row in a list, the agent, what a routing
webhook changes for this call.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, select

from callwright.service.campaigns.removed_audiences import IS_REMOVED
from callwright.service.dialling.agent_snapshot import SNAPSHOT, snapshot_of
from callwright.service.inbound.routing.answers import RoutingAnswer
from callwright.service.tables.schema import agents, audience_rows
from callwright.service.telephony.engine import AgentSnapshot

_R, _A = audience_rows.c, agents.c
_KNOWN: Select[*tuple[Any, ...]] = (
    select(_R.audience_id, _R.external_id, _R.cells, _R.timezone)
    .where(_R.org_id == bindparam("org"), _R.phone == bindparam("phone"), ~IS_REMOVED)
    .order_by(_R.created_at.desc(), _R.position.desc(), _R.id.desc())
    .limit(1)
)
_AGENT = select(agents).where(_A.org_id == bindparam("org"), _A.id == bindparam("id"))


@dataclass(frozen=True)
class KnownCaller:
    """The newest row of the organization's lists with the caller's number; empty for somebody in no list."""

    audience_id: str | None = None
    external_id: str | None = None
    cells: Mapping[str, str] | None = None
    timezone: str | None = None


def known_caller(connection: Connection, org_id: str, number: str) -> KnownCaller:
    """Who calls from a number."""
    found = connection.execute(_KNOWN, {"org": org_id, "phone": number}).one_or_none() if number else None
    if found is None:
        return KnownCaller()
    return KnownCaller(found.audience_id, found.external_id, json.loads(found.cells or "{}"), found.timezone)


def answering_agent(connection: Connection, row: Row[Any], answer: RoutingAnswer | None) -> AgentSnapshot:
    """The agent of a call, as it is now: that of the deployment, or what the webhook's usable answer makes of it."""
    agent_id = row.agent_id if answer is None or answer.agent_id is None else answer.agent_id
    agent: Row[Any] = connection.execute(_AGENT, {"org": row.org_id, "id": agent_id}).one()
    snapshot = snapshot_of(agent.id, {name: getattr(agent, name) for name in (*SNAPSHOT, "version")})
    return snapshot if answer is None else replace(snapshot, **answer.overrides.named())
