"""What endpoints answer, and how long they take: one POST, one outcome."""

import asyncio
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator

import anyio
import pytest

from callwright.contract.attempts import AttemptOutcome
from callwright.contract.checks.address_ranges import LOOPBACK
from callwright.service.platform.outgoing.posted import Posted
from callwright.service.webhooks.transport.endpoints import Endpoints
from tests.support.tasks import tasks_within
from tests.support.webhooks.endpoints import Answer, Sink, closing, dribbling, saying, silent, sink, status

BODY = b'{"id":"evt_1"}'
HEADERS = {"Content-Type": "application/json", "X-Service-Signature": "t=1,v1=0"}
LONG_S = 30.0
"""A deadline that no test reaches."""
SHORT_S = 0.15
"""A deadline that a test waits for."""


@pytest.fixture
async def endpoints() -> AsyncGenerator[Endpoints]:
    async with Endpoints(opened=LOOPBACK, deadline_s=LONG_S) as made:
        yield made


async def answer_of(answer: Answer, *, deadline_s: float = LONG_S) -> Posted:
    """What comes of sending to an endpoint that answers so."""
    async with sink(answer) as target, Endpoints(opened=LOOPBACK, deadline_s=deadline_s) as endpoints:
        return await endpoints.post(target.url(), BODY, HEADERS, subscription="whk_1")


async def test_a_request_has_the_body_and_the_headers_it_was_given_and_no_others(
    endpoints: Endpoints, target: Sink
) -> None:
    posted = await endpoints.post(target.url(), BODY, HEADERS)
    assert posted == Posted("succeeded", 200, "", "", posted.duration_ms)
    head, _, body = target.requests[0].partition(b"\r\n\r\n")
    assert body == BODY
    line, *headers = head.decode().split("\r\n")
    assert line == "POST /hook HTTP/1.1"
    assert dict(header.split(": ") for header in headers) == {
        **HEADERS,
        "Host": f"127.0.0.1:{target.port}",
        "Content-Length": str(len(BODY)),
        "Connection": "close",
    }


@pytest.mark.requirement("EVENT-05")
async def test_a_long_body_is_sent_whole(target: Sink, endpoints: Endpoints) -> None:
    body = b"x" * 3_000_000
    for _ in range(2):
        assert (await endpoints.post(target.url(), body, HEADERS, subscription="whk_1")).outcome == "succeeded"
    assert [request.partition(b"\r\n\r\n")[2] for request in target.requests] == [body, body]


@pytest.mark.parametrize("value", ["a\r\nX-Other: b", "a\nb", "a\rb"])
async def test_a_header_never_makes_another_one(endpoints: Endpoints, value: str, target: Sink) -> None:
    posted = await endpoints.post(target.url(), BODY, {"X-Service-Event-Id": value}, subscription="whk_1")
    assert (posted.status, target.requests) == (None, [])


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        (200, "succeeded"),
        (202, "succeeded"),
        (204, "succeeded"),
        (299, "succeeded"),
        (300, "redirected"),
        (301, "redirected"),
        (304, "redirected"),
        (308, "redirected"),
        (400, "rejected"),
        (401, "rejected"),
        (404, "rejected"),
        (410, "rejected"),
        (429, "rejected"),
        (499, "rejected"),
        (500, "server_error"),
        (503, "server_error"),
        (599, "server_error"),
        (600, "bad_answer"),
        (999, "bad_answer"),
    ],
)
async def test_the_status_decides(code: int, outcome: AttemptOutcome) -> None:
    body = b"" if code in (204, 304) else b"Thanks"
    posted = await answer_of(saying(status(code, body)))
    assert (posted.outcome, posted.status, posted.excerpt) == (outcome, code, body.decode())
    assert (posted.detail == "") == (outcome == "succeeded")
    assert outcome == "succeeded" or str(code) in posted.detail


@pytest.mark.requirement("EVENT-26")
async def test_a_redirect_is_not_followed_and_its_target_is_said(endpoints: Endpoints) -> None:
    async with sink() as inside, sink(saying(status(302, b"", f"Location: {inside.url()}\x1b"))) as target:
        posted = await endpoints.post(target.url(), BODY, HEADERS)
        assert (posted.outcome, posted.status) == ("redirected", 302)
        assert f"{inside.url()}\\x1b" in posted.detail
    async with sink() as inside, sink(saying(status(307, b"", f"Location: {inside.url()}"))) as target:
        posted = await endpoints.post(target.url(), BODY, HEADERS)
        assert (posted.outcome, posted.status) == ("redirected", 307)
        assert inside.url() in posted.detail
        assert (inside.connections, target.connections) == (0, 1)


