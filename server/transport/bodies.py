"""Reads the bodies of requests to the MCP server completely before they are parsed, within REST's limits of size and
time.

Limits also apply to values that the protocol would copy or send back at any length: how many lists and objects a
message holds, headers of its own, and those in `message_text.py` and `messages.py`.
"""

from collections.abc import MutableMapping
from typing import Any

import anyio
from mcp.types import INVALID_REQUEST
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from callwright.server.mcp.message_text import fault_in
from callwright.server.mcp.messages import MessageError

MOST_BODY = 1_000_000
"""Bytes of a request body, as at REST."""
BODY_LIMIT_S = 20.0
"""How long a body may take to arrive, as at REST."""
LONGEST_HEADER = 16_384
"""The most bytes of a protocol header. One may repeat a URI, at worst in Base64."""
_TOO_LARGE = f"The body is larger than {MOST_BODY} bytes. Send it in smaller parts."
_TOO_SLOW = f"The body did not arrive within {BODY_LIMIT_S:g} seconds."


class _UnreadBody(Exception):
    """A body was not read to its end. `answer` says why; None if the client has left."""

    def __init__(self, answer: Response | None) -> None:
        super().__init__()
        self.answer = answer


class BodyReader:
    """Reads the body of a POST and passes it on in one piece.

    413 if it is too large, 408 if it is too slow, 400 if it holds too much, or is not a message.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        for name, value in scope["headers"]:
            if name.startswith(b"mcp-") and len(value) > LONGEST_HEADER:
                said = f"{name.decode('latin-1')}: has {len(value)} bytes; at most {LONGEST_HEADER} are allowed"
                await _refusal(MessageError(INVALID_REQUEST, said))(scope, receive, send)
                return
        if scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        try:
            body = await _read(scope, receive)
            if (fault := fault_in(body)) is not None:
                raise _UnreadBody(_refusal(fault))
        except _UnreadBody as unread:
            if unread.answer is not None:
                await unread.answer(scope, receive, send)
            return
        rest = [body]

        async def whole() -> Message:
            return {"type": "http.request", "body": rest.pop(), "more_body": False} if rest else await receive()

        await self._app(scope, whole, send)


def _refusal(fault: MessageError) -> Response:
    error = {"code": fault.code, "message": fault.message}
    return JSONResponse({"jsonrpc": "2.0", "id": fault.id, "error": error}, 400)


async def _read(scope: MutableMapping[str, Any], receive: Receive) -> bytes:
    too_large = PlainTextResponse(_TOO_LARGE, 413)
    declared = Headers(scope=scope).get("content-length", "")
    if declared.isdigit() and int(declared[:20]) > MOST_BODY:
        raise _UnreadBody(too_large)
    pieces: list[bytes] = []
    size = 0
    with anyio.move_on_after(BODY_LIMIT_S):
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise _UnreadBody(None)
            pieces.append(message.get("body", b""))
            size += len(pieces[-1])
            if size > MOST_BODY:
                raise _UnreadBody(too_large)
            if not message.get("more_body", False):
                return b"".join(pieces)
    raise _UnreadBody(PlainTextResponse(_TOO_SLOW, 408, {"Connection": "close"}))
