"""A server on the loopback for tests that ends all of its connections, also those that it has only just accepted."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from ssl import SSLContext, SSLError

Conversation = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
_ENDED = (ConnectionError, SSLError, asyncio.IncompleteReadError, asyncio.CancelledError)
_STEPS_TO_AN_END = 3
"""Steps of the event loop from the end of a connection's task to the end of its transport, and some more."""
_LAST_CONNECTION_S = 5.0
"""Limit for the connection that ends the server."""


@asynccontextmanager
async def stream_server(
    converse: Conversation, *, host: str = "127.0.0.1", port: int = 0, tls: SSLContext | None = None
) -> AsyncGenerator[int]:
    """Converses with whoever connects, and closes. Yields the port. The end of the block ends what still runs.

    It accepts connections itself: asyncio's server, closed in the step after it accepted one, loses the socket.
    """
    loop = asyncio.get_running_loop()
    conversations: set[asyncio.Task[None]] = set()

    async def connected(connection: socket.socket) -> None:
        made: list[asyncio.StreamWriter] = []
        reader = asyncio.StreamReader()
        protocol = asyncio.StreamReaderProtocol(reader, lambda _, writer: made.append(writer))
        try:
            await loop.connect_accepted_socket(lambda: protocol, connection, ssl=tls)
        except _ENDED:
            connection.close()
            return
        [writer] = made
        try:
            with suppress(*_ENDED):
                await converse(reader, writer)
            writer.close()
            with suppress(*_ENDED):
                await writer.wait_closed()
        finally:
            writer.transport.abort()

    async def accept(listener: socket.socket) -> None:
        while True:
            connection, _ = await loop.sock_accept(listener)
            if is_over:
                connection.close()
                return
            task = loop.create_task(connected(connection))
            conversations.add(task)
            task.add_done_callback(conversations.discard)

    is_over = False
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as listener:
        listener.setblocking(False)
        address = listener.getsockname()
        accepting = loop.create_task(accept(listener))
        try:
            yield address[1]
        finally:
            is_over = True
            # Whoever cancels an accept may lose the socket that it has just accepted. So a last connection ends it.
            with socket.create_connection(address[:2], timeout=_LAST_CONNECTION_S):
                await accepting
            ending = [*conversations]
            await asyncio.sleep(0)  # a task that is cancelled before its first step does not close its socket
            for task in ending:
                task.cancel()
            await asyncio.gather(*ending, return_exceptions=True)
            for _ in range(_STEPS_TO_AN_END):
                await asyncio.sleep(0)
