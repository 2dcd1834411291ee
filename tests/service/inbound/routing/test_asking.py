"""Asking a routing webhook over the loopback: one second in all, asked once, and whatever comes back is no error."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from callwright.contract.checks.address_ranges import LOOPBACK
from callwright.service.inbound.routing.answers import RoutingAnswer
from callwright.service.inbound.routing.asking import LIMIT_S, MOST_AT_ONCE, Asked, RoutingWebhook, routing_endpoints
from callwright.service.platform.clock.clock import iso_milliseconds
from callwright.service.settings import ServiceSettings
from callwright.service.webhooks.transport.endpoints import Endpoints
from tests.support.loop_clock import moved_by_hand
from tests.support.service import Tenant
from tests.support.webhooks.certificates import Authority, authority
from tests.support.webhooks.endpoints import Answer, closing, saying, silent, sink, status
from tests.support.webhooks.predial import body_of, header_of
from tests.support.webhooks.routing import question_of
from tests.support.webhooks.signature_check import verified

LONG_S = 60.0
TRANSFER = b'{"action": "transfer", "transfer_to": "+12125550177"}'
OLD, NEW = "whsec_0123456789abcdefghijklmn", "whsec_abcdefghijklmn0123456789"


@pytest.fixture
async def move(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Puts the event loop's clock forward."""
    return moved_by_hand(monkeypatch)


@asynccontextmanager
async def webhooks(tenant: Tenant, **settings: Any) -> AsyncGenerator[RoutingWebhook]:
    """What asks, with the loopback opened."""
    made = ServiceSettings(data=Path("unused"), database_url="sqlite://", webhook_networks=LOOPBACK, **settings)
    async with routing_endpoints(made) as endpoints:
        yield RoutingWebhook(replace(tenant.services, routing_endpoints=endpoints))


async def asked(tenant: Tenant, answer: Answer | None, **changes: Any) -> Asked:
    async with sink(answer) as target, webhooks(tenant) as webhook:
        return await webhook.ask(question_of(tenant, "num_1", url=target.url(), **changes))


@pytest.mark.requirement("ROUTE-04")
async def test_a_question_is_signed_json_that_says_who_calls_whom(tenant: Tenant) -> None:
    async with sink(saying(status(200, b"{}"))) as target, webhooks(tenant) as webhook:
        question = question_of(tenant, "num_1", url=target.url(), secrets=(OLD, NEW), deployment_id="dep_1")
        found = await webhook.ask(question)
    (request,) = target.requests
    said = json.loads(body_of(request))
    created_at = said.pop("created_at")
    assert said == {
        "id": question.id,
        "type": "inbound.routing",
        "org_id": tenant.org_id,
        "data": {
            "call_id": question.call_id,
            "phone_number_id": "num_1",
            "from": "+12025550147",
            "to": "+12125550101",
            "from_country": "US",
            "default_deployment_id": "dep_1",
            "default_agent_id": None,
            "attempt": 1,
            "simulated": True,
            "is_test": False,
        },
    }
    now_ms = tenant.services.clock.now_ms()
    assert created_at[:13] == iso_milliseconds(now_ms)[:13]
    for secret in (OLD, NEW):
        verified(header_of(request, "X-Service-Signature"), body_of(request), secret, now_s=now_ms / 1_000)
    assert header_of(request, "X-Service-Simulated") == "true"
    assert found.answer == RoutingAnswer()
    assert (found.outcome, found.status, found.detail) == ("succeeded", 200, "")


async def test_a_withheld_number_is_null_and_a_test_has_no_call(tenant: Tenant) -> None:
    async with sink() as target, webhooks(tenant) as webhook:
        await webhook.ask(question_of(tenant, "num_1", url=target.url(), from_="", from_country=None, call_id=None))
    data = json.loads(body_of(target.requests[0]))["data"]
    assert (data["from"], data["from_country"], data["call_id"], data["is_test"]) == (None, None, None, True)


