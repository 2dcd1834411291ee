"""MCP over HTTP beside the REST API: Streamable HTTP at `/mcp`, the older SSE transport at `/sse` and `/messages/`.

One ASGI application handles these paths and passes all others on to the service unchanged. Each request brings a key
and runs as the principal of that key. Over Streamable HTTP the protocol of 2026-07-28 keeps nothing between requests;
what the older protocol keeps is described in `docs/decisions/0009-mcp-over-http.md`.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.request_state import RequestStateSecurity
from mcp.types import DiscoverResult, InitializeResult
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from callwright.server.mcp.app import STATE_TTL_S, CallwrightServer, build
from callwright.server.mcp.instructions import instructions
from callwright.server.mcp.session import ServerSession, SystemClock
from callwright.server.transport.bearer import METADATA, KeyRequired, metadata_of
from callwright.server.transport.bodies import MOST_BODY, BodyReader
from callwright.server.transport.hosts import HostNames
from callwright.server.transport.key_limits import KeyLimits
from callwright.server.transport.key_sessions import KeyDirectory, KeySessions, ToolsOf
from callwright.server.transport.open_requests import LISTENS, OpenRequest, OpenRequests, current_request

if TYPE_CHECKING:
    from callwright.tools.runtime.tool_context import Clock, ConfirmBy, ConfirmMode

MCP, SSE, MESSAGES = "/mcp", "/sse", "/messages/"
MOST_OLDER_SESSIONS = 2_000
"""Sessions of the older protocol at a time; each ends after half an hour without a request."""

InstructionsOf = Callable[[frozenset[str] | None], str]
"""The instructions for a host at the handshake, by the enabled tools; None stands for all of them."""


def every_tool(_: str | None) -> frozenset[str] | None:
    """All tools, whatever the profile."""
    return None


class PathRouter:
    """Passes a request to the MCP server or to the service, only by its path."""

    def __init__(self, service: ASGIApp, names: HostNames, protected: ASGIApp) -> None:
        self._service, self._names, self._protected = service, names, protected

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        path = _own_path(scope)
        if path is None:
            await self._service(scope, receive, send)
        elif (refusal := await self._names.refusal(scope)) is not None:
            await refusal(scope, receive, send)
        elif path.startswith(METADATA):
            await _describe(path.removeprefix(METADATA), scope, receive, send)
        else:
            await self._protected({**scope, "path": path}, receive, send)


async def _describe(path: str, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["method"] in ("GET", "HEAD"):
        await metadata_of(scope, path)(scope, receive, send)
    else:
        await PlainTextResponse("Method Not Allowed", 405, {"Allow": "GET"})(scope, receive, send)


def _own_path(scope: Scope) -> str | None:
    """The path as the MCP server knows it; None if it belongs to the service."""
    if scope["type"] != "http":
        return None
    path: str = scope["path"]
    if path.startswith(MESSAGES):
        return path
    bare = path.rstrip("/")
    if bare + "/" == MESSAGES:
        return MESSAGES
    return bare if bare in (MCP, SSE, METADATA + MCP, METADATA + SSE) else None


@asynccontextmanager
async def mcp_beside(
    service: ASGIApp,
    keys: KeyDirectory,
    *,
    names: HostNames,
    seal: bytes,
    base_url: str | None,
    ids: Callable[[], str],
    keeps_sessions: bool,
    tools_of: ToolsOf = every_tool,
    confirm: "ConfirmMode" = "real",
    confirm_by: "ConfirmBy" = "sentence",
    masks: bool = True,
    instructions_of: InstructionsOf = instructions,
    clock: "Clock | None" = None,
) -> AsyncGenerator[tuple[ASGIApp, OpenRequests]]:
    """The service with MCP beside it, as one ASGI application, and the object that ends the open requests.

    Args:
        service: Answers every other path.
        keys: Knows the keys and gives a client for each.
        names: The names under which clients may come.
        seal: At least 32 secret bytes, the same in every process of one installation: what a client carries between
            the steps of a question is sealed with them, and so are sentences that come back with a yes.
        base_url: Where REST answers, version prefix included, for links in answers.
        ids: Makes ids that nobody can guess.
        keeps_sessions: Whether clients of the older protocol get sessions, which only this process knows, so that they
            can be asked questions. Without them any process answers any request.
        tools_of: The tools of a profile.
        confirm: When the person is asked before something dials or spends.
        confirm_by: How they agree where their host cannot ask them.
        masks: Whether telephone numbers of contacts lose their middle in text.
        instructions_of: What a host is told at the handshake, by the tools that are switched on for its key.
        clock: The time by which tools wait; the machine's when left out.
    """
    time = clock or SystemClock()
    sessions = KeySessions(
        keys,
        ids=ids,
        clock=time,
        seal=seal,
        base_url=base_url,
        tools_of=tools_of,
        confirm=confirm,
        confirm_by=confirm_by,
        masks=masks,
    )
    state_security = RequestStateSecurity(keys=[seal], ttl=STATE_TTL_S)
    server = build(
        lambda: nullcontext(_ConnectionSessions(sessions, current_request())),
        request_state_security=state_security,
    )
    server.middleware.extend((_instructing(sessions, instructions_of), _counted))
    transports = _transports(server, names, keeps_sessions=keeps_sessions)
    async with server.session_manager.run():
        requests = OpenRequests(
            KeyRequired(KeyLimits(BodyReader(transports), path=MCP, limit_headers=keys.limit_headers), keys)
        )
        yield PathRouter(service, names, requests), requests


@dataclass(frozen=True)
class _ConnectionSessions:
    """The sessions of a connection. `stream` is the open request over which an SSE client gets all its answers.

    The lifespan of the protocol server yields it: SSE enters that for each connection, Streamable HTTP once.
    """

    sessions: KeySessions
    stream: OpenRequest | None

    def current(self) -> ServerSession:
        return self.sessions.current()


async def _counted(ctx: ServerRequestContext[_ConnectionSessions, Any], call_next: CallNext) -> HandlerResult:
    """Middleware that counts calls over SSE as running: their own requests end before they begin."""
    stream = ctx.lifespan_context.stream
    if stream is None or ctx.method == LISTENS:
        return await call_next(ctx)
    with stream.call():
        return await call_next(ctx)


def _transports(server: CallwrightServer, names: HostNames, *, keeps_sessions: bool) -> ASGIApp:
    streamable = server.streamable_http_app(
        streamable_http_path=MCP,
        stateless_http=not keeps_sessions,
        max_request_body_size=MOST_BODY,
        max_sessions=MOST_OLDER_SESSIONS,
        transport_security=names.settings,
    )
    older = server.sse_app(
        sse_path=SSE,
        message_path=MESSAGES,
        max_request_body_size=MOST_BODY,
        transport_security=names.settings,
    )

    async def transports(scope: Scope, receive: Receive, send: Send) -> None:
        await (streamable if scope["path"] == MCP else older)(scope, receive, send)

    return transports


def _instructing(sessions: KeySessions, instructions_of: InstructionsOf) -> Callable[..., Any]:
    async def instructing(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Middleware that gives each principal the instructions for its tools."""
        result = await call_next(ctx)
        if ctx.method not in ("initialize", "server/discover"):
            return result
        words = instructions_of(sessions.current().enabled)
        if isinstance(result, InitializeResult | DiscoverResult):
            return result.model_copy(update={"instructions": words})
        return {**cast("dict[str, Any]", result), "instructions": words}

    return instructing
