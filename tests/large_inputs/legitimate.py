"""Inputs that are right, with every list, map and text of theirs as long as their model allows."""

from collections.abc import Callable, Generator, Iterable, Mapping
from typing import Any, cast

import orjson

from callwright.contract.declaration.model import Input
from callwright.contract.surface import OPERATIONS
from callwright.tools.catalogue.registry import TOOLS
from tests.large_inputs.cases import AUDIENCE, ENTRIES, FRESH, Case, call, keys

CELLS = 100
"""Columns of a row, its telephone number included: the most that a row may have."""
ROWS = 900
LINES = 4_500
"""As many rows, and lines of a file, come near the size of a body."""
CALL_TOOLS = 20
_Json = dict[str, Any]


_ALONE: Mapping[str, Iterable[str]] = {
    "create_audience": ("name", "rows"),
    "add_audience_rows": ("id", "rows"),
    "import_audience": ("id", "csv", "wait_seconds"),
}
"""What is sent to what takes most, so that it is taken: as the person who adds people sends it."""


def legitimate_cases() -> Generator[Case]:
    """Cases for each operation with a body, over REST, and for each tool, over Streamable HTTP."""
    for operation in OPERATIONS.values():
        fields = [name for name in operation.takes.model_fields if operation.place_of(name) == "body"]
        if operation.method in ("POST", "PUT", "PATCH") and fields:
            alone = [name for name in _ALONE.get(operation.name, fields) if name in fields]
            path = "/v1" + operation.path.format_map(dict.fromkeys(operation.path_fields, AUDIENCE))
            sent = _sent(operation.takes, alone)
            yield Case(
                f"{operation.name} at its limits",
                operation.method,
                path,
                body=lambda entries, sent=sent: orjson.dumps(sent(entries)),
                succeeds=operation.name in _ALONE,
            )
    for tool in TOOLS:
        sent = _sent(tool.arguments, _ALONE.get(tool.name, tool.offered))
        yield call(tool.name, "at its limits", sent, succeeds=tool.name in _ALONE)


def _sent(model: type[Input], fields: Iterable[str]) -> Callable[[int], dict[str, Any]]:
    def sent(entries: int) -> dict[str, Any]:
        found = filled(model, fields, entries)
        known = {"id": AUDIENCE, "name": FRESH}
        return found | {name: known[name] for name in known.keys() & found.keys()}

    return sent


def rows(number: int) -> list[dict[str, str]]:
    """So many people that an audience takes."""
    cells = {f"c{column:02}": "v" for column in range(CELLS - 1)}
    return [{"phone_number": f"+1212{5550000 + index}", **cells} for index in range(number)]


def csv(number: int) -> str:
    """So many people in a file."""
    found = rows(number)
    return "\n".join((",".join(found[0]), *(",".join(row.values()) for row in found)))


def call_tools(number: int) -> list[dict[str, Any]]:
    """So many tools of an agent, each with all that it may have in words."""
    asks = {"type": "http", "description": "a" * 1_000, "url": f"https://example.com/{'a' * 1_900}"}
    properties = {f"p{index:02}": {"type": "string", "description": "a" * 80} for index in range(20)}
    shape = {"parameters": {"type": "object", "properties": properties}}
    return [{**asks, **shape, "name": f"tool_{index}"} for index in range(number)]


_KNOWN: Mapping[str, Callable[[int], Any]] = {
    "rows": lambda entries: rows(ROWS * entries // ENTRIES),
    "csv": lambda entries: csv(LINES * entries // ENTRIES),
    "variables": lambda entries: {f"c{column:02}": "v" for column in range(max(1, (CELLS - 1) * entries // ENTRIES))},
    "call_tools": lambda entries: call_tools(max(1, CALL_TOOLS * entries // ENTRIES)),
    "end": lambda _: "18:00",
    "wait_seconds": lambda _: 0,
    "parts_of_day": lambda _: ["morning", "afternoon", "evening"],
}
"""Fields of which a schema does not say all: what a row is, that a window ends behind its beginning, that each part of
the day is named once. Nothing waits: looking again and again costs as much after a small input."""
_CHOSEN = "forward"
"""What is chosen where it may be: it alone allows the field beside it that says where to."""


def filled(model: type[Input], fields: Iterable[str], entries: int) -> dict[str, Any]:
    """An input that has all of these fields, each as long as it may be, or half as long for half as many entries."""
    schema = model.model_json_schema(mode="validation")
    defs = cast("dict[str, _Json]", schema.get("$defs", {}))
    return _fields({name: schema["properties"][name] for name in fields}, defs, entries)


def _fields(nodes: Mapping[str, _Json], defs: Mapping[str, _Json], entries: int) -> dict[str, Any]:
    return {
        name: _KNOWN[name](entries) if name in _KNOWN else _full(node, defs, entries) for name, node in nodes.items()
    }


def _full(node: _Json, defs: Mapping[str, _Json], entries: int) -> Any:
    if "$ref" in node:
        node = {**defs[str(node["$ref"]).rsplit("/", 1)[-1]], **node}
    if "examples" in node and "items" not in node:
        return node["examples"][0]
    if "const" in node or "enum" in node:
        words = node.get("enum", [node.get("const")])
        return _CHOSEN if _CHOSEN in words else words[0]
    if "anyOf" in node:
        return _full(next(one for one in node["anyOf"] if one.get("type") != "null"), defs, entries)
    match node["type"]:
        case "array":
            return [_full(node["items"], defs, entries)] * max(1, node["maxItems"] * entries // ENTRIES)
        case "object" if "properties" in node:
            return _fields(node["properties"], defs, entries)
        case "object":
            most = max(1, node["maxProperties"] * entries // ENTRIES)
            return {name: _full(node["additionalProperties"], defs, entries) for name in keys(most)}
        case "string":
            return "a" * max(1, node.get("maxLength", 1) * entries // ENTRIES)
        case "boolean":
            return True
        case _:
            return node.get("maximum", node.get("minimum", 1))
