"""The program's own protocol server with the fixtures of the conformance suite added, over Streamable HTTP.

It speaks its address on stdout and runs until it is killed. It asks for no key: the suite cannot send one.
"""

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, cast

import anyio
import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.types import EmptyResult, SetLevelRequestParams, SubscribeRequestParams, UnsubscribeRequestParams

from callwright.client.errors import ServiceUnreachable
from callwright.server.embedded.embedded import listener_on
from callwright.server.mcp.app import build, tune_garbage_collector
from callwright.server.mcp.session import ServerSession, SystemClock
from callwright.tools.runtime.tool_context import Caller
from callwright.tools.serving.served import served_tools
from tests.conformance.answering_fixtures import add_answering_tools, add_resources_and_prompts, schema_tool
from tests.conformance.asking_fixtures import add_asking_tools, add_rounds

WATCHED = "test://watched-resource"


@asynccontextmanager
async def _nowhere() -> AsyncGenerator[Caller]:
    raise ServiceUnreachable("the suite needs no service", request_sent=False, repeatable=True)
    yield cast("Caller", None)


def server() -> MCPServer[Any]:
    """The server with everything the suite looks for."""
    session = ServerSession(_nowhere, ids=lambda: "0" * 32, clock=SystemClock(), base_url=None)
    made: MCPServer[Any] = build(session.opened, tools=[*served_tools(), schema_tool()])
    add_answering_tools(made)
    add_resources_and_prompts(made)
    add_asking_tools(made)
    add_rounds(made)

    _add_handlers(made)
    return made


def _add_handlers(made: MCPServer[Any]) -> None:
    inner = made._lowlevel_server  # pyright: ignore[reportPrivateUsage]  # MCPServer has no way to add methods

    async def set_level(_: Any, __: SetLevelRequestParams) -> EmptyResult:
        return EmptyResult()

    # Logging is deprecated, and the product does not serve it; the older requirements still test it.
    inner.add_request_handler("logging/setLevel", SetLevelRequestParams, set_level)

    def unless_watched(method: str, params_type: type[Any]) -> None:
        """The program's own handler, which knows the program's addresses; the suite's one address beside it."""
        own = inner.get_request_handler(method)
        assert own is not None

        async def handle(context: Any, params: Any) -> Any:
            return EmptyResult() if params.uri == WATCHED else await own.handler(context, params)

        inner.add_request_handler(method, params_type, handle)

    unless_watched("resources/subscribe", SubscribeRequestParams)
    unless_watched("resources/unsubscribe", UnsubscribeRequestParams)


async def main() -> None:
    """Serves until killed."""
    with listener_on() as listener:
        host, port = listener.getsockname()[:2]
        application = server().streamable_http_app(host=host)
        tune_garbage_collector()
        print(f"http://{host}:{port}/mcp", flush=True)  # noqa: T201  # the test reads it
        await uvicorn.Server(uvicorn.Config(application, log_level=logging.ERROR)).serve([listener])


if __name__ == "__main__":
    anyio.run(main)
