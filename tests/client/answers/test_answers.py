import traceback
from typing import Any

import pytest

from callwright.client import UnexpectedAnswer
from callwright.client.answers import output_of
from callwright.client.transport import Response
from callwright.contract.agents.agents import list_agents
from callwright.contract.calls.calls import GetRecording, get_recording
from callwright.contract.declaration.model import Input, Resource
from callwright.contract.declaration.operation import Operation
from callwright.contract.deployments.deployments import preview_deployment
from callwright.contract.deployments.dialling import RetryPolicy
from tests.client.scripted import AGENT, ScriptedService, client_of, many, one, scripted


async def test_one_resource_is_read_from_its_envelope() -> None:
    async with client_of(ScriptedService(one(AGENT))) as client:
        agent = await client.agents.get(id="agt_1")
    assert (agent.id, agent.name, agent.created_at.year) == ("agt_1", "Ada", 2026)


@pytest.mark.requirement("VER-02")
async def test_fields_of_a_newer_service_are_kept_at_every_depth() -> None:
    audience: dict[str, Any] = {
        "id": "aud_1",
        "created_at": AGENT["created_at"],
        "updated_at": AGENT["updated_at"],
        "name": "n",
        "description": "",
        "status": "ready",
        "phone_column": "phone_number",
        "dedupe": "phone",
        "columns": [{"name": "a", "type": "string", "fill_rate": 1.0, "unit": "m"}],
        "row_count": 1,
        "valid_count": 1,
        "invalid_count": 0,
        "duplicate_count": 0,
        "metadata": {},
        "owner": "Ada",
    }
    page = many([audience], estimated=True)
    async with client_of(ScriptedService(page)) as client:
        read = await client.audiences.list()
    assert read.data[0].model_extra == {"owner": "Ada"}
    assert read.data[0].columns[0].model_extra == {"unit": "m"}
    assert read.pagination.model_extra == {"estimated": True}


def test_parts_that_refuse_unknown_fields_from_callers_take_them_from_the_service() -> None:
    class Rules(Resource):
        retry_policy: RetryPolicy

    operation = Operation[..., Input, Rules](
        name="get_rules",
        noun="rules",
        method="GET",
        path="/rules",
        takes=Input,
        shape="one",
        item=Rules,
        status=200,
        summary="",
        problems=(),
    )
    read = output_of(operation, b'{"data":{"retry_policy":{"max_attempts":4,"on_holidays":true}}}', status=200)
    assert read.retry_policy.max_attempts == 4


async def test_a_removal_gives_nothing() -> None:
    async with scripted(Response(204)) as (service, client):
        assert await client.agents.delete(id="agt_1") is None
    assert service.only.method == "DELETE"


@pytest.mark.parametrize(
    "body", [b"", b"<html>+12025550100</html>", b"{}", b'{"data":null}', b'{"data":{"id":"+12025550100"}}', b"[" * 5000]
)
async def test_an_answer_that_does_not_fit_is_named_without_its_values(body: bytes) -> None:
    answer = Response(200, content=body, headers={"X-Request-Id": "req_9"})
    async with client_of(ScriptedService(answer)) as client:
        with pytest.raises(UnexpectedAnswer, match="the answer to get_agent does not fit") as caught:
            await client.agents.get(id="agt_1")
    assert "+12025550100" not in "".join(traceback.format_exception(caught.value))
    assert (caught.value.status, caught.value.request_id) == (200, "req_9")
    assert not caught.value.retryable


def test_a_page_is_not_taken_for_a_resource_nor_a_resource_for_a_page() -> None:
    with pytest.raises(UnexpectedAnswer):
        output_of(list_agents, one(AGENT).content, status=200)
    with pytest.raises(UnexpectedAnswer):
        output_of(preview_deployment, many([]).content, status=200)


async def test_bytes_are_not_asked_for_as_json() -> None:
    async with client_of(ScriptedService(one(AGENT))) as client:
        with pytest.raises(TypeError, match="use open"):
            await client.ask(get_recording, GetRecording(call_uuid="cal_1"))
