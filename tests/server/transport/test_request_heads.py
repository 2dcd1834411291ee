"""Heads of requests that are too large or too slow end the connection, before anybody knows who sends them."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from callwright.server.embedded.embedded import listener_on, listening
from callwright.server.transport import request_heads
from callwright.server.transport.request_heads import MAX_HEAD
from tests.support.http.sockets import Heard, Line, line_to

GET = b"GET / HTTP/1.1\r\nHost: a\r\n"
CHUNKED = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
PIECE = b"a" * 16_384
MUCH = [PIECE] * 40


async def counting(_: Any, receive: Any, send: Any) -> None:
    """An application that answers with the number of bytes in a request's body."""
    size, more = 0, True
    while more:
        message = await receive()
        size += len(message.get("body", b""))
        more = message.get("more_body", False)
    text = b"%d" % size
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(text))]})
    await send({"type": "http.response.body", "body": text})


@asynccontextmanager
async def served() -> AsyncGenerator[str]:
    with listener_on() as listener:
        async with listening(counting, listener) as base_url:
            yield base_url.removesuffix("/v1")


async def answer(line: Line) -> Heard:
    heard = await line.hear()
    assert heard is not None
    return heard


@pytest.mark.parametrize(
    "begun",
    [
        [GET, b"X-One: ", *MUCH],
        [b"GET /", *MUCH],
        [GET, *(b"X-%d: %s\r\n" % (number, PIECE) for number in range(40))],
        [b"\r\n" * 8_000] * 40,
    ],
)
async def test_a_head_that_is_too_large_is_refused_before_it_ends(begun: list[bytes]) -> None:
    async with served() as root:
        async with line_to(root) as line:
            await line.say(*begun)
            heard = await line.hear()  # nothing, where what was sent and not read any more tears the connection down
            assert heard is None or (heard.problem(), heard.headers["connection"]) == ("headers_too_large", "close")
            assert await line.has_ended()
        async with line_to(root) as line:
            await line.say(GET, b"\r\n")
            assert (await answer(line)).status == 200


async def test_a_head_a_little_too_large_is_told_so() -> None:
    async with served() as root, line_to(root) as line:
        await line.say(GET, b"X-One: ")
        for _ in range(MAX_HEAD // len(PIECE) + 2):
            await line.say(PIECE)
        heard = await answer(line)
        assert (heard.problem(), heard.headers["connection"]) == ("headers_too_large", "close")
        assert f"larger than {MAX_HEAD:,} bytes. Send fewer or shorter headers" in heard.body.decode()
        assert await line.has_ended()


@pytest.mark.parametrize("endless", [[b"1;", *MUCH], [b"0\r\nX-Trailer: ", *MUCH], [b"1\r\na\r\n0\r\nX: ", *MUCH]])
async def test_what_stands_between_and_behind_chunks_has_a_limit_too(endless: list[bytes]) -> None:
    async with served() as root, line_to(root) as line:
        await line.say(CHUNKED, *endless)
        assert await line.hear() is None


async def test_a_body_in_tiny_chunks_is_read() -> None:
    async with served() as root, line_to(root) as line:
        await line.say(CHUNKED, b"1\r\na\r\n" * 50_000, b"0\r\n\r\n")
        assert (await answer(line)).body == b"50000"


async def test_many_requests_at_once_are_not_one_large_head() -> None:
    async with served() as root, line_to(root) as line:
        count = 2 * MAX_HEAD // len(GET)
        await line.say((GET + b"\r\n") * count)
        assert {(await answer(line)).status for _ in range(count)} == {200}
        await line.say(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 600000\r\n\r\n", b"a" * 600_000, GET, b"\r\n")
        assert [(await answer(line)).body for _ in range(2)] == [b"600000", b"0"]


async def test_a_head_that_does_not_arrive_in_time_ends_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_heads, "HEAD_LIMIT_S", 0.05)
    async with served() as root:
        async with line_to(root) as patient:
            await patient.say(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n")  # this head is complete
            for begun in (b"", b"GET", GET, GET + b"X-One: a\r\n", b"\r\n"):
                async with line_to(root) as line:
                    await line.say(begun)
                    heard = await answer(line)
                    assert (heard.problem(), heard.headers["connection"]) == ("request_timeout", "close")
                    assert await line.has_ended()
            await patient.say(b"body")
            assert (await answer(patient)).body == b"4"
            await patient.say(GET)  # the next head on the same connection
            assert (await answer(patient)).status == 408


async def test_a_connection_may_be_idle_for_longer_than_clients_keep_theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    loop, waits = asyncio.get_running_loop(), list[float]()
    call_later = loop.call_later

    def noted(delay: float, callback: Any, *arguments: Any, **options: Any) -> asyncio.TimerHandle:
        if getattr(callback, "__name__", "") == "timeout_keep_alive_handler":
            waits.append(delay)
        return call_later(delay, callback, *arguments, **options)

    async with served() as root, line_to(root) as line:
        monkeypatch.setattr(loop, "call_later", noted)
        await line.say(GET + b"\r\n")
        assert (await answer(line)).status == 200
    assert len(waits) == 1
    assert waits[0] > 60


UPGRADE = b"Host: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
HANDSHAKE = b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"


@pytest.mark.parametrize(
    "request_sent",
    [
        b"GET / HTTP/1.1\r\n" + UPGRADE + b"\r\n",
        b"GET / HTTP/1.1\r\n" + UPGRADE + HANDSHAKE + b"\r\n",
        b"GET /" + b"a" * 60_000 + b" HTTP/1.1\r\n" + UPGRADE + HANDSHAKE + b"\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\r\n",
        b"POST / HTTP/1.1\r\n" + UPGRADE + b"Content-Length: 0\r\n\r\n",
    ],
    ids=["bare", "whole", "long", "h2c", "no body"],
)
async def test_a_request_for_another_protocol_is_answered_as_any_other_and_holds_nothing(
    request_sent: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async with served() as root:
        async with line_to(root) as line:
            for _ in range(2):
                await line.say(request_sent)
                assert (await answer(line)).status == 200
        assert caplog.records == []


@pytest.mark.parametrize(
    "body", [b"Content-Length: 2\r\n\r\n{}", b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"]
)
@pytest.mark.parametrize("protocol", [b"websocket", b"h2c"])
async def test_a_request_for_another_protocol_that_has_a_body_is_refused_since_the_body_could_not_be_read(
    body: bytes, protocol: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    head = b"POST / HTTP/1.1\r\n" + UPGRADE.replace(b"websocket", protocol)
    async with served() as root:
        async with line_to(root) as line:
            await line.say(head + body)
            assert (await answer(line)).problem() == "malformed_request"
            assert await line.hear() is None
        assert caplog.records == []
