"""Builds the definition of each tool for hosts from the catalogue.

Building takes about 0.1 s and imports the whole contract, too much for the start of a program that a host spawns. So
the result is stored in `definitions.json`, which `served.py` reads; this module writes that file and checks it.
"""

import json
from pathlib import Path
from typing import Any

from callwright.contract.declaration.filters import takes_several
from callwright.tools.arguments.arguments import LIST_LENGTH
from callwright.tools.arguments.schema import JsonSchema, input_schema, list_schema, output_schema
from callwright.tools.catalogue.registry import TOOLS
from callwright.tools.references.kinds import say_what_is_taken
from callwright.tools.replies.asking import MOST_ENTRIES
from callwright.tools.runtime.tool import Tool

FILE = Path(__file__).parents[1] / "definitions.json"


def definitions() -> dict[str, dict[str, Any]]:
    """Name, title, description, schemas, hints, toolset and REST path of every tool, by name, in the order there."""
    return {tool.name: _definition(tool) for tool in TOOLS}


def file_text() -> str:
    """The right content of `definitions.json`."""
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
        "outputSchema": _output(tool),
        "annotations": {
            "readOnlyHint": hints.read_only,
            "destructiveHint": hints.destructive,
            "idempotentHint": hints.idempotent,
            "openWorldHint": hints.open_world,
        },
        "toolset": tool.toolset,
        "path": _path(tool),
    }


def _path(tool: Tool) -> str:
    """The REST path, its fields named as the tool's arguments."""
    path = tool.operation.path
    for own, shown in tool.shown_names.items():
        path = path.replace("{" + own + "}", "{" + shown + "}")
    return path


def _output(tool: Tool) -> JsonSchema:
    if tool.many and tool.operation.item is not None:
        return list_schema(tool.operation.item, default_fields=tool.default_fields)
    return output_schema(tool.answer, brief=True, omitted=tool.omitted_fields)


_LIST_WORDS = {
    "cursor": "A next_cursor.",
    "created_from": "From this moment on.",
    "created_before": "Before this moment.",
    "status": "In one of these.",
    "name": "With exactly this name.",
    "deployment_id": "",
    "agent_id": "",
    "audience_id": "",
    "contact_id": "",
}
"""Descriptions of arguments that many lists have, shorter than those of the contract."""


def _input(tool: Tool) -> JsonSchema:
    words = dict(tool.argument_descriptions)
    if {"created_from", "deployment_id"} & tool.arguments.model_fields.keys() or tool.many:
        words = {name: text for name, text in _LIST_WORDS.items() if name in tool.arguments.model_fields} | words
    if tool.many:
        words = {
            "sort": f"{', '.join(tool.operation.sorts)}; a leading - descends.",
            "fields": f"Such as {', '.join(tool.example_fields)}.",
        } | words
    schema = input_schema(tool.arguments, descriptions=words, offered=tool.offered, collapsed=tool.collapsed_arguments)
    for name, property_ in schema["properties"].items():
        if takes_several(tool.arguments.model_fields[name]):  # a model gives one value; several are accepted too
            property_.update(property_.pop("items"))
    say_what_is_taken(tool.arguments, schema)
    schema["properties"] = {tool.shown(name): found for name, found in schema["properties"].items()}
    if required := [*schema.get("required", ()), *sorted(tool.required)]:
        schema["required"] = [tool.shown(name) for name in required]
    if tool.many:
        schema["properties"]["per_page"] = {
            "type": "integer",
            "maximum": MOST_ENTRIES,
            "default": LIST_LENGTH,
            "description": "Entries.",
        }
    return schema
