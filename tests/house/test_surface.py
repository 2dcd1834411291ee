"""Every operation of the contract reaches all the way: handler, description, client, tool, test."""

import re
from pathlib import Path

import pytest

from callwright.client import client_methods
from callwright.contract.surface import OPERATIONS
from callwright.service.handlers import registry
from callwright.service.handlers.request_context import HANDLERS, MEDIA_HANDLERS
from callwright.service.rest.documentation.openapi import describe

TESTS = Path(__file__).parents[1] / "service"


def missing_and_extra(found: set[str]) -> dict[str, list[str]]:
    """What a list lacks of the contract's operations, and what it has beyond them."""
    return {"missing": sorted(set(OPERATIONS) - found), "extra": sorted(found - set(OPERATIONS))}


NOTHING: dict[str, list[str]] = {"missing": [], "extra": []}


@pytest.mark.requirement("SERV-11")
def test_every_operation_has_a_handler() -> None:
    registry.load()
    assert missing_and_extra(set(HANDLERS) | set(MEDIA_HANDLERS)) == NOTHING
    assert set(MEDIA_HANDLERS) == {op.name for op in OPERATIONS.values() if op.shape == "media"}


def test_every_operation_is_described_in_openapi() -> None:
    described = {entry["operationId"] for methods in describe()["paths"].values() for entry in methods.values()}
    assert missing_and_extra(described) == NOTHING


@pytest.mark.requirement("SERV-11", "VER-06")
def test_every_operation_has_a_client_method() -> None:
    assert missing_and_extra(set(client_methods())) == NOTHING


@pytest.mark.requirement("SERV-11")
def test_every_operation_has_a_tool() -> None:
    from callwright.tools.catalogue.registry import TOOLS  # loads the MCP SDK, which the other tests here do without

    without = {name for name, operation in OPERATIONS.items() if operation.no_tool is not None}
    secret = {"set_provider", "set_call_tool_secret"}  # they take what must not stand in a conversation
    assert without == {*secret, "ask_confirmation"}, "tools that dial or spend ask by themselves"
    assert missing_and_extra({tool.name for tool in TOOLS} | without) == NOTHING
    assert not without & {tool.name for tool in TOOLS}
    assert [tool.name for tool in TOOLS if tool.operation is not OPERATIONS[tool.name]] == []


def test_every_client_method_is_called_in_a_test_of_the_service() -> None:
    """The text `.agents.create` or `numbers = tenant.client.phone_numbers` … `numbers.rent` occurs."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(TESTS.rglob("test_*.py"))]
    methods = client_methods()
    assert sorted(name for name, method in methods.items() if not any(called(method, text) for text in texts)) == []


def called(method: str, text: str) -> bool:
    """Whether a test's text calls a client method, directly or through a name that it gave the noun."""
    noun, _, name = method.partition(".")
    names = {f"client.{noun}", *re.findall(rf"^\s*(\w+) = [\w.]*client\.{noun}$", text, re.M)}
    return any(re.search(rf"\b{re.escape(each)}\.{name}\b", text) for each in names)


def test_a_method_that_nobody_calls_would_be_noticed() -> None:
    assert called("agents.create", "await tenant.client.agents.create(name='Ada')")
    assert called("agents.list", "    agents = tenant.client.agents\n    agents.list()")
    assert not called("agents.list", "tenant.client.audiences.list()")
    assert not called("audiences.list", "tenant.client.audiences.list_rows()")
