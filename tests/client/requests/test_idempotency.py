from contextlib import suppress

import pytest

from callwright.client import InvalidArguments, ServiceFailed, UnexpectedAnswer
from callwright.client.transport import Response
from callwright.contract.agents.agents import CreateAgent, GetAgent, create_agent, get_agent
from tests.client.scripted import AGENT, ScriptedService, client_of, many, nested, one, scripted

ADA = CreateAgent(name="Ada", voice_id="v", language="en-US", system_prompt="p")


@pytest.mark.requirement("IDEM-17")
async def test_every_post_gets_a_key_of_its_own_and_nothing_else_does() -> None:
    async with scripted(
        one(AGENT, 201), one(AGENT, 201), one(AGENT), many([]), one(AGENT), Response(204), nested(404, "not_found")
    ) as (service, client):
        await client.ask(create_agent, ADA)
        await client.ask(create_agent, ADA)
        await client.agents.get(id="agt_1")
        await client.agents.list()
        await client.agents.update(id="agt_1", name="Eve")
        await client.agents.delete(id="agt_1")
        with pytest.raises(Exception, match="not_found"):
            await client.deployments.pause(id="dep_1")
    assert service.keys == ["key-1", "key-2", None, None, None, None, "key-3"]


@pytest.mark.requirement("IDEM-17")
async def test_the_same_key_and_the_same_bytes_go_with_every_retry() -> None:
    async with scripted(Response(503)) as (service, client):
        with pytest.raises(ServiceFailed):
            await client.ask(create_agent, ADA)
    assert service.keys == ["key-1"] * 4
    assert len({request.content for request in service.requests}) == 1


async def test_a_key_of_the_caller_is_used_over_all_retries() -> None:
    async with scripted(Response(500), one(AGENT, 201)) as (service, client):
        await client.ask(create_agent, ADA, idempotency_key="mine")
    assert service.keys == ["mine", "mine"]


async def test_a_bound_key_serves_one_post_and_leaves_reads_alone() -> None:
    async with scripted(one(AGENT), one(AGENT), one(AGENT, 201)) as (service, client):
        once = client.idempotent("mine")
        await once.agents.get(id="agt_1")
        with suppress(UnexpectedAnswer):  # a POST that only reads
            await once.deployments.preview(id="dep_1")
        await once.agents.create(name="Ada", voice_id="v", language="en-US", system_prompt="p")
        with pytest.raises(InvalidArguments, match="has served its one request"):
            await once.agents.create(name="Eve", voice_id="v", language="en-US", system_prompt="p")
        await client.ask(create_agent, ADA)
    assert service.keys == [None, "key-1", "mine", "key-2"]


@pytest.mark.parametrize("key", ["", "a b", "a\r\nX-Other: 1", "é", "x" * 256])
async def test_a_key_that_cannot_be_one_is_refused(key: str) -> None:
    async with scripted(one(AGENT, 201)) as (service, client):
        with pytest.raises(InvalidArguments, match="idempotency key"):
            await client.ask(create_agent, ADA, idempotency_key=key)
    assert service.requests == []


async def test_a_key_for_anything_but_a_post_is_refused_because_the_service_would_ignore_it() -> None:
    async with client_of(ScriptedService(one(AGENT))) as client:
        with pytest.raises(InvalidArguments, match="only a POST"):
            await client.ask(get_agent, GetAgent(id="agt_1"), idempotency_key="mine")
