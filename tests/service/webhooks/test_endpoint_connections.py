"""Connections to endpoints: whose certificates are believed, who shares them, and how long they are kept."""

import asyncio
import threading
from collections.abc import AsyncGenerator
from pathlib import Path
from ssl import SSLContext

import anyio
import pytest

from callwright.contract.checks.address_ranges import LOOPBACK
from callwright.service.platform.outgoing.posted import Posted
from callwright.service.platform.outgoing.progress import SENT_AGAIN
from callwright.service.webhooks.transport.endpoints import KEPT_S, Endpoints
from tests.support.tasks import tasks_within
from tests.support.webhooks.certificates import Authority, authority, presenting_its_own
from tests.support.webhooks.endpoints import Sink, closing, saying, sink, status

NAME = "hooks.example.com"
LONG_S = 30.0


def everything_here(_: str) -> list[str]:
    return ["127.0.0.1"]


@pytest.fixture
async def endpoints() -> AsyncGenerator[Endpoints]:
    """Endpoints on the loopback, over plain HTTP."""
    async with Endpoints(opened=LOOPBACK, deadline_s=LONG_S) as made:
        yield made


@pytest.fixture
def root(tmp_path: Path) -> Authority:
    return authority(tmp_path)


async def post(endpoints: Endpoints, target: Sink, subscription: str | None = "whk_1") -> Posted:
    return await endpoints.post(target.url(), b"{}", {}, subscription=subscription)


async def over_tls(server: SSLContext | None, client: SSLContext | None) -> tuple[Posted, Sink]:
    """Sends to a server by its name."""
    async with sink(tls=server) as target:
        async with Endpoints(opened=LOOPBACK, look_up=everything_here, deadline_s=LONG_S, tls=client) as endpoints:
            url = target.url(NAME, "https")
            return await endpoints.post(url, b"{}", {}, subscription="whk_1"), target


async def test_a_certificate_of_a_known_authority_is_believed(root: Authority) -> None:
    posted, target = await over_tls(root.presenting(NAME), root.trusting())
    assert (posted.outcome, posted.status, len(target.requests)) == ("succeeded", 200, 1)


async def test_a_certificate_that_only_its_owner_signed_is_refused(root: Authority, tmp_path: Path) -> None:
    posted, target = await over_tls(presenting_its_own(tmp_path, NAME), root.trusting())
    assert (posted.outcome, posted.status, target.requests) == ("tls_failed", None, [])
    assert posted.detail == "The endpoint's certificate is not valid: self-signed certificate."


async def test_a_certificate_of_an_unknown_authority_is_refused_by_default(root: Authority) -> None:
    posted, target = await over_tls(root.presenting(NAME), None)
    assert (posted.outcome, target.requests) == ("tls_failed", [])
    assert "unable to get local issuer certificate" in posted.detail


async def test_a_certificate_that_has_run_out_is_refused(root: Authority) -> None:
    posted, target = await over_tls(root.presenting(NAME, ended=True), root.trusting())
    assert (posted.outcome, target.requests) == ("tls_failed", [])
    assert posted.detail == "The endpoint's certificate is not valid: certificate has expired."


async def test_a_certificate_for_another_name_is_refused(root: Authority) -> None:
    posted, target = await over_tls(root.presenting("other.example.com"), root.trusting())
    assert (posted.outcome, target.requests) == ("tls_failed", [])
    assert "Hostname mismatch" in posted.detail


async def test_a_certificate_does_not_open_an_address(root: Authority) -> None:
    async with sink(tls=root.presenting(NAME)) as target:
        async with Endpoints(look_up=everything_here, deadline_s=LONG_S, tls=root.trusting()) as endpoints:
            posted = await endpoints.post(target.url(NAME, "https"), b"{}", {})
        assert (posted.outcome, target.connections) == ("forbidden_address", 0)


async def test_a_server_without_tls_fails_to_speak_it(root: Authority) -> None:
    async with sink(greeting=b"220 mail.example\r\n") as target:
        async with Endpoints(opened=LOOPBACK, deadline_s=LONG_S, tls=root.trusting()) as endpoints:
            posted = await endpoints.post(target.url(scheme="https"), b"{}", {})
    assert posted.outcome == "tls_failed"
    assert posted.detail == "No secure connection was made: wrong version number."


async def test_a_server_that_is_silent_about_tls_has_timed_out(target: Sink, root: Authority) -> None:
    async with Endpoints(opened=LOOPBACK, deadline_s=0.15, tls=root.trusting()) as endpoints:
        posted = await endpoints.post(target.url(scheme="https"), b"{}", {})
    assert (posted.outcome, posted.detail) == ("timeout", "No connection was made within 0.15 seconds.")


async def test_a_subscription_keeps_its_connection(endpoints: Endpoints, target: Sink) -> None:
    for _ in range(5):
        assert (await post(endpoints, target)).outcome == "succeeded"
    assert (target.connections, len(target.requests)) == (1, 5)


async def test_two_subscriptions_never_share_a_connection(endpoints: Endpoints, target: Sink) -> None:
    for _ in range(3):
        await post(endpoints, target, "whk_1")
        await post(endpoints, target, "whk_2")
    assert target.connections == 2


async def test_without_a_subscription_no_connection_is_kept(endpoints: Endpoints, target: Sink) -> None:
    for _ in range(3):
        await post(endpoints, target, None)
    assert target.connections == 3


