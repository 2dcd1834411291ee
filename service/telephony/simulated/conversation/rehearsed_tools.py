"""What tools answer on the simulated network, where nothing is sent: what is given for that, or something made up."""

import json

from pydantic import JsonValue

from callwright.contract.agents.call_tools import HttpTool
from callwright.service.telephony.engine import ToolCall
from callwright.service.telephony.simulated.conversation.tool_cues import ToolUse

_MADE_UP: JsonValue = {"made_up": "the tool has no answer for the simulated network"}


def answer_of(use: ToolUse) -> JsonValue:
    """The answer of a tool."""
    if not isinstance(use.tool, HttpTool):
        return {"done": True}
    return _MADE_UP if use.tool.rehearsal is None else use.tool.rehearsal


def called(use: ToolUse) -> ToolCall:
    """The call of a tool, as the transcript has it."""
    return ToolCall(
        name=use.tool.name,
        arguments=json.dumps(dict(use.arguments), ensure_ascii=False),
        result=json.dumps(answer_of(use), ensure_ascii=False),
        ok=True,
        latency_ms=0,
    )
