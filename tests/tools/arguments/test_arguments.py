"""Strict arguments and what is said about wrong ones."""

from datetime import UTC, datetime
from typing import Any, get_args

import pytest
from mcp.server.mcpserver.exceptions import ToolError

from callwright.contract.calls.calls import ListCalls
from callwright.contract.declaration.field_types import Spend
from callwright.contract.declaration.model import Input
from callwright.contract.deployments.deployments import CreateDeployment, GetDeployment, UpdateDeployment
from callwright.tools.arguments.arguments import bounded, narrowed, takes_text, validated
from callwright.tools.arguments.understood import Understood
from callwright.tools.catalogue.registry import TOOLS, tool_named
from callwright.tools.replies.waiting_for_campaigns import GetDeploymentWaiting
from callwright.tools.runtime.tool import Tool
from callwright.tools.serving.definitions import definitions

DRAFT = {"name": "C", "agent_id": "agt_1", "audience_id": "aud_1", "phone_number_ids": ["num_1"]}


def taken(tool: Tool, arguments: dict[str, Any]) -> Input:
    return validated(tool, bounded(tool, Understood(tool, arguments).arguments))


def refusal(name: str, arguments: dict[str, Any]) -> str:
    with pytest.raises(ToolError) as caught:
        taken(tool_named(name), arguments)
    return str(caught.value)


def test_an_unknown_argument_is_named_with_the_allowed_ones() -> None:
    said = refusal("get_agent", {"agent_id": "agt_1", "agents": "x"})
    assert said.startswith("Invalid arguments: agents: unknown argument. Did you mean agent_id? ")
    assert said.endswith("Allowed: agent_id, version, compare_to, prompt_from.")


def test_a_missing_argument_is_named() -> None:
    assert refusal("get_agent", {}) == "Invalid arguments: agent_id: required"


def test_what_the_tool_alone_requires_is_named_beside_every_other_fault() -> None:
    draft = {name: value for name, value in DRAFT.items() if name != "phone_number_ids"}
    assert refusal("create_deployment", draft) == "Invalid arguments: phone_number_ids: required"
    said = refusal("create_deployment", {**draft, "agent_id": 7})
    assert said.startswith("Invalid arguments: phone_number_ids: required; agent_id: should be ")


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"per_page": "many"}, "per_page"),
        ({"per_page": 0}, "per_page"),
        ({"status": "finished"}, "status.0"),
        ({"created_from": 1_700_000_000}, "created_from"),
        ({"created_from": "yesterday"}, "created_from"),
        ({"outcome": ["answered", "sunny"]}, "outcome.1"),
    ],
)
def test_a_wrong_value_is_refused_by_field(arguments: dict[str, Any], field: str) -> None:
    assert refusal("list_calls", arguments).startswith(f"Invalid arguments: {field}: ")


def test_refused_values_are_not_repeated() -> None:
    said = refusal("create_agent", {"name": 12025550100, "voice_id": "v", "language": "secret words", "hidden": "pin"})
    assert "12025550100" not in said
    assert "secret words" not in said
    assert "pin" not in said


def test_nested_unknown_fields_are_named_by_their_path() -> None:
    said = refusal("create_deployment", {**DRAFT, "retry_policy": {"tries": 3}})
    assert said.startswith("Invalid arguments: retry_policy.tries: unknown argument. Allowed: max_attempts, interval_")


def test_the_argument_that_was_meant_is_named() -> None:
    said = refusal("create_deployment", {**DRAFT, "retry_policy": {"max_atempts": 3}})
    assert "retry_policy.max_atempts: unknown argument. Did you mean max_attempts? Allowed: " in said


def test_the_wrong_word_of_a_list_is_repeated_and_a_number_is_not() -> None:
    said = refusal("list_calls", {"outcome": ["answered", "sun\u2014ny" * 20, "+12025550100"]})
    assert said.count("outcome.1: should be 'answered', ") == said.count('not "sun\u2014nysun') == 1
    assert len(said) < 1_000
    assert "+12025550100" not in said


def test_a_form_is_said_in_words_with_an_example() -> None:
    said = refusal("create_agent", {"name": "A", "voice_id": "v", "language": "english!", "system_prompt": "Hi."})
    assert said.startswith("Invalid arguments: language: has the wrong form; a right one is en-US. BCP-47")
    assert "^" not in said


def test_a_rule_between_fields_is_said_in_plain_words() -> None:
    said = refusal("create_deployment", {**DRAFT, "voicemail": {"action": "leave_message"}})
    assert said == "Invalid arguments: voicemail: message_template is required when action is leave_message"


def test_many_faults_are_cut() -> None:
    said = refusal("create_agent", {f"field{number}": 1 for number in range(100)})
    assert said.endswith("; and 80 more")
    assert said.count("Allowed: ") == 1


@pytest.mark.parametrize("value", ["\ud800", float("nan")])
def test_what_json_cannot_carry_is_refused_in_words(value: object) -> None:
    said = refusal("get_agent", {"agent_id": value})
    assert said.startswith("Invalid arguments: ")
    assert "\ud800" not in said


