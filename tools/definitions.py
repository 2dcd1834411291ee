"""What hosts see of each tool, made from the catalogue.

Building it takes about 0.1 s and the whole contract, too much for the start of a program that a host spawns. So the
result is kept in `definitions.json`, which `served.py` reads; this module writes that file and tells whether it holds.
"""

import json
from pathlib import Path
from typing import Any

from .arguments import LIST_LENGTH
from .catalogue import TOOLS
from .schema import JsonSchema, input_schema, output_schema
from .tool import Tool

FILE = Path(__file__).with_name("definitions.json")


def definitions() -> dict[str, dict[str, Any]]:
    """Name, title, description, schemas, hints and toolset of every tool, by name, in the order of the catalogue."""
    return {tool.name: _definition(tool) for tool in TOOLS}


def file_text() -> str:
    """What `definitions.json` has to hold."""
    return json.dumps(list(definitions().values()), ensure_ascii=False, indent=1) + "\n"


def write() -> None:
    """Brings `definitions.json` up to date."""
    FILE.write_text(file_text(), encoding="utf-8")


def _definition(tool: Tool) -> dict[str, Any]:
    hints = tool.hints
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": _input(tool),
        "outputSchema": output_schema(tool.answer, brief=_brief(tool)),
        "annotations": {
            "readOnlyHint": hints.read_only,
            "destructiveHint": hints.destructive,
            "idempotentHint": hints.idempotent,
            "openWorldHint": hints.open_world,
        },
        "toolset": tool.toolset,
    }


def _brief(tool: Tool) -> bool:
    """Only a tool that gets one thing describes it to the bottom; the others would say the same up to eight times."""
    return not tool.hints.read_only or tool.operation.shape == "many"


def _input(tool: Tool) -> JsonSchema:
    many = tool.operation.shape == "many"
    words = dict(tool.words)
    if many:
        sorts = ", ".join(tool.operation.sorts)
        words["sort"] = f"Sort by {sorts}, comma-separated; a leading - sorts descending."
    schema = input_schema(tool.arguments, words=words)
    if many:
        schema["properties"]["per_page"]["default"] = LIST_LENGTH
    return schema
