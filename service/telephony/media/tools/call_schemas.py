"""What arguments each tool takes, as JSON Schema, and how it is described to a model."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from callwright.contract.agents.call_tools import (
    CallBackTool,
    CallTool,
    EndCallTool,
    HttpTool,
    PressKeysTool,
    TransferTool,
)

_NONE: Mapping[str, Any] = {"type": "object", "properties": {}}
_END_CALL: Mapping[str, Any] = {
    "type": "object",
    "properties": {"sentence": {"type": "string", "maxLength": 500, "description": "Your last words."}},
}
_PRESS_KEYS: Mapping[str, Any] = {
    "type": "object",
    "properties": {"keys": {"type": "string", "minLength": 1, "maxLength": 32, "description": "Digits, * and #."}},
    "required": ["keys"],
}
_CALL_BACK: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "when": {
            "type": "string",
            "maxLength": 40,
            "description": "The moment that the person named, as in 2026-11-30T15:30.",
        },
        "time_zone": {"type": "string", "maxLength": 64, "description": "Their IANA zone, such as Europe/Berlin."},
    },
    "required": ["when"],
}


def schema_of(tool: CallTool) -> Mapping[str, Any]:
    """The schema of the arguments: that of the tool, or of its type."""
    match tool:
        case HttpTool():
            return tool.parameters or _NONE
        case EndCallTool():
            return _END_CALL
        case PressKeysTool():
            return _NONE if tool.keys else _PRESS_KEYS
        case CallBackTool():
            return _CALL_BACK
        case TransferTool():
            names = [one.name for one in tool.destinations]
            return {
                "type": "object",
                "properties": {
                    "destination": {"type": "string", "enum": names, "description": "To whom."},
                    "summary": {
                        "type": "string",
                        "maxLength": 500,
                        "description": "Who calls and what about, in a sentence or two: it is said to the person.",
                    },
                },
                "required": ["destination"],
            }


def described(tool: CallTool, now: datetime) -> str:
    """What a model is told of a tool. One that takes a moment says what time it is."""
    if not isinstance(tool, CallBackTool):
        return tool.description
    zone = f" Moments without a zone are in {tool.time_zone}." if tool.time_zone else ""
    return f"{tool.description} It is {now:%A, %Y-%m-%d %H:%M} UTC.{zone}"