def test_a_null_character_is_refused() -> None:
    said = refusal("create_audience", {"name": "a\x00b"})
    assert said.startswith("Invalid arguments: name: must not contain the character U+0000")


def test_an_object_sent_as_json_text_is_read_as_the_object() -> None:
    asked = taken(tool_named("create_deployment"), {**DRAFT, "retry_policy": '{"max_attempts": 2}'})
    assert isinstance(asked, CreateDeployment)
    assert asked.retry_policy.max_attempts == 2


def test_a_list_sent_as_json_text_is_read_as_the_list() -> None:
    asked = taken(tool_named("list_calls"), {"outcome": '["answered"]'})
    assert isinstance(asked, ListCalls)
    assert asked.outcome == ["answered"]


def test_text_that_looks_like_json_stays_text_where_text_is_meant() -> None:
    asked = taken(
        tool_named("create_agent"),
        {"name": "[1]", "voice_id": "v", "language": "en", "system_prompt": '{"a": 1}', "welcome_message": "[]"},
    )
    assert asked.model_dump()["system_prompt"] == '{"a": 1}'
    assert asked.model_dump()["name"] == "[1]"


def takes_an_amount(annotation: Any) -> bool:
    """Whether it takes a sum, which a definition shows as text."""
    return annotation is Spend or any(map(takes_an_amount, get_args(annotation)))


def test_only_objects_and_lists_are_read_out_of_text() -> None:
    found = definitions()
    for tool in TOOLS:
        own = {shown: own for own, shown in tool.shown_names.items()}
        for shown, schema in found[tool.name]["inputSchema"]["properties"].items():
            name = str(own.get(shown, shown))
            kinds = {choice["type"] for choice in schema.get("anyOf", [schema])}
            field = tool.arguments.model_fields[name]
            structured = bool({"object", "array"} & kinds) or takes_an_amount(field.annotation)
            assert takes_text(field.annotation) is not structured, (tool.name, name)


def test_lists_ask_for_twenty_entries_unless_told_otherwise() -> None:
    assert taken(tool_named("list_calls"), {}).model_dump()["per_page"] == 20
    assert taken(tool_named("list_calls"), {"per_page": 7}).model_dump()["per_page"] == 7


def test_moments_are_read_with_their_offset() -> None:
    asked = taken(tool_named("list_calls"), {"created_from": "2026-11-21T10:30:00+01:00"})
    assert isinstance(asked, ListCalls)
    assert asked.created_from == datetime(2026, 11, 21, 9, 30, tzinfo=UTC)


def test_what_was_not_given_is_not_set() -> None:
    asked = taken(tool_named("update_deployment"), {"id": "dep_1", "name": "New", "budget_cap": None})
    assert isinstance(asked, UpdateDeployment)
    assert asked.model_fields_set == {"id", "name", "budget_cap"}


def test_arguments_of_the_tool_alone_do_not_reach_the_operation() -> None:
    asked = narrowed(GetDeploymentWaiting(id="dep_1", wait_seconds=5), GetDeployment)
    assert type(asked) is GetDeployment
    assert asked.model_fields_set == {"id"}
    assert asked.model_dump() == {"id": "dep_1"}


@pytest.mark.parametrize("number", [10**400, 2**64, -(2**64), 1e30])
def test_a_number_that_json_does_not_carry_whole_is_refused_by_its_row(number: float) -> None:
    said = refusal("add_audience_rows", {"audience_id": "aud_1", "rows": [{"phone": "1"}, {"order": number}]})
    assert said == (
        "Invalid arguments: rows.1: holds a number of more than 19 digits, whose last ones would be lost; "
        "send it as text"
    )
    assert taken(tool_named("add_audience_rows"), {"id": "aud_1", "rows": [{"order": 2**64 - 1, "share": 0.5}]})


@pytest.mark.parametrize(
    "rows",
    [
        [{"phone_number": "+12025550100", "note": "\ud800"}],
        [{"phone_number": "+12025550100", "\ud800": "x"}],
        '[{"phone_number": "+12025550100", "note": "\\ud800"}]',
        '[{"phone_number": "+12025550100", "\\ud800": "x"}]',
        '[{"phone_number": "+12025550100", "note": NaN}]',
    ],
    ids=[
        "in a cell",
        "in a column name",
        "in a cell of JSON text",
        "in a column name of JSON text",
        "NaN in JSON text",
    ],
)
def test_half_a_character_in_a_row_is_refused_and_not_changed(rows: object) -> None:
    said = refusal("add_audience_rows", {"audience_id": "aud_1", "rows": rows})
    assert said.startswith("Invalid arguments: rows")


def of_null(tool: Tool, name: str) -> str:
    try:
        return f"taken as {getattr(validated(tool, {name: None}), name)}"
    except ToolError as error:
        return str(error)


@pytest.mark.parametrize("tool", TOOLS, ids=[tool.name for tool in TOOLS])
def test_null_in_the_place_of_any_argument_is_taken_or_refused_by_name(tool: Tool) -> None:
    for name in tool.offered:
        assert of_null(tool, name).startswith(("taken as ", "Invalid arguments: "))