@pytest.mark.parametrize(
    ("body", "excerpt"),
    [
        (b"line\r\n\tnext", "line\r\n\tnext"),
        ("grüße 🎉".encode(), "grüße 🎉"),
        (b"a\x00b\x1b[31m\x7f\xff\xfe", "a\\x00b\\x1b[31m\\x7f\\xff\\xfe"),
        (b"x" * 4_096, "x" * 4_096),
        (b"x" * 4_097, "x" * 4_096),
        (b"\x00" * 5_000, "\\x00" * 1_024),
        (b"x" * 4_095 + "ü".encode(), "x" * 4_095 + "\\"),
    ],
    ids=["lines", "unicode", "bytes", "full", "one-over", "all-bytes", "cut-letter"],
)
async def test_the_beginning_of_the_answer_is_kept_as_text(body: bytes, excerpt: str) -> None:
    posted = await answer_of(saying(status(500, body)))
    assert posted.excerpt == excerpt
    assert len(posted.excerpt.encode()) <= 4_096


async def test_a_compressed_answer_is_not_unpacked() -> None:
    posted = await answer_of(saying(status(200, b"\x1f\x8b\x08bomb", "Content-Encoding: gzip")))
    assert (posted.outcome, posted.excerpt) == ("succeeded", "\\x1f\\x8b\\x08bomb")


@pytest.mark.requirement("EVENT-03")
async def test_an_endpoint_that_says_nothing_has_timed_out() -> None:
    posted = await answer_of(silent, deadline_s=SHORT_S)
    assert (posted.outcome, posted.status) == ("timeout", None)
    assert posted.detail == "The endpoint did not answer within 0.15 seconds."
    assert 100 <= posted.duration_ms < 5_000


@pytest.mark.parametrize(
    ("start", "drop"),
    [
        (b"HTTP/1.1 200 ", b"x"),
        (b"HTTP/1.1 200 OK\r\nX-Long: ", b"x"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"", b"HTTP/1.1 102 Processing\r\n\r\n"),
    ],
)
async def test_a_status_that_comes_byte_by_byte_does_not_win_time(start: bytes, drop: bytes) -> None:
    posted = await answer_of(dribbling(start, drop), deadline_s=SHORT_S)
    assert (posted.outcome, posted.status) == ("timeout", None)


async def test_an_endpoint_that_has_answered_2xx_and_then_dribbles_has_succeeded() -> None:
    start = b"HTTP/1.1 200 OK\r\nContent-Length: 4000\r\n\r\nbegun"
    posted = await answer_of(dribbling(start, b"."), deadline_s=0.5)
    assert (posted.outcome, posted.status) == ("succeeded", 200)
    assert posted.excerpt.startswith("begun.")
    assert posted.duration_ms < 500


async def test_an_answer_without_an_end_is_left_after_its_beginning(endpoints: Endpoints) -> None:
    piece = b"x" * 65_536

    async def pour(writer: asyncio.StreamWriter) -> None:
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {2**30}\r\n\r\n".encode())
        while target.sent < 2**30:
            writer.write(piece)
            await writer.drain()
            target.sent += len(piece)

    async with sink(pour) as target:
        posted = await endpoints.post(target.url(), BODY, HEADERS, subscription="whk_1")
        assert posted == Posted("succeeded", 200, "x" * 4_096, "", posted.duration_ms)
        with anyio.fail_after(LONG_S):
            await target.departures.acquire()
        assert target.sent < 2**26


@pytest.mark.parametrize(
    "start", [b"", b"HTTP/1.1 200", b"HTTP/1.1 200 OK\r\nX: y\r\n"], ids=["nothing", "half-a-line", "half-a-head"]
)
async def test_an_endpoint_that_closes_before_it_answers_has_failed(start: bytes) -> None:
    posted = await answer_of(closing(start))
    assert (posted.outcome, posted.status) == ("connection_failed", None)
    assert posted.detail == "The endpoint closed the connection before it had answered."


