"""The agent a deployment calls with, as it was when the deployment started."""

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Row

from callwright.service.rules.call_tools import tools_in
from callwright.service.rules.provider_choice import CHOICE, choice_of
from callwright.service.telephony.engine import AgentSnapshot

SNAPSHOT = ("system_prompt", "welcome_message", "language", "voice_id", *CHOICE, "call_tools")
"""The fields of the agent that a deployment keeps when it starts; later edits do not change them.

A change of one of them makes a version of the agent.
"""


def agent_of(row: Row[Any], kept: Mapping[str, Any] | None = None) -> AgentSnapshot:
    """The agent of a deployment. `kept` are its fields, by default those that were kept at the start.

    Campaigns that started before agents could name providers have kept none.
    """
    return snapshot_of(row.agent_id, json.loads(row.agent_snapshot) if kept is None else kept)


def snapshot_of(agent_id: str, kept: Mapping[str, Any]) -> AgentSnapshot:
    """An agent with the fields that were kept of it."""
    fields = {name: kept[name] for name in SNAPSHOT if name in kept}
    return AgentSnapshot(id=agent_id, version=kept.get("version"), **fields)


def shown_fields(kept: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that were kept, as the contract has them."""
    plain = {name: kept[name] for name in SNAPSHOT if name in kept and name not in (*CHOICE, "call_tools")}
    return {**plain, **choice_of(kept), "call_tools": list(tools_in(kept.get("call_tools")))}
