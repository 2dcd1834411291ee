"""The session of the current request's caller, for handlers to which the SDK passes no context."""

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

if TYPE_CHECKING:
    from callwright.server.mcp.session import ServerSession


class Sessions(Protocol):
    """The sessions that the lifespan of the MCP server yields."""

    def current(self) -> "ServerSession":
        """The caller's session: on stdio there is one, over HTTP one for each key."""
        ...


_SESSIONS: ContextVar["Sessions | None"] = ContextVar("callwright_sessions", default=None)


async def store_sessions(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Middleware that stores the sessions for handlers of lists and completion, to which the SDK passes no context."""
    token = _SESSIONS.set(ctx.lifespan_context)
    try:
        return await call_next(ctx)
    finally:
        _SESSIONS.reset(token)


def current_session() -> "ServerSession | None":
    """The caller's session; None outside a request."""
    sessions = _SESSIONS.get()
    return None if sessions is None else sessions.current()
