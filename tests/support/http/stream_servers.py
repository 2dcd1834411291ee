"""A server on the loopback for tests that ends all of its connections, also those that it has only just accepted."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from ssl import SSLContext, SSLError

Conversation = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
_STEPS_TO_A_HANDLER = 6
"""Steps of the event loop from a connection that is accepted to its handler, and some more: the order within a step is
not known.
"""


@asynccontextmanager
async def stream_server(
    converse: Conversation, *, host: str = "127.0.0.1", port: int = 0, tls: SSLContext | None = None
) -> AsyncGenerator[int]:
    """Converses with whoever connects, and closes. Yields the port. The end of the block ends what still runs."""
    open_: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        open_[task] = writer
        try:
            with suppress(ConnectionError, SSLError, asyncio.IncompleteReadError, asyncio.CancelledError):
                await converse(reader, writer)
        finally:
            writer.close()
            with suppress(ConnectionError, SSLError, asyncio.CancelledError):
                await writer.wait_closed()
            del open_[task]

    server = await asyncio.start_server(connected, host, port, ssl=tls, family=socket.AF_UNSPEC)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for _ in range(_STEPS_TO_A_HANDLER):
            await asyncio.sleep(0)
        ending = [*open_]
        for task, writer in open_.items():
            writer.transport.abort()
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)
