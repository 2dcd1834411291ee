"""Builds the protocol server: tools, resources, prompts and completion, ready for any transport.

Building reads two files and imports neither the contract nor the client, so that a host that spawns it waits little.
"""

import gc
import logging
import sys
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.context import Context
from mcp.server.mcpserver.tools import Tool
from mcp.types import GetPromptResult, InputRequiredResult
from mcp.types import Tool as ProtocolTool
from pydantic import AnyUrl

from callwright.prompts.registry import prompt_named
from callwright.prompts.served import served_prompts, unknown_prompt
from callwright.tools.served import served_tools

from .completions import complete
from .current import Sessions, current_session, remembering
from .resources import add_resources

NAME = "callwright"
TITLE = "Callwright"
_INSTRUCTIONS = Path(__file__).with_name("instructions.md")
_LISTS: tuple[CacheableMethod, ...] = ("tools/list", "prompts/list", "resources/templates/list")
_LIST_TTL_MS = 300_000

OpenSessions = Callable[[], AbstractAsyncContextManager[Sessions]]


class CallwrightServer(MCPServer[Sessions]):
    """The protocol server. It lists the tools that are switched on for whoever asks."""

    async def list_tools(self) -> list[ProtocolTool]:
        """The tools that are switched on for whoever asks."""
        found, session = await super().list_tools(), current_session()
        return found if session is None else [tool for tool in found if session.offers(tool.name)]

    async def get_prompt(
        self, name: str, arguments: dict[str, Any] | None = None, context: Context[Sessions, Any] | None = None
    ) -> GetPromptResult | InputRequiredResult:
        """A prompt with its arguments filled in. Raises MCPError -32602 where either is wrong."""
        if prompt_named(name) is None:
            raise unknown_prompt(name)
        return await super().get_prompt(name, arguments, context)

    async def read_resource(
        self, uri: AnyUrl | str, context: Context[Sessions, Any] | None = None
    ) -> Iterable[ReadResourceContents] | InputRequiredResult:
        """The content of a resource. Words in place of sound are declared as words."""
        found = await super().read_resource(uri, context)
        if isinstance(found, InputRequiredResult):
            return found
        return [replace(part, mime_type="text/plain") if _words_for_sound(part) else part for part in found]


def _words_for_sound(part: ReadResourceContents) -> bool:
    return isinstance(part.content, str) and (part.mime_type or "").startswith("audio/")


def instructions() -> str:
    """What the server tells a host about itself at the handshake."""
    return _INSTRUCTIONS.read_text(encoding="utf-8")


def build(open_sessions: OpenSessions, *, tools: Sequence[Tool] | None = None) -> CallwrightServer:
    """The server around a session: `build(session.opened)`. `tools` replaces the full list, for example by a profile.

    The session is opened by the transport: once a process on stdio and Streamable HTTP, once a connection on SSE.
    """

    @asynccontextmanager
    async def lifespan(_: MCPServer[Sessions]) -> AsyncGenerator[Sessions]:
        async with open_sessions() as sessions:
            yield sessions

    log_to_stderr()
    with _without_rich():
        server = CallwrightServer(
            NAME,
            title=TITLE,
            instructions=instructions(),
            version=version(NAME),
            tools=list(tools) if tools is not None else served_tools(),
            log_level="WARNING",
            lifespan=lifespan,
            cache_hints={method: CacheHint(ttl_ms=_LIST_TTL_MS, scope="private") for method in _LISTS},
            middleware=[remembering],
        )
    add_resources(server)
    for prompt in served_prompts():
        server.add_prompt(prompt)
    server.completion()(complete)
    return server


def settle() -> None:
    """Moves all that was built out of the garbage collector's sight: long pauses in busy servers came from it.

    Call it once, after `build`. A program that disables the collector before its imports and calls this starts a tenth
    faster; from here on the collector works. What the imports left behind is frozen too: finding it would cost 45 ms.
    """
    gc.freeze()
    gc.enable()


def log_to_stderr() -> None:
    """Log records of WARNING and above go to stderr in plain lines, unless the program has set up logging already.

    stdout belongs to the protocol.
    """
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")


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
