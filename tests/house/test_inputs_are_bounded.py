"""Whatever an operation or a tool takes has a bound: every text, every list, every object, every form an example."""

import re
from collections.abc import Generator
from typing import Any

from callwright.contract.surface import OPERATIONS
from callwright.tools.catalogue.registry import TOOLS

MODELS = {operation.takes for operation in OPERATIONS.values()} | {tool.arguments for tool in TOOLS}
Json = dict[str, Any]


def nodes(node: Json, defs: Json, where: str) -> Generator[tuple[str, Json]]:
    """Every piece of a schema with its place, references followed."""
    if "$ref" in node:
        node = defs[node["$ref"].rsplit("/", 1)[-1]]
    yield where, node
    for branch in node.get("anyOf", []):
        yield from nodes(branch, defs, where)
    for name, inside in node.get("properties", {}).items():
        yield from nodes(inside, defs, f"{where}.{name}")
    for place in ("items", "additionalProperties"):
        if isinstance(node.get(place), dict):
            yield from nodes(node[place], defs, f"{where}[]")


def every_node() -> list[tuple[str, Json]]:
    found: list[tuple[str, Json]] = []
    for model in sorted(MODELS, key=lambda one: one.__name__):
        schema = model.model_json_schema(mode="validation")
        found += nodes(schema, schema.get("$defs", {}), model.__name__)
    return found


def test_every_text_list_and_object_of_an_input_has_a_bound() -> None:
    unbounded: set[str] = set()
    for where, node in every_node():
        kind = node.get("type")
        if kind == "string" and not node.keys() & {"maxLength", "enum", "const"} and node.get("format") != "date-time":
            unbounded.add(where)
        if kind == "array" and "maxItems" not in node:
            unbounded.add(where)
        if kind == "object" and node.get("additionalProperties") is not False and "maxProperties" not in node:
            unbounded.add(where)
    assert unbounded == set()


def test_every_form_of_a_text_has_an_example_of_that_form_and_words() -> None:
    found = [(where, node) for where, node in every_node() if "pattern" in node]
    assert found
    for where, node in found:
        examples: list[str] = node["examples"]
        assert examples, where
        assert all(re.search(node["pattern"], example) for example in examples), where
        assert node["description"], where


def test_inputs_refuse_fields_they_do_not_know() -> None:
    for model in MODELS:
        assert model.model_config.get("extra") == "forbid", model.__name__
