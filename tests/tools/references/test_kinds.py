"""Which arguments refer to what, found by the contract's types."""

import re
from functools import cache

import pytest

from callwright.tools.catalogue.registry import TOOLS, tool_named
from callwright.tools.references.kinds import KINDS, numbers_of, references_of
from callwright.tools.runtime.tool import Tool
from callwright.tools.serving.definitions import definitions

each_tool = pytest.mark.parametrize("tool", TOOLS, ids=[tool.name for tool in TOOLS])
_IS_ID = re.compile(r"^(id|[a-z_]+_ids?)$")
WITHOUT_A_NAME = {"import_id", "plan_id", "event_id", "delivery_id", "actor_id", "source_call_id"}
"""Ids of things that nobody gives a name to, and of keys, which no tool lists."""
DEFINITIONS = cache(definitions)


@each_tool
def test_every_argument_that_takes_an_id_takes_a_name_too(tool: Tool) -> None:
    ids = {name for name in tool.arguments.model_fields if _IS_ID.match(name)}
    unnamed = ("events", "do_not_call", "compliance_reviews")
    nameless = {"id"} if tool.operation.noun in unnamed else set[str]()
    assert set(references_of(tool.arguments)) == ids - WITHOUT_A_NAME - nameless - {"external_id"}


@each_tool
def test_every_argument_in_e164_is_repaired(tool: Tool) -> None:
    properties = DEFINITIONS()[tool.name]["inputSchema"]["properties"]
    references = {tool.shown(name) for name in references_of(tool.arguments)}
    numbers = {
        name
        for name, schema in properties.items()
        if schema.get("type") == "string"
        and "pattern" not in schema
        and "E.164" in schema.get("description", "")
        and name not in references
    }
    assert numbers <= set(numbers_of(tool.arguments))


def test_numbers_to_rent_are_ones_own_and_numbers_called_are_those_of_contacts() -> None:
    assert numbers_of(tool_named("rent_phone_number").arguments)["number"].of_contact is False
    assert numbers_of(tool_named("list_contacts").arguments)["phone_number"].of_contact is True
    assert numbers_of(tool_named("list_calls").arguments)["to"].of_contact is True
    assert numbers_of(tool_named("list_do_not_call").arguments)["number"].of_contact is True


@pytest.mark.parametrize(
    ("noun", "value", "is_id"),
    [
        ("agent", "agt_0Aa1Bb2Cc3Dd4Ee5Ff6Gg7H", True),
        ("agent", "agt_", False),
        ("agent", "agt_1 ", False),
        ("agent", "AGT_1", False),
        ("agent", "dep_1", False),
        ("agent", "agt_one two", False),
        ("voice", "en-US-ada", True),
        ("voice", "en-scotland-isla", True),
        ("voice", "Ada", False),
        ("voice", "jo-ann", False),
        ("phone number", "num_1", True),
        ("phone number", "+12025550100", False),
    ],
)
def test_an_id_is_told_by_its_looks(noun: str, value: str, is_id: bool) -> None:
    kind = next(kind for kind in KINDS if kind.noun == noun)
    assert bool(kind.ids.fullmatch(value)) is is_id


def test_descriptions_say_what_is_taken_besides_an_id() -> None:
    found = definitions()
    drafts = found["create_deployment"]["inputSchema"]["properties"]
    assert "or name" in drafts["agent_id"]["description"]
    assert "E.164 number or label" in drafts["phone_number_ids"]["items"]["description"]
    assert "or name" in found["list_calls"]["inputSchema"]["properties"]["deployment_id"]["description"]
