"""Requests that are being answered: bounded, and ended in good order."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import anyio
import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from callwright.server.transport.open_requests import OpenRequests, current_request
from tests.support.tasks import tasks_within

SCOPE: Scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": []}


class Caller:
    """Sends one request and keeps what is answered."""

    def __init__(self) -> None:
        self.sent: list[Message] = []
        self.begun = anyio.Event()
        self.over = anyio.Event()

    async def receive(self) -> Message:
        await anyio.sleep_forever()
        raise AssertionError

    async def send(self, message: Message) -> None:
        self.sent.append(message)
        self.begun.set()

    async def asks(self, app: Any, changes: Mapping[str, Any] = MappingProxyType({})) -> None:
        await app({**SCOPE, **changes}, self.receive, self.send)
        self.over.set()

    @property
    def status(self) -> int:
        return self.sent[0]["status"]

    @property
    def is_complete(self) -> bool:
        return self.sent[-1]["type"] == "http.response.body" and not self.sent[-1].get("more_body", False)


async def stream(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"more", "more_body": True})
    await anyio.sleep_forever()


async def silence(scope: Scope, receive: Receive, send: Send) -> None:
    await anyio.sleep_forever()


async def test_a_request_is_answered() -> None:
    caller = Caller()
    async with OpenRequests(PlainTextResponse("here")) as requests:
        await caller.asks(requests)
    assert (caller.status, caller.is_complete) == (200, True)


@pytest.mark.parametrize(("app", "status"), [(stream, 200), (silence, 503)])
async def test_an_open_request_is_ended_completely(app: Any, status: int) -> None:
    caller = Caller()
    async with tasks_within(5) as tasks:
        async with OpenRequests(app, grace_s=0) as requests:
            tasks.start_soon(caller.asks, requests)
            await anyio.wait_all_tasks_blocked()
    assert (caller.status, caller.is_complete) == (status, True)
    assert ((b"retry-after", b"1") in caller.sent[0]["headers"]) is (status == 503)


async def test_the_end_waits_for_a_request_that_is_nearly_answered() -> None:
    caller, go_on = Caller(), anyio.Event()

    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        await go_on.wait()
        await PlainTextResponse("here")(scope, receive, send)

    async def end(requests: OpenRequests) -> None:
        async with requests:
            pass

    async with tasks_within(5) as tasks:
        requests = OpenRequests(slow, grace_s=60)
        tasks.start_soon(caller.asks, requests)
        await anyio.wait_all_tasks_blocked()
        tasks.start_soon(end, requests)
        await anyio.wait_all_tasks_blocked()
        assert caller.sent == []
        go_on.set()
    assert (caller.status, caller.is_complete) == (200, True)


async def test_nobody_is_let_in_once_the_end_has_begun() -> None:
    async with OpenRequests(PlainTextResponse("here")) as requests:
        pass
    caller = Caller()
    await caller.asks(requests)
    assert caller.status == 503
    assert (b"retry-after", b"1") in caller.sent[0]["headers"]


async def test_more_requests_than_the_bound_are_told_to_come_again() -> None:
    first, second, third = Caller(), Caller(), Caller()
    async with tasks_within(5) as tasks:
        async with OpenRequests(stream, most=2, grace_s=0) as requests:
            tasks.start_soon(first.asks, requests)
            tasks.start_soon(second.asks, requests)
            await anyio.wait_all_tasks_blocked()
            await third.asks(requests)
            assert (first.status, second.status, third.status) == (200, 200, 503)
            assert (b"retry-after", b"1") in third.sent[0]["headers"]


async def test_a_fault_of_the_application_passes_through_and_frees_its_place() -> None:
    async def broken(scope: Scope, receive: Receive, send: Send) -> None:
        raise ZeroDivisionError

    async with OpenRequests(broken, most=1) as requests:
        for _ in range(2):
            with pytest.raises(ZeroDivisionError):
                await Caller().asks(requests)


async def test_whoever_only_listens_is_not_waited_for_as_long_as_whoever_is_answered() -> None:
    ways: list[dict[str, Any]] = [{"method": "GET"}, {"headers": [(b"mcp-method", b"subscriptions/listen")]}]
    for listening in ways:
        caller = Caller()
        async with tasks_within(5) as tasks:
            async with OpenRequests(silence, grace_s=60) as requests:
                tasks.start_soon(caller.asks, requests, listening)
                await anyio.wait_all_tasks_blocked()
        assert (caller.status, caller.is_complete) == (503, True)


async def test_whoever_listens_for_the_answer_of_a_call_is_waited_for_and_others_are_not() -> None:
    waiting, idle, go_on, called = Caller(), Caller(), anyio.Event(), anyio.Event()

    async def listening(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        if scope["path"] == "/called":
            request = current_request()
            assert request is not None
            with request.call():
                called.set()
                await go_on.wait()
            await send({"type": "http.response.body", "body": b"the answer", "more_body": True})
        await anyio.sleep_forever()

    async def end(requests: OpenRequests) -> None:
        async with requests:
            pass

    async with tasks_within(10) as tasks:
        requests = OpenRequests(listening, grace_s=60)
        tasks.start_soon(waiting.asks, requests, {"method": "GET", "path": "/called"})
        tasks.start_soon(idle.asks, requests, {"method": "GET", "path": "/idle"})
        await called.wait()
        tasks.start_soon(end, requests)
        await idle.over.wait()
        assert (idle.is_complete, waiting.is_complete) == (True, False)
        go_on.set()
    assert [message.get("body") for message in waiting.sent[1:]] == [b"the answer", b""]
    assert waiting.is_complete


async def test_a_call_that_outlasts_the_end_is_cut() -> None:
    caller = Caller()

    async def listening(scope: Scope, receive: Receive, send: Send) -> None:
        request = current_request()
        assert request is not None
        with request.call():
            await anyio.sleep_forever()

    async with tasks_within(5) as tasks:
        async with OpenRequests(listening, grace_s=0.1) as requests:
            tasks.start_soon(caller.asks, requests, {"method": "GET"})
            await anyio.wait_all_tasks_blocked()
    assert (caller.status, caller.is_complete) == (503, True)