@pytest.mark.requirement("ROUTE-02")
async def test_the_answer_is_read_even_if_it_comes_byte_by_byte(tenant: Tenant) -> None:
    async def dribble(writer: asyncio.StreamWriter) -> None:
        for byte in status(200, TRANSFER):
            writer.write(bytes([byte]))
            await writer.drain()

    for each in (saying(status(200, TRANSFER)), dribble):
        found = await asked(tenant, each)
        assert found.answer == RoutingAnswer("transfer", transfer_to="+12125550177")
    for each in (status(204), status(200), status(202, b"{}")):
        assert (await asked(tenant, saying(each))).answer == RoutingAnswer()


def _sized(count: int) -> bytes:
    return b'{"later": "' + b"x" * (count - 13) + b'"}'


@pytest.mark.requirement("ROUTE-06")
@pytest.mark.parametrize(
    ("answer", "outcome", "code", "sentence"),
    [
        (saying(status(500, b"oops")), "server_error", 500, "it has failed"),
        (saying(status(404)), "rejected", 404, "it refuses the question"),
        (saying(status(302, b"", "Location: http://127.0.0.1/other")), "redirected", 302, "not followed"),
        (saying(status(200, b"OK")), "bad_answer", 200, "not JSON"),
        (saying(status(200, b'{"action": "sing"}')), "bad_answer", 200, "action"),
        (saying(status(200, _sized(16_385))), "bad_answer", 200, "longer than 16 KB"),
        (saying(status(200, _sized(200_000))), "bad_answer", 200, "longer than 16 KB"),
        (
            closing(b'HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{"action"'),
            "bad_answer",
            200,
            "before its answer was",
        ),
        (closing(), "connection_failed", None, "closed the connection"),
        (closing(b"hello\r\n\r\n"), "bad_answer", None, "not HTTP"),
    ],
)
async def test_an_answer_that_cannot_be_used_is_none_and_says_why(
    tenant: Tenant, answer: Answer, outcome: str, code: int | None, sentence: str
) -> None:
    found = await asked(tenant, answer)
    assert found.answer is None
    assert (found.outcome, found.status) == (outcome, code)
    assert sentence in found.detail
    assert len(found.excerpt) <= 4_096


async def test_an_answer_of_just_16_kb_is_read(tenant: Tenant) -> None:
    found = await asked(tenant, saying(status(200, _sized(16_384))))
    assert found.answer == RoutingAnswer()
    assert len(found.excerpt) == 4_096


@pytest.mark.requirement("ROUTE-06")
async def test_a_host_that_refuses_has_no_name_or_leads_into_a_private_network_gives_no_answer(tenant: Tenant) -> None:
    async with sink() as target:
        pass  # nobody listens there any more
    async with webhooks(tenant) as webhook:
        found = await webhook.ask(question_of(tenant, "num_1", url=target.url()))
        assert (found.answer, found.outcome) == (None, "connection_failed")
        found = await webhook.ask(question_of(tenant, "num_1", url="https://10.0.0.1/hook"))
        assert (found.answer, found.outcome) == (None, "forbidden_address")
    async with sink() as target, Endpoints(look_up=lambda _: ["127.0.0.1"], most_answer_bytes=100) as endpoints:
        webhook = RoutingWebhook(replace(tenant.services, routing_endpoints=endpoints))
        found = await webhook.ask(question_of(tenant, "num_1", url=f"https://hooks.example.com:{target.port}/"))
    assert (found.answer, found.outcome, target.connections) == (None, "forbidden_address", 0)
    async with Endpoints(look_up=_no_name, most_answer_bytes=100) as endpoints:
        webhook = RoutingWebhook(replace(tenant.services, routing_endpoints=endpoints))
        found = await webhook.ask(question_of(tenant, "num_1", url="https://hooks.example.com/"))
    assert (found.answer, found.outcome) == (None, "dns_failed")


def _no_name(_: str) -> list[str]:
    raise OSError(-2, "no such name")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """An authority that the service trusts."""
    return authority(tmp_path_factory.mktemp("certificates"))


