"""The real client fits what tools ask of one."""

import json

import anyio
import httpx2
from mcp.types import CallToolResult, ResourceLink, TextContent

from callwright.client.client import Client
from callwright.tools.runtime.tool_context import Caller
from tests.support.tools import samples
from tests.support.tools.fakes import assistant, server

KEY = f"svc_live_{'0' * 48}"
MP3 = b"ID3" + bytes(500)


class Service:
    """A service of two agents and one recording, in the client's own process."""

    def __init__(self) -> None:
        self.requests: list[httpx2.Request] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        path = request.url.path
        if path.endswith("/recording"):
            return httpx2.Response(200, content=MP3, headers={"Content-Type": "audio/mpeg"})
        if path.endswith("/calls/cal_1"):
            return self._answer(samples.call())
        if request.method == "PATCH":
            return self._answer(samples.agent(name="New"))
        problem = {"type": "not_found_error", "code": "not_found", "message": "There is no such agent."}
        return httpx2.Response(404, json={"error": problem})

    def _answer(self, resource: samples.Resource) -> httpx2.Response:
        return httpx2.Response(200, json={"data": resource.model_dump(mode="json", by_alias=True)})


async def called(name: str, arguments: dict[str, object]) -> tuple[CallToolResult, Service]:
    service = Service()
    with anyio.fail_after(5):
        async with Client("http://service.test/v1", KEY, transport=httpx2.MockTransport(service)) as real:
            caller: Caller = real
            async with assistant(server(caller), "auto") as client:
                return await client.call_tool(name, arguments), service


async def test_a_change_sends_only_what_was_given() -> None:
    result, service = await called("update_agent", {"agent_id": "agt_1", "name": "New"})
    assert not result.is_error
    assert json.loads(service.requests[0].content) == {"name": "New"}


async def test_a_recording_is_described_without_reading_it_whole() -> None:
    result, _ = await called("get_recording", {"call_id": "cal_1"})
    assert [block.size for block in result.content if isinstance(block, ResourceLink)] == [len(MP3)]


async def test_a_problem_comes_through_with_its_next_step() -> None:
    result, _ = await called("get_agent", {"agent_id": "agt_9"})
    assert result.is_error
    block = result.content[0]
    assert isinstance(block, TextContent)
    assert block.text == "There is no such agent. list_agents shows what exists."
