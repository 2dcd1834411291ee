"""Passes a websocket on to the media process that has its call."""

import logging
from contextlib import suppress

import anyio
from starlette.websockets import WebSocket, WebSocketDisconnect

from callwright.service.handlers.deployments.talks import OPENS_WITHIN_S

log = logging.getLogger(__name__)
ENDED = 1011
"""Close code: the call's process is gone."""
_LONGEST_MESSAGE = 65_536
LEAVES_WITHIN_S = 3.0
"""Seconds that the other side has to close its websocket after the end of the call."""


async def passed_on(socket: WebSocket, port: int, token: str, call_id: str) -> None:
    """Passes messages on in both directions until one side ends. `port` is the media process's, `token` the call's."""
    from websockets.asyncio.client import connect
    from websockets.exceptions import ConnectionClosed, WebSocketException

    address = f"ws://127.0.0.1:{port}/media/{token}"
    try:
        async with connect(
            address, proxy=None, compression=None, open_timeout=OPENS_WITHIN_S, max_size=_LONGEST_MESSAGE
        ) as media:
            is_gone = anyio.Event()

            async def to_media() -> None:
                while (message := await socket.receive())["type"] == "websocket.receive":
                    with suppress(ConnectionClosed):
                        await media.send(message.get("bytes") or message.get("text") or "")
                is_gone.set()
                await media.close()

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(to_media)
                with suppress(WebSocketDisconnect, ConnectionClosed):
                    async for message in media:
                        await _show(socket, message)
                # The other side closes once it has read that the call has ended. Sound still comes from it: if this
                # side closed first, the system would reset the connection, and what it has not read yet were lost.
                with anyio.move_on_after(LEAVES_WITHIN_S):
                    await is_gone.wait()
                tasks.cancel_scope.cancel()
            if not is_gone.is_set():
                code = media.close_code
                await closed(socket, code if code in (1000, 1008, 1013) else ENDED)
    except (OSError, TimeoutError, WebSocketException) as error:
        log.warning("a websocket could not be passed on: %s", type(error).__name__, extra={"call_id": call_id})
        await closed(socket, ENDED)


async def _show(socket: WebSocket, message: str | bytes) -> None:
    """Sends a message. Raises WebSocketDisconnect if the websocket is closed, also by the server itself, which does so
    for example when the other side sends faster than it is read.
    """
    try:
        await (socket.send_bytes(message) if isinstance(message, bytes) else socket.send_text(message))
    except RuntimeError as error:  # what servers raise then
        raise WebSocketDisconnect(1006) from error


async def closed(socket: WebSocket, code: int) -> None:
    """Closes a websocket whose other side may be gone."""
    with suppress(WebSocketDisconnect, RuntimeError):
        await socket.close(code)
