"""The catalogue against the contract: nothing missing, nothing extra, every promise stated."""

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any, cast, get_args

import pytest

from callwright.contract.calls.calls import OUTCOMES, Disposition
from callwright.contract.declaration.marks import Secret, mark_of
from callwright.contract.problems import PROBLEMS
from callwright.contract.surface import OPERATIONS
from callwright.prompts.registry import PROMPTS
from callwright.server.mcp.instructions import instructions
from callwright.tools.catalogue.registry import TOOLS
from callwright.tools.replies.errors import FINDERS, LOOKS, NEXT, looks
from callwright.tools.runtime.tool import Tool
from callwright.tools.serving.definitions import FILE, definitions, file_text
from callwright.tools.toolsets import TOOLSETS

DEFINITIONS = definitions()
NAMES = {tool.name for tool in TOOLS}
WITHOUT = {name for name, operation in OPERATIONS.items() if operation.no_tool is not None}
"""The operations that assistants have no tool for, each with its reason."""

_VERBS = (
    "list|get|create|update|delete|add|import|search|rent|release|preview|start|pause|resume|cancel|hang|rotate|test|"
    "replay|explain|place|read|clone|remove"
)
_MENTION = re.compile(rf"\b(?:{_VERBS})_[a-z_]+\b")
OF_ONE_SHAPE = {
    *("list_transactions", "list_agents", "list_voices", "list_audiences", "list_phone_numbers"),
    *("search_available_numbers", "list_deployments", "search_transcripts"),
}
"""Lists whose tools offer no choice of fields: there is a tool that gives one entry whole."""
each_tool = pytest.mark.parametrize("tool", TOOLS, ids=[tool.name for tool in TOOLS])


