"""Arguments that only the service at hand takes."""

from typing import Any

import pytest
from mcp.server.mcpserver.exceptions import ToolError

from callwright.client.errors import DoesNotFit
from callwright.contract.agents.agents import CreateAgent, GetAgent, create_agent, get_agent
from callwright.tools.arguments.extras import described, separated, with_extra
from tests.support.tools.fakes import FakeCaller

SCHEMAS: dict[str, dict[str, Any]] = {
    "mood": {"type": "string"},
    "speed": {"type": "number"},
    "count": {"type": ["integer", "null"]},
    "loud": {"type": "boolean"},
    "tags": {"type": "array"},
    "deep": {"type": "object"},
    "any": {"description": "Of any type."},
}
ASKED = CreateAgent(name="Ada", voice_id="v", language="en-US", system_prompt="p")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mood", "kind"),
        ("speed", 1),
        ("speed", 1.5),
        ("count", 3),
        ("count", 3.0),
        ("count", None),
        ("loud", False),
        ("tags", ["a"]),
        ("deep", {"a": 1}),
        ("any", 7),
        ("any", "x"),
        ("mood", "{not an object}"),
    ],
)
def test_a_value_of_the_documents_type_goes_through_as_it_is(name: str, value: Any) -> None:
    assert separated({"id": "agt_1", name: value}, SCHEMAS) == ({"id": "agt_1"}, {name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mood", 1),
        ("speed", "fast"),
        ("speed", True),
        ("count", 1.5),
        ("count", "3"),
        ("loud", 1),
        ("tags", "a"),
        ("tags", {"a": 1}),
        ("deep", [1]),
    ],
)
def test_a_value_of_another_type_is_refused_without_repeating_it(name: str, value: Any) -> None:
    with pytest.raises(ToolError, match=f"Invalid arguments: {name}: should be of type") as caught:
        separated({name: value}, SCHEMAS)
    assert "fast" not in str(caught.value)


def test_an_object_that_a_host_sends_as_text_is_read() -> None:
    assert separated({"tags": '["a"]', "deep": '{"b": 1}'}, SCHEMAS)[1] == {"tags": ["a"], "deep": {"b": 1}}


def test_words_of_the_document_are_cleaned() -> None:
    schema = {"description": "How\u202e it\nspeaks.", "properties": {"a\u200b": {"enum": ["x\u2066"]}}}
    assert described(schema) == {"description": "How it speaks.", "properties": {"a": {"enum": ["x"]}}}


async def test_they_go_along_with_their_operation_alone() -> None:
    caller = FakeCaller()
    tenant = with_extra(caller, create_agent, {"mood": "kind"})
    made = await tenant.ask(create_agent, ASKED, idempotency_key="k")
    assert (made.id, caller.extra) == ("agt_1", {"mood": "kind"})
    await tenant.ask_lenient(get_agent, GetAgent(id="agt_1"))
    assert caller.extra == {}


async def test_an_answer_that_does_not_fit_is_handed_over() -> None:
    caller = FakeCaller(answers={"create_agent": {"id": "agt_1"}})
    with pytest.raises(DoesNotFit) as caught:
        await with_extra(caller, create_agent, {"mood": "kind"}).ask(create_agent, ASKED)
    assert caught.value.data == {"id": "agt_1"}


def test_without_any_the_way_is_the_same() -> None:
    caller = FakeCaller()
    assert with_extra(caller, create_agent, {}) is caller
