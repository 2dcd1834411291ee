"""The events that tell of the calls of tools during a call."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import Row

from callwright.contract.events import CALL_TOOL_CALLED, CallToolCalled
from callwright.service.platform.ids import Ids
from callwright.service.tables import outbox
from callwright.service.telephony.engine import CallRequest, CallResult


def tool_events(
    ids: Ids, row: Row[Any], request: CallRequest, result: CallResult, at: Callable[[float | None], int | None]
) -> list[dict[str, Any]]:
    """The outbox rows of the tools that were called on a call that ended. `at` gives the time of a moment of it."""
    answered_s = result.answered_s or 0.0
    return [
        outbox.event_row(
            ids,
            row.org_id,
            CALL_TOOL_CALLED,
            CallToolCalled(
                call_id=request.call_id,
                deployment_id=row.id,
                agent_id=row.agent_id,
                turn_index=turn.index,
                tool=turn.tool_call.name,
                ok=turn.tool_call.ok,
                latency_ms=turn.tool_call.latency_ms,
                simulated=row.simulated,
            ),
            at_ms=at(answered_s + turn.start_s) or 0,
            simulated=row.simulated,
        )
        for turn in result.turns
        if turn.tool_call is not None
    ]
