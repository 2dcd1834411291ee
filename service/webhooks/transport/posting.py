"""One POST to an endpoint, from the first look at its name to the beginning of its answer.

The request is written in one piece and aiohttp's parser reads the answer. Its client would do the same, but takes
longer over each request than all else that a delivery needs.

Imports aiohttp, and so is imported when it is needed.
"""

from collections.abc import Mapping

import anyio
from aiohttp import EMPTY_PAYLOAD, ClientConnectionError, StreamReader
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from aiohttp.http import RawResponseMessage

from callwright.contract.webhooks import AttemptOutcome
from callwright.service.webhooks.transport.attempts import (
    MOST_EXCERPT_BYTES,
    Posted,
    Progress,
    of_status,
    shown,
    timed_out,
)
from callwright.service.webhooks.transport.connections import Connections, Pool, Target, system_roots
from callwright.service.webhooks.transport.failures import of_error

__all__ = ["Connections", "Posting", "system_roots"]

_MOST_HEADERS = 64
_SWITCHING = 101


class _TimeIsOver(Exception):
    """The deadline has passed and nothing was answered."""


class _Exchange:
    """A request and its answer over one connection, for as long as there is time."""

    __slots__ = ("_payload", "_protocol", "excerpt", "message")

    def __init__(self, protocol: ResponseHandler) -> None:
        self._protocol = protocol
        self._payload: StreamReader = EMPTY_PAYLOAD
        self.message: RawResponseMessage | None = None
        """The answer's head, once it is there."""
        self.excerpt = b""

    def end(self) -> None:
        """Ends it, because the time is over: whoever waits for the endpoint waits no longer."""
        error = _TimeIsOver()
        self._protocol.set_exception(error)
        if self._payload is not EMPTY_PAYLOAD:
            self._payload.set_exception(error)

    async def answer(self, request: bytes) -> None:
        """Sends the request and waits for the head of its answer. Raises what aiohttp raises, and `_TimeIsOver`."""
        protocol = self._protocol
        protocol.set_response_params(read_until_eof=True, auto_decompress=False, max_headers=_MOST_HEADERS)
        transport = protocol.transport
        assert transport is not None
        transport.write(request)
        while True:
            message, payload = await protocol.read()
            if message.code >= 200 or message.code == _SWITCHING or message.code < 100:
                break
        self.message, self._payload = message, payload

    async def read(self) -> bool:
        """Reads the beginning of the answer's body, as far as it comes. Whether that was all of it."""
        payload = self._payload
        if payload is EMPTY_PAYLOAD:
            return True
        excerpt = bytearray()
        try:
            while len(excerpt) < MOST_EXCERPT_BYTES:
                part = await payload.read(MOST_EXCERPT_BYTES - len(excerpt))
                if not part:
                    break
                excerpt += part
            return payload.at_eof()
        except Exception:  # an endpoint that has answered has answered, whatever becomes of the rest
            return False
        finally:
            self.excerpt = bytes(excerpt)


class Posting:
    """Sends requests over connections, each within a deadline."""

    def __init__(self, connections: Connections, deadline_s: float) -> None:
        self._connections, self._deadline_s = connections, deadline_s
        self._loop = connections.loop

    async def close(self) -> None:
        """Closes all connections."""
        await self._connections.close()

    async def post(self, url: str, body: bytes, headers: Mapping[str, str], subscription: str | None) -> Posted:
        """Sends a body once and says what came of it."""
        if subscription is None:
            return await self._send(None, url, body, headers)
        pool = self._connections.take(subscription)
        try:
            return await self._send(pool, url, body, headers)
        finally:
            self._connections.give_back(pool)

    async def _send(self, pool: Pool | None, url: str, body: bytes, headers: Mapping[str, str]) -> Posted:
        begun_s = self._loop.time()
        deadline_s = begun_s + self._deadline_s
        progress = Progress(plain=True)
        outcome: AttemptOutcome = "timeout"
        try:
            target = self._connections.target(pool, url)
            progress.plain = target.plain
            connection = None if pool is None else self._connections.kept(pool)
            if connection is not None:
                progress.reused, progress.stage = True, "answer"
                try:
                    return await self._exchange(pool, target, connection, body, headers, begun_s, progress)
                except ClientConnectionError:
                    # A server may close a kept connection in the moment in which it is used again. That is nobody's
                    # failure, but it may have read the request: the log says that it was sent twice.
                    progress.begin_again()
                    pool, connection = None, None
            with anyio.CancelScope(deadline=deadline_s):
                connection = await self._connections.made(target, progress)
            if connection is None:
                raise _TimeIsOver
            return await self._exchange(pool, target, connection, body, headers, begun_s, progress)
        except _TimeIsOver:
            detail = timed_out(progress, self._deadline_s)
        except Exception as error:  # an endpoint may do anything, and then anything may be raised
            outcome, detail = of_error(error, progress)
        return Posted(outcome, None, "", progress.said(detail), self._since(begun_s))

    async def _exchange(
        self,
        pool: Pool | None,
        target: Target,
        connection: Connection,
        body: bytes,
        headers: Mapping[str, str],
        begun_s: float,
        progress: Progress,
    ) -> Posted:
        """Over a connection, which is kept or closed then. Raises where the endpoint does not answer with a status."""
        protocol = connection.protocol
        assert protocol is not None
        exchange = _Exchange(protocol)
        timer = self._loop.call_at(begun_s + self._deadline_s, exchange.end)
        is_whole = False
        try:
            await exchange.answer(_request(target, body, headers, closes=pool is None))
            duration_ms = self._since(begun_s)
            is_whole = await exchange.read()
        finally:
            timer.cancel()
            if is_whole and pool is not None:
                self._connections.keep(pool, target, connection)
            else:
                connection.close()
        message = exchange.message
        assert message is not None
        if 200 <= message.code <= 299:
            return Posted("succeeded", message.code, shown(exchange.excerpt), progress.said(""), duration_ms)
        outcome, detail = of_status(message.code, message.headers.get("Location"))
        return Posted(outcome, message.code, shown(exchange.excerpt), progress.said(detail), duration_ms)

    def _since(self, begun_s: float) -> int:
        return round((self._loop.time() - begun_s) * 1_000)


def _request(target: Target, body: bytes, headers: Mapping[str, str], *, closes: bool) -> bytes:
    """A request as it is sent. Raises ValueError where a header would make another one."""
    given = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
    if given.count("\n") != len(headers) or given.count("\r") != len(headers):
        raise ValueError("a header has a line break in it")
    ends = "Connection: close\r\n" if closes else ""
    return f"{target.head}{given}{ends}Content-Length: {len(body)}\r\n\r\n".encode() + body
