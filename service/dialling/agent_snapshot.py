"""The agent a deployment calls with, as it was when the deployment started."""

import json
from typing import Any

from sqlalchemy import Row

from callwright.service.telephony.engine import AgentSnapshot

SNAPSHOT = ("system_prompt", "welcome_message", "language", "voice_id")
"""What is kept of the agent at the start; later edits do not reach the deployment."""


def agent_of(row: Row[Any]) -> AgentSnapshot:
    """The agent a started deployment calls with."""
    kept = json.loads(row.agent_snapshot)
    return AgentSnapshot(id=row.agent_id, **{name: kept[name] for name in SNAPSHOT})
