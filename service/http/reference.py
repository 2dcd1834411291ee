"""The reference pages, made from the contract: operations, problem codes, events."""

from collections.abc import Iterable, Mapping
from typing import Any

from callwright.contract.events import EVENT_TYPES
from callwright.contract.operation import AnyOperation
from callwright.contract.problems import EVERYWHERE, PROBLEMS

from .routes import PREFIX


def operations_page(operations: Iterable[AnyOperation]) -> str:
    """Every operation: where it is, what it takes and gives, which problems it answers with."""
    lines = ["# Operations", "", f"Paths are below `{PREFIX}`; `/api{PREFIX}` is the same.", ""]
    noun = ""
    for operation in operations:
        if operation.noun != noun:
            noun = operation.noun
            lines += [f"## {noun.replace('_', ' ').capitalize()}", ""]
        lines += _operation(operation)
    return "\n".join(lines).rstrip() + "\n"


def _operation(operation: AnyOperation) -> list[str]:
    lines = [f"### {operation.name}", "", f"`{operation.method} {operation.path}`: {operation.summary}", ""]
    schema = operation.takes.model_json_schema()
    fields = operation.takes.model_fields
    if fields:
        lines += ["| field | in | type | required | meaning |", "|---|---|---|---|---|"]
        for name, field in fields.items():
            shape = schema["properties"][name]
            said = _cell(shape.get("description") or _said(shape, schema))
            needed = "yes" if field.is_required() else ""
            place = operation.place_of(name)
            lines.append(f"| `{operation.wire_name(name)}` | {place} | {type_of(shape, schema)} | {needed} | {said} |")
        lines.append("")
    if operation.sorts:
        lines += [f"Sorts by: {', '.join(f'`{name}`' for name in operation.sorts)}.", ""]
    if operation.counting:
        lines += [operation.counting, ""]
    if operation.shape == "media":
        lines += [f"Answers {operation.status} with {' or '.join(operation.media_types)}.", ""]
    elif operation.item is None:
        lines += [f"Answers {operation.status} with nothing.", ""]
    else:
        lines += [f"Answers {operation.status} with:", "", *_answer(operation.item), ""]
    codes = [problem for problem in operation.problems if problem not in EVERYWHERE]
    if codes:
        lines += ["Problems: " + ", ".join(f"[`{p.code}`](errors.md#{p.code})" for p in codes) + ".", ""]
    return lines


def _answer(model: Any) -> list[str]:
    schema = model.model_json_schema(mode="serialization")
    lines = ["| field | type | meaning |", "|---|---|---|"]
    for name, shape in schema["properties"].items():
        said = _cell(shape.get("description") or _said(shape, schema))
        lines.append(f"| `{name}` | {type_of(shape, schema)} | {said} |")
    return lines


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _said(shape: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """The words of what a field refers to."""
    for choice in (shape, *shape.get("anyOf", ()), shape.get("items", {})):
        if "$ref" in choice:
            return str(schema["$defs"][choice["$ref"].rsplit("/", 1)[1]].get("description", ""))
    return ""


def type_of(shape: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """A field's type in a word or two."""
    if "$ref" in shape:
        name = shape["$ref"].rsplit("/", 1)[1]
        return _values(schema["$defs"][name]) or name
    if "anyOf" in shape:
        return " or ".join(dict.fromkeys(type_of(choice, schema) for choice in shape["anyOf"]))
    if shape.get("type") == "array":
        return f"list of {type_of(shape.get('items', {}), schema)}"
    return _values(shape) or str(shape.get("format") or shape.get("type") or "any")


def _values(shape: Mapping[str, Any]) -> str:
    if "const" in shape:
        return f"`{shape['const']}`"
    return ", ".join(f"`{value}`" for value in shape.get("enum", ()))


def problems_page() -> str:
    """Every problem code with its status, its meaning, and what to do."""
    lines = ["# Errors", ""]
    for problem in sorted(PROBLEMS.values(), key=lambda entry: (entry.status, entry.code)):
        lines += [f"## {problem.code}", "", f"Status {problem.status}, type `{problem.type}`.", ""]
        lines += [f"{problem.meaning} {problem.remedy}", ""]
    return "\n".join(lines).rstrip() + "\n"


def events_page() -> str:
    """Every event type with its data."""
    lines = ["# Events", ""]
    for event in EVENT_TYPES.values():
        lines += [f"## {event.name}", "", f"Fires when {event.fires}.", "", *_answer(event.data), ""]
    return "\n".join(lines).rstrip() + "\n"