async def test_cookies_are_not_kept(endpoints: Endpoints) -> None:
    async with sink(saying(status(200, b"", "Set-Cookie: a=b; Path=/"))) as target:
        for _ in range(2):
            await post(endpoints, target)
        assert not any(b"cookie" in request.lower() for request in target.requests)


async def test_a_kept_connection_that_is_closed_as_it_is_used_is_replaced(endpoints: Endpoints) -> None:
    answers = 0

    async def once_each(writer: asyncio.StreamWriter) -> None:
        nonlocal answers
        answers += 1
        await (closing() if answers == 2 else saying(status(200)))(writer)

    async with sink(once_each) as target:
        posted = [await post(endpoints, target) for _ in range(2)]
        assert [one.outcome for one in posted] == ["succeeded", "succeeded"]
        assert (target.connections, len(target.requests)) == (2, 3)
        assert [one.detail for one in posted] == ["", SENT_AGAIN]


async def test_the_second_connection_has_no_time_of_its_own() -> None:
    answers, looked_up, let_go = 0, 0, threading.Event()

    def slow_the_second_time(_: str) -> list[str]:
        nonlocal looked_up
        looked_up += 1
        if looked_up == 2:
            let_go.wait(LONG_S)
        return ["127.0.0.1"]

    async def once(writer: asyncio.StreamWriter) -> None:
        nonlocal answers
        answers += 1
        await (closing() if answers == 2 else saying(status(200)))(writer)

    try:
        async with sink(once) as target:
            async with Endpoints(opened=LOOPBACK, look_up=slow_the_second_time, deadline_s=0.5) as endpoints:
                url = target.url(NAME)
                posted = [await endpoints.post(url, b"{}", {}, subscription="whk_1") for _ in range(2)]
        assert [one.outcome for one in posted] == ["succeeded", "timeout"]
        assert posted[1].detail == f"{SENT_AGAIN} The name of the host could not be looked up within 0.5 seconds."
    finally:
        let_go.set()


async def test_a_connection_is_kept_for_four_seconds(endpoints: Endpoints, monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.get_running_loop()
    time, ahead_s = loop.time, 0.0
    monkeypatch.setattr(loop, "time", lambda: time() + ahead_s)
    async with sink() as target:
        await post(endpoints, target)
        ahead_s = 3.5
        await post(endpoints, target)
        assert (target.connections, target.open) == (1, 1)
        ahead_s = 3.5 + KEPT_S
        with anyio.fail_after(LONG_S):
            await target.departures.acquire()
        assert target.open == 0
        await post(endpoints, target)
        assert target.connections == 2


async def test_a_connection_to_an_earlier_url_of_the_subscription_is_closed(endpoints: Endpoints) -> None:
    async with sink() as first, sink() as second:
        for target in (first, second):
            assert (await post(endpoints, target)).outcome == "succeeded"
        with anyio.fail_after(LONG_S):
            await first.departures.acquire()
        assert (len(first.requests), len(second.requests), second.open) == (1, 1, 1)


async def test_an_answer_that_nobody_asked_for_is_not_taken_for_the_next_one(endpoints: Endpoints) -> None:
    async with sink(saying(status(204) + status(500))) as target:
        for _ in range(2):
            assert (await post(endpoints, target)).status == 204
        assert target.connections == 2


async def test_an_answer_that_is_not_read_to_its_end_ends_its_connection(endpoints: Endpoints) -> None:
    async with sink(saying(status(200, b"x" * 2**20))) as target:
        for _ in range(2):
            assert (await post(endpoints, target)).status == 200
        assert target.connections == 2


async def test_a_new_connection_that_is_closed_is_not_tried_again(endpoints: Endpoints) -> None:
    async with sink(closing()) as target:
        assert (await post(endpoints, target)).outcome == "connection_failed"
        assert (target.connections, len(target.requests)) == (1, 1)


async def test_the_connections_that_are_kept_are_bounded_and_the_oldest_go(target: Sink) -> None:
    async with Endpoints(opened=LOOPBACK, deadline_s=LONG_S, most_connections=2) as endpoints:
        for number in range(30):
            assert (await post(endpoints, target, f"whk_{number}")).outcome == "succeeded"
        with anyio.fail_after(LONG_S):
            for _ in range(26):
                await target.departures.acquire()
        assert (target.connections, target.open) == (30, 4)
        for _ in range(3):
            await post(endpoints, target, "whk_29")
        assert target.connections == 30


async def test_the_end_closes_all_connections(target: Sink) -> None:
    async with Endpoints(opened=LOOPBACK, deadline_s=LONG_S) as endpoints:
        await post(endpoints, target, "whk_1")
        assert target.open == 1
    with anyio.fail_after(LONG_S):
        await target.departures.acquire()
    assert target.open == 0


async def test_a_session_that_makes_room_ends_what_it_is_used_for() -> None:
    let_go = asyncio.Event()

    async def hold(writer: asyncio.StreamWriter) -> None:
        if len(target.requests) == 1:
            await let_go.wait()
        await saying(status(200))(writer)

    outcomes: list[str] = []
    async with sink(hold) as target, Endpoints(opened=LOOPBACK, deadline_s=LONG_S, most_connections=2) as endpoints:

        async def first() -> None:
            outcomes.append((await post(endpoints, target, "whk_first")).outcome)

        async with tasks_within(LONG_S) as tasks:
            tasks.start_soon(first)
            await target.arrivals.acquire()
            for number in range(10):
                outcomes.append((await post(endpoints, target, f"whk_{number}")).outcome)
            let_go.set()
    assert outcomes == ["succeeded"] * 11
