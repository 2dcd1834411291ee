"""Answers in which contacts' telephone numbers stand wherever they can, and what a tool shows of them."""

import json
from typing import Any

from mcp import Client
from mcp.types import CallToolResult, TextContent

from callwright.contract.audiences import Column
from callwright.tools.runtime.tool import Tool
from tests.support.tools import good_arguments, samples

CELLS = {"first_name": "Ada", "mobile": "(202) 555-0100", "note": "also +1 202 555 0100"}
COLUMNS = [
    Column(name="phone_number", type="string", sample="+12025550100", fill_rate=1.0),
    Column(name="mobile", type="string", sample="(202) 555-0100", fill_rate=1.0),
    Column(name="office", type="number", sample="2025550100", fill_rate=1.0),
    Column(name="reach them at", type="string", sample="202 555 0100 or +1 202 555 0100", fill_rate=1.0),
    Column(name="since", type="date", sample="2026-11-21", fill_rate=1.0),
]
GREETING = "Hello Ada, is (202) 555-0100 still yours, or 202 555 0100, 2025550100, +12025550100?"
WRITTEN = (samples.CALLEE, "(202) 555-0100", "202 555 0100", "2025550100")
"""The number of a contact in the notations in which it is there."""


def answers() -> dict[str, Any]:
    """Answers whose cells hold telephone numbers, too."""
    call = samples.call(variables=CELLS, warnings=["sim.outcome cannot be '+12025550100'."])
    row = samples.row().model_copy(update={"values": CELLS})
    contact = samples.contact().model_copy(update={"values": CELLS})
    error = samples.refused_row(message="cannot be '+1 202 555 0100'")
    return samples.answers() | {
        "get_call": call,
        "hang_up_call": call,
        "resolve_call": call,
        "correct_disposition": call,
        "list_calls": samples.page([call]),
        "list_contacts": samples.page([contact]),
        "list_audience_rows": samples.page([row]),
        "list_import_errors": samples.page([error]),
        "get_audience": samples.audience(last_import_id="imp_1", columns=COLUMNS),
        "list_audiences": samples.page([samples.audience(columns=COLUMNS)]),
        "preview_deployment": samples.preview().model_copy(update={"greeting": GREETING}),
    }


def shown(result: CallToolResult) -> str:
    assert not result.is_error, result.content
    text = "\n".join(part.text for part in result.content if isinstance(part, TextContent))
    return text + json.dumps(result.structured_content, ensure_ascii=False)


async def asked(client: Client, tool: Tool, **more: Any) -> CallToolResult:
    listed = next(found for found in (await client.list_tools()).tools if found.name == tool.name)
    given = good_arguments.arguments(tool.name, tool.operation.noun, listed.input_schema.get("required", []))
    return await client.call_tool(tool.name, {**given, **more})