async def test_an_endpoint_that_closes_amid_its_body_has_answered() -> None:
    posted = await answer_of(closing(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegun"))
    assert (posted.outcome, posted.status, posted.excerpt) == ("succeeded", 200, "begun")


@pytest.mark.requirement("EVENT-26")
async def test_a_port_where_nothing_listens_refuses(endpoints: Endpoints) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        posted = await endpoints.post(f"http://127.0.0.1:{unused.getsockname()[1]}/", BODY, HEADERS)
    assert (posted.outcome, posted.status) == ("connection_failed", None)
    assert posted.detail == "The host refused the connection: nothing listens on that port."


@pytest.mark.parametrize(
    "said",
    [
        b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
        b"220 mail.example ESMTP\r\n\r\n",
        b"\x00\x01\x02\x03\r\n\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nNo colon\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 20_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 " + b"x" * 20_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: y\r\n" % number for number in range(1_000)) + b"\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
    ],
    ids=["ssh", "smtp", "bytes", "no-number", "no-colon", "two-lengths", "long-field", "long-line", "fields", "101"],
)
async def test_an_answer_that_is_no_answer_is_a_bad_one(said: bytes) -> None:
    posted = await answer_of(closing(said))
    assert posted.outcome == "bad_answer"
    assert posted.detail.endswith(".")


async def test_requests_beyond_the_bound_wait_and_their_time_does_not_run() -> None:
    let_go = asyncio.Event()

    async def hold(writer: asyncio.StreamWriter) -> None:
        await let_go.wait()
        await saying(status(200))(writer)

    async with sink(hold) as target, Endpoints(opened=LOOPBACK, deadline_s=LONG_S, most_connections=2) as endpoints:
        posted: list[Posted] = []

        async def post() -> None:
            posted.append(await endpoints.post(target.url(), BODY, HEADERS))

        async with tasks_within(LONG_S) as tasks:
            for _ in range(6):
                tasks.start_soon(post)
            await target.arrivals.acquire()
            await target.arrivals.acquire()
            await anyio.wait_all_tasks_blocked()
            assert target.connections == 2
            let_go.set()
    assert [one.outcome for one in posted] == ["succeeded"] * 6
    assert target.most_open == 2


async def test_cancelling_ends_a_request_at_once_and_closes_its_connection(endpoints: Endpoints) -> None:
    async with sink(silent) as target:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(endpoints.post, target.url(), BODY, HEADERS)
                with anyio.fail_after(LONG_S):
                    await target.arrivals.acquire()
                scope.cancel()
        assert scope.cancelled_caught
        with anyio.fail_after(LONG_S):
            await target.departures.acquire()


async def test_a_caller_with_less_time_than_the_deadline_is_obeyed(endpoints: Endpoints) -> None:
    async with sink(silent) as target:
        with anyio.move_on_after(SHORT_S) as scope:
            await endpoints.post(target.url(), BODY, HEADERS, subscription="whk_1")
        assert scope.cancelled_caught


def test_the_same_holds_on_the_event_loop_of_the_service() -> None:
    async def outcomes(target: Sink, slow: Sink, mail: Sink) -> list[str]:
        opened, posted = LOOPBACK[:1], list[Posted]()
        async with Endpoints(opened=opened, deadline_s=LONG_S) as endpoints:
            with socket.socket() as unused:
                unused.bind(("127.0.0.1", 0))
                refusing = f"http://127.0.0.1:{unused.getsockname()[1]}/"
                for url in (target.url(), target.url(), refusing, mail.url(scheme="https"), "https://[::1]:1/"):
                    posted.append(await endpoints.post(url, BODY, HEADERS, subscription="whk_1"))
        async with Endpoints(opened=opened, deadline_s=SHORT_S) as endpoints:
            posted.append(await endpoints.post(slow.url(), BODY, HEADERS, subscription="whk_1"))
        return [one.outcome for one in posted]

    async def with_sinks() -> list[str]:
        async with sink() as target, sink(silent) as slow, sink(greeting=b"220 mail.example\r\n") as mail:
            return await outcomes(target, slow, mail)

    found = anyio.run(with_sinks, backend_options={"use_uvloop": sys.platform != "win32"})
    expected = ["succeeded", "succeeded", "connection_failed", "tls_failed", "forbidden_address", "timeout"]
    assert found == expected


async def test_nothing_is_sent_outside_the_block() -> None:
    endpoints = Endpoints(opened=LOOPBACK)
    with pytest.raises(RuntimeError, match="block"):
        await endpoints.post("http://127.0.0.1:1/", BODY, HEADERS)
    async with endpoints:
        pass
    with pytest.raises(RuntimeError, match="block"):
        await endpoints.post("http://127.0.0.1:1/", BODY, HEADERS)


def test_the_http_client_is_imported_when_it_is_needed() -> None:
    said = "import sys, callwright.service.webhooks.transport.endpoints; print('aiohttp' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout.strip() == "False"