def _walk(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    for sub in schema.get("properties", {}).values():
        yield from _walk(sub)
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield from _walk(cast("dict[str, Any]", schema[key]))
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for sub in schema.get(key, []):
            yield from _walk(sub)


def _input(tool: Tool) -> dict[str, Any]:
    return DEFINITIONS[tool.name]["inputSchema"]


ARGUMENTS = {name for tool in TOOLS for node in _walk(_input(tool)) for name in node.get("properties", {})}


def _unknown_names(text: str) -> set[str]:
    return set(_MENTION.findall(text)) - NAMES - ARGUMENTS


def test_every_operation_has_one_tool_and_every_tool_an_operation() -> None:
    assert sorted(tool.name for tool in TOOLS) == sorted(set(OPERATIONS) - WITHOUT)


@pytest.mark.requirement("PROVIDER-11")
@each_tool
def test_no_tool_offers_a_secret_to_be_said(tool: Tool) -> None:
    """What an assistant is to pass on stands in the conversation, with whoever keeps it."""
    said = [name for name in tool.offered if mark_of(tool.arguments, name, Secret) is not None]
    assert said == []
    takes = OPERATIONS["set_provider"].takes
    assert [name for name in takes.model_fields if mark_of(takes, name, Secret) is not None] == ["key"]


@each_tool
def test_a_tool_has_words_hints_and_a_toolset(tool: Tool) -> None:
    found = DEFINITIONS[tool.name]
    assert found["title"]
    assert 60 <= len(found["description"]) <= 1_024
    hints = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
    assert {hint: type(found["annotations"].get(hint)) for hint in hints} == dict.fromkeys(hints, bool)
    assert found["toolset"] in TOOLSETS


@each_tool
def test_a_tool_that_only_reads_has_an_operation_that_writes_nothing(tool: Tool) -> None:
    writes = tool.operation.writes
    assert tool.hints.read_only is not writes
    assert not (tool.hints.read_only and tool.hints.destructive)


@each_tool
def test_a_description_says_what_the_tool_costs_or_that_it_is_free(tool: Tool) -> None:
    said = tool.description.lower()
    if tool.hints.read_only:
        assert "free" in said or "costs nothing" in said
    else:
        assert re.search(r"\b(?:cost|spend|charge|paying|free\b)", said)


@pytest.mark.parametrize("name", ["start_deployment", "resume_deployment"])
def test_tools_that_dial_say_so_first(name: str) -> None:
    assert DEFINITIONS[name]["description"].startswith("DIALS PEOPLE AND SPENDS MONEY")


def test_the_tool_that_calls_one_person_says_first_that_it_dials_and_spends() -> None:
    assert DEFINITIONS["place_call"]["description"].startswith("DIALS AND SPENDS MONEY")


def test_a_campaign_needs_a_number_to_call_from_and_no_name() -> None:
    assert _input(next(tool for tool in TOOLS if tool.name == "create_deployment"))["required"] == [
        *("agent_id", "audience_id", "phone_number_ids"),
    ]


CLOSED = [
    *(("list_calls", name) for name in ("outcome", "disposition")),
    *(("list_contacts", name) for name in ("last_outcome", "last_disposition")),
    *(("read_conversations", "disposition"), ("search_transcripts", "disposition")),
]
"""Arguments whose values are a closed list."""


@pytest.mark.parametrize(("name", "argument"), CLOSED)
def test_a_closed_list_is_given_whole(name: str, argument: str) -> None:
    schema = DEFINITIONS[name]["inputSchema"]["properties"][argument]
    known = OUTCOMES if argument.endswith("outcome") else get_args(Disposition)
    assert tuple(schema.get("items", schema)["enum"]) == known


def test_the_tool_that_rents_says_first_that_it_spends() -> None:
    assert DEFINITIONS["rent_phone_number"]["description"].startswith("SPENDS MONEY")


@pytest.mark.parametrize("name", ["add_audience_rows", "import_audience", "update_deployment", "hang_up_call"])
def test_tools_with_a_hidden_side_effect_say_it_first(name: str) -> None:
    assert DEFINITIONS[name]["description"].startswith("Side effect:")


def test_creating_a_deployment_warns_of_auto_start() -> None:
    assert "auto_start=true IT DIALS AND SPENDS MONEY" in DEFINITIONS["create_deployment"]["description"]


@each_tool
def test_arguments_are_an_object_without_references_or_combinators(tool: Tool) -> None:
    schema = _input(tool)
    assert schema["type"] == "object"
    assert not {"anyOf", "oneOf", "allOf", "not", "$ref"} & set(schema)
    assert all(not {"$ref", "$defs", "title", "examples"} & set(node) for node in _walk(schema))
    emptied = [node for node in _walk(schema) if {"type": "null"} in node.get("anyOf", ())]
    assert list(_walk(schema)).count({"type": "null"}) == len(emptied)
    assert all(len(node["anyOf"]) == 2 for node in emptied)
    assert not emptied or tool.operation.method == "PATCH", "only what is there can be emptied"


@each_tool
def test_every_argument_is_described(tool: Tool) -> None:
    bare = [
        name
        for node in _walk(_input(tool))
        for name, sub in node.get("properties", {}).items()
        if not sub.get("description")
    ]
    assert bare == []


@each_tool
def test_arguments_carry_their_plain_names(tool: Tool) -> None:
    assert set(_input(tool)["properties"]) == set(map(tool.shown, tool.offered))
    assert set(tool.operation.takes.model_fields) <= set(tool.arguments.model_fields)
    assert tool.hidden | tool.collapsed | {name.split(".")[0] for name in tool.argument_descriptions} <= set(
        tool.arguments.model_fields
    )


@each_tool
def test_a_list_is_paged_by_cursor_and_lets_fields_be_chosen(tool: Tool) -> None:
    if not tool.many:
        assert not tool.default_fields
        return
    assert {"cursor", "per_page"} <= set(tool.offered)
    assert "page" not in tool.offered
    assert tool.default_fields
    assert set(tool.default_fields) <= set(tool.entry_fields)
    more = set(tool.default_fields) < set(tool.entry_fields)
    assert ("fields" in tool.offered) is (more and tool.name not in OF_ONE_SHAPE)
    entry = DEFINITIONS[tool.name]["outputSchema"]["properties"]["data"]["items"]
    assert entry == {"type": "object", "description": f"{', '.join(tool.default_fields)}."}


@each_tool
def test_an_answer_has_a_schema_of_its_own(tool: Tool) -> None:
    schema = DEFINITIONS[tool.name]["outputSchema"]
    assert schema["type"] == "object"
    assert schema["properties"]
    assert all(not {"$ref", "$defs", "title"} & set(node) for node in _walk(schema))


@each_tool
def test_words_name_only_tools_that_exist(tool: Tool) -> None:
    words = [tool.description, *(node.get("description", "") for node in _walk(_input(tool)))]
    assert _unknown_names(" ".join(words)) == set()


def test_instructions_name_only_tools_that_exist() -> None:
    text = instructions()
    assert _unknown_names(text) == set()
    assert set(_MENTION.findall(text)) & NAMES
    assert len(text.encode()) <= 2_000


@pytest.mark.parametrize("name", [prompt.name for prompt in PROMPTS])
def test_prompts_name_only_tools_that_exist(name: str) -> None:
    text = next(prompt for prompt in PROMPTS if prompt.name == name).template()
    assert _unknown_names(text) == set()
    assert set(_MENTION.findall(text)) & NAMES


def test_every_problem_code_has_a_next_step() -> None:
    assert set(NEXT) == set(PROBLEMS)


def test_next_steps_name_only_tools_that_exist() -> None:
    assert _unknown_names(" ".join(NEXT.values())) == set()
    assert {*FINDERS.values(), *chain.from_iterable(LOOKS.values())} <= NAMES


@each_tool
def test_there_is_a_tool_to_look_with_after_a_lost_answer(tool: Tool) -> None:
    assert looks(tool.operation)
    assert set(looks(tool.operation)) <= NAMES


def test_the_stored_definitions_are_up_to_date() -> None:
    assert FILE.read_text(encoding="utf-8") == file_text()
