"""Builds the MCP server: tools, resources, prompts and completion, ready for any transport.

Building reads two files and imports no models of the contract and no client, so that a host that spawns it waits
little.
"""

import gc
import logging
import sys
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from importlib.metadata import version
from typing import Any

from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.context import Context
from mcp.server.mcpserver.exceptions import ResourceError, UnexpectedResourceError
from mcp.server.mcpserver.tools import Tool
from mcp.server.request_state import RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp.types import GetPromptResult, InputRequiredResult, Resource, ResourceTemplate
from mcp.types import Prompt as ProtocolPrompt
from mcp.types import Tool as ProtocolTool
from pydantic import AnyUrl

from callwright.prompts.registry import offered
from callwright.prompts.served import served_prompts, unknown_prompt
from callwright.server.log_lines import ShortLines
from callwright.server.mcp.apps.extension import Views, with_views
from callwright.server.mcp.completions import complete
from callwright.server.mcp.current import Sessions, current_session, store_sessions
from callwright.server.mcp.instructions import instructions
from callwright.server.mcp.messages import checking, explain_lost_state
from callwright.server.mcp.remote import as_offered
from callwright.server.mcp.resources.recent import fixed_resources, recent_resources
from callwright.server.mcp.resources.resources import SCHEME, address_of, protocol_templates
from callwright.server.mcp.session import ServerSession
from callwright.server.mcp.subscriptions import Subscriptions
from callwright.tools.serving.served import offered as offered_tools
from callwright.tools.serving.served import served_tools

NAME = "callwright"
TITLE = "Callwright"
_LISTS: tuple[CacheableMethod, ...] = ("tools/list", "prompts/list", "resources/templates/list")
_LIST_TTL_MS = 300_000
STATE_TTL_S = 86_400.0
"""How long the protocol accepts the state that a client carries between the steps of a question. It is far longer than
a person may take, so that a late answer gets a text of ours and not a protocol error.
"""

NEW_OBJECTS = 50_000
"""How many new objects start a garbage collection. All but the largest requests make fewer."""

OpenSessions = Callable[[], AbstractAsyncContextManager[Sessions]]


class CallwrightServer(MCPServer[Sessions]):
    """The MCP server. It lists the tools that are switched on for the caller."""

    async def list_tools(self) -> list[ProtocolTool]:
        """The tools that are switched on for the caller."""
        found, session = await super().list_tools(), current_session()
        if session is None:
            return found
        return [as_offered(tool, session) for tool in offered_tools(found, session.offers)]

    async def get_prompt(
        self, name: str, arguments: dict[str, Any] | None = None, context: Context[Sessions, Any] | None = None
    ) -> GetPromptResult | InputRequiredResult:
        """A prompt with its arguments filled in. Raises MCPError -32602 if either is wrong."""
        names = [prompt.name for prompt in await self.list_prompts()]
        if name not in names:
            raise unknown_prompt(name, names)
        return await super().get_prompt(name, arguments, context)

    async def list_prompts(self) -> list[ProtocolPrompt]:
        """The prompts whose tools are switched on for the caller."""
        found, session = await super().list_prompts(), current_session()
        return found if session is None else [prompt for prompt in found if offered(prompt.name, session.offers)]

    async def list_resources(self) -> list[Resource]:
        """The fixed resources, and the newest campaigns and calls of the caller."""
        found, session = [*await super().list_resources(), *fixed_resources()], current_session()
        return found if session is None else [*found, *await recent_resources(session)]

    async def list_resource_templates(self) -> list[ResourceTemplate]:
        """The resource templates."""
        return [*await super().list_resource_templates(), *protocol_templates()]

    async def read_resource(
        self, uri: AnyUrl | str, context: Context[Sessions, Any] | None = None
    ) -> Iterable[ReadResourceContents] | InputRequiredResult:
        """The content of a resource, read with the caller's key."""
        if not str(uri).startswith(SCHEME) or context is None:
            return await super().read_resource(uri, context)
        from callwright.server.mcp.resources.reading import read

        address = address_of(str(uri))
        try:
            found = await read(context.request_context.lifespan_context.current(), address)
        except (MCPError, ResourceError) as error:
            from callwright.contract.checks.tracebacks import without_tracebacks

            without_tracebacks(error)
            raise
        except Exception as error:
            said = "Reading this failed inside the server. This is a fault of the server: report it, do not try again."
            raise UnexpectedResourceError(said) from error
        template = address.template
        return [ReadResourceContents(found.body, found.mime_type or template.mime_type, template.meta)]


def build(
    open_sessions: OpenSessions,
    *,
    tools: Sequence[Tool] | None = None,
    request_state_security: RequestStateSecurity | None = None,
) -> CallwrightServer:
    """The server for a session: `build(session.opened)`. `tools` replaces the full list, for example with a profile's.

    The session is opened by the transport: once a process on stdio and Streamable HTTP, once a connection on SSE.
    `request_state_security` seals the state that a client carries between the steps of a question; without it only this
    process can open the state again.
    """

    subscriptions = Subscriptions()

    @asynccontextmanager
    async def lifespan(_: MCPServer[Sessions]) -> AsyncGenerator[Sessions]:
        async with open_sessions() as sessions, subscriptions.opened():
            if isinstance(sessions, ServerSession):
                sessions.announce = subscriptions.bus.announce
            yield sessions

    log_to_stderr()
    with _without_rich():
        server = CallwrightServer(
            NAME,
            title=TITLE,
            instructions=instructions(None if tools is None else frozenset(tool.name for tool in tools)),
            version=version(NAME),
            tools=with_views(served_tools() if tools is None else tools),
            extensions=[Views()],
            log_level="WARNING",
            lifespan=lifespan,
            cache_hints={method: CacheHint(ttl_ms=_LIST_TTL_MS, scope="private") for method in _LISTS},
            subscriptions=subscriptions.bus,
            middleware=[checking, store_sessions],
            request_state_security=request_state_security or RequestStateSecurity.ephemeral(ttl=STATE_TTL_S),
        )
    server.middleware.insert(0, explain_lost_state)
    subscriptions.serve_on(server)
    for prompt in served_prompts():
        server.add_prompt(prompt)
    server.completion()(complete)
    return server


def tune_garbage_collector() -> None:
    """Excludes everything built so far from garbage collection, which caused long pauses in busy servers.

    Call it once, after `build`. A program that disables the collector before its imports and calls this starts a tenth
    faster; this enables it, with `NEW_OBJECTS` as its threshold. Garbage of the imports is frozen too: finding it would
    take 45 ms. Reasons: `docs/decisions/0022-garbage.md`.
    """
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS)
    gc.enable()


def log_to_stderr() -> None:
    """Sends log records of WARNING and above to stderr in short lines, unless the program has set up logging already.

    stdout belongs to the protocol.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(ShortLines())
    logging.basicConfig(level=logging.WARNING, handlers=[handler])


@contextmanager
def _without_rich() -> Generator[None]:
    """Keeps the SDK from importing `rich` for a log handler that is not wanted: 20 ms at every start.

    Expected: with logging set up, `configure_logging` does nothing. Actual: it imports `rich` and makes the handler
    first. A None in `sys.modules` makes that import fail, which the SDK is ready for.
    """
    names = [name for name in ("rich.console", "rich.logging") if name not in sys.modules]
    for name in names:
        sys.modules[name] = None  # pyright: ignore[reportArgumentType]  # documented way to block an import
    try:
        yield
    finally:
        for name in names:
            del sys.modules[name]