@pytest.mark.requirement("ROUTE-06")
async def test_a_certificate_that_is_not_valid_gives_no_answer_and_a_good_one_does(
    tenant: Tenant, root: Authority
) -> None:
    for ended, outcome in ((False, "succeeded"), (True, "tls_failed")):
        made = Endpoints(opened=LOOPBACK, tls=root.trusting(), most_answer_bytes=16_384)
        async with sink(tls=root.presenting("localhost", ended=ended)) as target, made as endpoints:
            webhook = RoutingWebhook(replace(tenant.services, routing_endpoints=endpoints))
            found = await webhook.ask(question_of(tenant, "num_1", url=target.url("localhost", "https")))
        assert (found.outcome, found.answer is None) == (outcome, ended)


@dataclass
class _Late:
    """An endpoint that says what it says when it is let go."""

    begins: bytes = b""
    goes_on: bytes = b""

    def __post_init__(self) -> None:
        self.let_go = asyncio.Event()

    async def __call__(self, writer: asyncio.StreamWriter) -> None:
        writer.write(self.begins)
        await writer.drain()
        await self.let_go.wait()
        writer.write(self.goes_on)
        await writer.drain()


@pytest.mark.requirement("ROUTE-03")
@pytest.mark.parametrize(
    "begins",
    [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{"],
    ids=["nothing", "head", "half"],
)
@pytest.mark.parametrize("after_s", [0.7, 1.0])
async def test_the_whole_answer_has_one_second(
    tenant: Tenant, move: Callable[[float], None], begins: bytes, after_s: float
) -> None:
    whole = status(200, b"{}")
    rest = {0: whole, 17: whole[len("HTTP/1.1 200 Status\r\n") :]}.get(len(begins), b"}")
    late = _Late(begins, rest)
    results: list[Asked] = []
    over = anyio.Event()
    async with sink(late) as target, webhooks(tenant) as webhook:
        await webhook.ready()

        async def ask() -> None:
            results.append(await webhook.ask(question_of(tenant, "num_1", url=target.url())))
            over.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await target.arrivals.acquire()
            await anyio.wait_all_tasks_blocked()
            move(after_s)
            if after_s < LIMIT_S:
                await anyio.wait_all_tasks_blocked()
                assert results == []
                late.let_go.set()
            with anyio.fail_after(LONG_S):
                await over.wait()
        late.let_go.set()
    (found,) = results
    assert (found.outcome, found.answer is None) == (("succeeded", False) if after_s < LIMIT_S else ("timeout", True))
    assert found.latency_ms >= after_s * 1_000
    assert found.latency_ms > 500  # slow, and the answer counts all the same
    assert after_s < LIMIT_S or "within 1 second" in found.detail


@pytest.mark.requirement("ROUTE-04")
async def test_a_connection_is_kept_for_the_next_caller_and_nothing_is_asked_twice(tenant: Tenant) -> None:
    async with sink(saying(status(500))) as target, webhooks(tenant) as webhook:
        for _ in range(3):
            found = await webhook.ask(question_of(tenant, "num_1", url=target.url()))
            assert found.outcome == "server_error"
        assert (target.connections, len(target.requests)) == (1, 3)
        await webhook.ask(question_of(tenant, "num_2", url=target.url()))
        assert target.connections == 2  # no two numbers share one


async def test_questions_beyond_those_under_way_wait_for_their_place_within_their_second(
    tenant: Tenant, move: Callable[[float], None]
) -> None:
    results: list[Asked] = []
    over = anyio.Event()
    most = MOST_AT_ONCE + 1
    async with sink(silent) as target, webhooks(tenant) as webhook:
        await webhook.ready()

        async def ask() -> None:
            results.append(await webhook.ask(question_of(tenant, "num_1", url=target.url())))
            if len(results) == most:
                over.set()

        async with anyio.create_task_group() as tasks:
            for _ in range(most):
                tasks.start_soon(ask)
            for _ in range(MOST_AT_ONCE):
                await target.arrivals.acquire()
            move(LIMIT_S + 0.1)
            with anyio.fail_after(LONG_S):
                await over.wait()
    assert len(target.requests) == MOST_AT_ONCE
    assert {found.outcome for found in results} == {"timeout"}
    assert sum("not sent in time" in found.detail for found in results) == 1
