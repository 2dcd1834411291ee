from typing import Any, assert_type

import pytest

from callwright.client import Client, DownloadRequest, InvalidArguments, Listing, Surface, client_methods
from callwright.client.client import NOUNS
from callwright.client.method import Noun, OperationMethod, method
from callwright.client.nouns import Agents
from callwright.contract.agents.agents import Agent, get_agent
from callwright.contract.declaration.pagination import Page
from callwright.contract.surface import OPERATIONS
from tests.client.scripted import AGENT, BASE, KEY, ScriptedService, client_of, many, one, scripted


@pytest.mark.requirement("VER-06")
@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_has_a_client_method_on_its_noun(name: str) -> None:
    served_by = client_methods().get(name)
    assert served_by is not None, f"no client method serves {name}"
    assert served_by.partition(".")[0] == OPERATIONS[name].noun


def test_no_client_method_serves_two_operations_nor_an_unknown_one() -> None:
    methods = client_methods()
    assert len(set(methods.values())) == len(methods)
    assert set(methods) - set(OPERATIONS) == set()


def test_an_operation_that_two_methods_serve_is_reported() -> None:
    class Again(Noun):
        read = method(get_agent)

    with pytest.raises(ValueError, match=r"agents\.get and again\.read both serve get_agent"):
        client_methods({"agents": Agents, "again": Again})


def test_every_method_can_be_called_where_it_is_said_to_be() -> None:
    client = Client(BASE, KEY)
    for name, served_by in client_methods().items():
        noun, _, short = served_by.partition(".")
        called: Any = getattr(getattr(client, noun), short)
        assert callable(called)
        assert called.__name__ == short
        assert called.__doc__ == OPERATIONS[name].summary


def test_every_noun_is_an_attribute_of_the_client() -> None:
    client = Client(BASE, KEY)
    assert {name: type(vars(client)[name]) for name in NOUNS} == dict(NOUNS)
    assert [name for name, held in vars(client).items() if isinstance(held, Noun) and name not in NOUNS] == []


async def test_a_method_that_serves_a_list_gives_a_listing_and_one_for_media_a_download() -> None:
    arguments = {"id": "x", "import_id": "y", "call_uuid": "z", "country": "US", "query": "hello"}
    async with client_of(ScriptedService(one(AGENT))) as client:
        for name, served_by in client_methods().items():
            operation = OPERATIONS[name]
            if operation.shape not in ("many", "media"):
                continue
            noun, _, short = served_by.partition(".")
            fitting = {field: arguments[field] for field in operation.takes.model_fields if field in arguments}
            given = getattr(getattr(client, noun), short)(**fitting)
            assert isinstance(given, Listing if operation.shape == "many" else DownloadRequest)


async def test_methods_have_the_types_of_their_operation() -> None:
    async with client_of(ScriptedService(one(AGENT), many([AGENT]))) as client:
        assert_type(await client.agents.get(id="agt_1"), Agent)
        assert_type(await client.agents.list(), Page[Agent])
        assert_type(client.agents.list(per_page=2), Listing[Agent])
        assert_type(client.idempotent("k"), Surface)


async def test_unknown_and_wrong_arguments_are_refused_by_the_type_checker_and_when_called() -> None:
    async with client_of(ScriptedService(one(AGENT))) as client:
        with pytest.raises(InvalidArguments, match="name"):
            await client.agents.get(id="agt_1", name="x")  # pyright: ignore[reportCallIssue]  # no such argument
        with pytest.raises(InvalidArguments, match="id"):
            await client.agents.get(id=7)  # pyright: ignore[reportArgumentType]  # not a string


async def test_positional_arguments_are_refused() -> None:
    agents: Any = Client(BASE, KEY).agents
    with pytest.raises(TypeError, match="keyword arguments only"):
        agents.get("agt_1")


def test_a_method_reached_through_its_class_tells_its_operation() -> None:
    assert isinstance(Agents.get, OperationMethod)
    assert Agents.get.operation is get_agent


async def test_a_bound_client_shares_the_connections_of_its_client() -> None:
    async with scripted(one(AGENT)) as (service, client):
        await client.idempotent("k").agents.get(id="agt_1")
        await client.agents.get(id="agt_1")
    assert len(service.requests) == 2
