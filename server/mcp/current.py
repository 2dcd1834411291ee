"""Whose request this is: the session of the caller, for the parts that the SDK gives no context."""

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

if TYPE_CHECKING:
    from callwright.server.mcp.session import ServerSession


class Sessions(Protocol):
    """What the lifespan of the protocol server yields."""

    def current(self) -> "ServerSession":
        """The session of whoever asks: on stdio there is one, over HTTP one for each key."""
        ...


_SESSIONS: ContextVar["Sessions | None"] = ContextVar("callwright_sessions", default=None)


async def remembering(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Middleware that makes the sessions known to handlers of lists and completion, which the SDK gives no context."""
    token = _SESSIONS.set(ctx.lifespan_context)
    try:
        return await call_next(ctx)
    finally:
        _SESSIONS.reset(token)


def current_session() -> "ServerSession | None":
    """The session of whoever asks; None outside of a request."""
    sessions = _SESSIONS.get()
    return None if sessions is None else sessions.current()
