"""What a subscriber gets: over a socket from a running service, and in which order, how often and with which times."""

import json
import re
import time
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest
from sqlalchemy import text, update

from callwright.contract.checks.address_ranges import LOOPBACK
from callwright.contract.events import DEPLOYMENT_PAUSED, DEPLOYMENT_RESUMED
from callwright.service.platform.wake_signal import WakeNotifier
from callwright.service.settings import ServiceSettings
from callwright.service.tables.schema import webhooks
from callwright.service.webhooks.dispatcher import Dispatcher
from callwright.service.webhooks.transport.endpoints import Endpoints
from tests.support.campaigns import draft, ended_by_workers, people, run, suspend_numbers
from tests.support.service import Tenant, open_service
from tests.support.webhooks import signature_check
from tests.support.webhooks.delivering import Delivering, answer, url_of
from tests.support.webhooks.endpoints import Sink, saying, sink, status

LONG_S = 60.0
"""A deadline that no test reaches."""


@dataclass(frozen=True)
class Arrived:
    """A request as it came over the socket."""

    line: str
    headers: dict[str, str]
    body: bytes

    @property
    def event(self) -> dict[str, Any]:
        return json.loads(self.body)


async def arrived(target: Sink, count: int) -> list[Arrived]:
    """The first requests, once so many have come."""
    with anyio.fail_after(LONG_S):
        for _ in range(count):
            await target.arrivals.acquire()
    found: list[Arrived] = []
    for request in target.requests:
        head, _, body = request.partition(b"\r\n\r\n")
        line, *headers = head.decode().split("\r\n")
        found.append(Arrived(line, {name.lower(): text for name, text in (one.split(": ") for one in headers)}, body))
    return found


@asynccontextmanager
async def serving(database_url: str, data: Path) -> AsyncGenerator[Tenant]:
    """A service with its own workers, which sends to the loopback."""
    settings = ServiceSettings(data=data, database_url=database_url, webhook_networks=LOOPBACK)
    async with open_service(database_url, data, settings=settings) as tenant:
        yield tenant


@pytest.mark.requirement("SERV-08", "EVENT-01", "AUTH-35", "HOOK-06", "SIGN-02", "SIGN-06", "CONV-13")
@pytest.mark.requirement("CONV-04", "CONV-09", "EVENT-10", "EVENT-11", "EVENT-13", "EVENT-14")
async def test_a_running_service_sends_an_event_as_a_post_with_json_that_the_secret_has_signed(
    database_url: str, tmp_path: Path, target: Sink
) -> None:
    async with serving(database_url, tmp_path) as tenant:
        made = await tenant.client.webhooks.create(url=target.url(), events=["call.started"])
        tried = await tenant.client.webhooks.test(id=made.id)
        (got,) = await arrived(target, 1)
        assert got.line == "POST /hook HTTP/1.1"
        assert got.headers["content-type"] == "application/json"
        header = got.headers["x-service-signature"]
        assert re.fullmatch(r"t=[0-9]+,v1=[0-9a-f]{64}", header)
        signature_check.verified(header, got.body, made.secret, now_s=time.time())
        for no_secret_of_it in (tenant.api_key, made.secret.removeprefix("whsec_"), made.secret_prefix):
            with pytest.raises(signature_check.Refused):
                signature_check.verified(header, got.body, no_secret_of_it, now_s=time.time())
        assert list(got.event) == ["id", "type", "created_at", "org_id", "data"]
        assert re.fullmatch(r"evt_[0-9A-Za-z]{24}", got.event["id"])
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", got.event["created_at"])
        assert (got.event["type"], got.event["org_id"]) == ("webhook.test", tenant.org_id)
        assert got.event["data"]["webhook_id"] == made.id
        assert re.fullmatch(r"dlv_[0-9A-Za-z]{24}", tried.id)
        assert got.headers["x-service-delivery-id"] == tried.id
        shown = (await tenant.client.events.get(id=got.event["id"])).model_dump()
        assert {name: shown[name] for name in got.event} == got.event


@pytest.mark.requirement("SERV-08", "EVENT-14", "EVENT-15", "EVENT-16")
async def test_who_subscribes_to_calls_is_sent_the_beginning_and_the_end_of_each_with_their_fields(
    database_url: str, tmp_path: Path, target: Sink
) -> None:
    async with serving(database_url, tmp_path) as tenant:
        made = await tenant.client.webhooks.create(url=target.url(), events=["call.started", "call.completed"])
        deployment = await run(tenant, people(3, sim_outcome="answered", sim_intent="yes"))
        got = await arrived(target, 6)
        for one in got:
            signature_check.verified(one.headers["x-service-signature"], one.body, made.secret, now_s=time.time())
        calls = {call.id: call async for call in tenant.client.calls.list(deployment_id=deployment.id)}
        assert len(calls) == 3
        events = [one.event for one in got]
        assert Counter(event["type"] for event in events) == {"call.started": 3, "call.completed": 3}
        for event in events:
            call, data = calls[event["data"]["call_id"]], event["data"]
            assert (data["deployment_id"], data["agent_id"]) == (deployment.id, deployment.agent_id)
            if event["type"] == "call.completed":
                assert (data["duration_seconds"], data["outcome"]) == (call.duration_seconds, "answered")
                assert (data["recording_url"], data["transcript_url"]) == (call.recording_url, call.transcript_url)
                assert call.recording_url is not None
                assert call.transcript_url is not None


@pytest.mark.requirement("EVENT-02")
@pytest.mark.parametrize(
    "body",
    [b"", b'{"error":"refused","status":500,"retry":true}', b'{"ok":true,"status":200}', b"\xff\x00<html>"],
    ids=["nothing", "a failure in words", "a success in words", "no text"],
)
async def test_the_status_alone_counts_whatever_the_body_of_an_answer_says(at: Delivering, body: bytes) -> None:
    answers = {200: "succeeded", 299: "succeeded", 404: "failed", 500: "pending"}
    statuses = list(answers)
    async with Endpoints(opened=LOOPBACK) as endpoints:
        webhook = await at.subscribe("a", "deployment.paused")
        dispatcher = Dispatcher(at.services, WakeNotifier(), endpoints)
        outcomes: dict[int, str] = {}
        for code in statuses:
            async with sink(saying(status(code, body))) as target:
                await at.change(update(webhooks).where(webhooks.c.id == webhook.id).values(url=target.url()))
                (event,) = await at.happen()
                with anyio.fail_after(LONG_S):
                    await dispatcher.work_until_idle()
                assert len(target.requests) == 1
            found = (await at.tenant.client.events.list_deliveries(id=event)).data
            outcomes[code] = found[0].status
        assert outcomes == answers


@pytest.mark.requirement("EVENT-06")
async def test_an_event_may_overtake_another_and_created_at_tells_the_true_order(at: Delivering) -> None:
    await at.subscribe("a", "deployment.paused", "deployment.resumed")
    at.endpoints.answers[url_of("a")] = lambda _: answer("server_error", 503)
    (first,) = await at.happen(type_=DEPLOYMENT_PAUSED)
    await at.deliver()
    at.endpoints.answers.clear()
    at.clock.move(1)
    (second,) = await at.happen(type_=DEPLOYMENT_RESUMED)
    await at.deliver()
    await at.deliver(after_ms=15_000)
    _refused, *taken = [json.loads(request.body) for request in at.endpoints.requests]
    assert [event["id"] for event in taken] == [second, first]
    assert [event["id"] for event in sorted(taken, key=lambda event: event["created_at"])] == [first, second]


@pytest.mark.requirement("EVENT-12", "CONV-04")
async def test_created_at_is_when_it_happened_however_late_and_often_it_is_sent(at: Delivering) -> None:
    await at.subscribe()
    at.endpoints.answers[url_of("a")] = lambda _: answer("timeout")
    happened = datetime.fromtimestamp(at.clock.now_ms() / 1_000, UTC).isoformat(timespec="milliseconds")
    await at.happen()
    await at.deliver(after_ms=3_600_000)
    await at.deliver(after_ms=15_000)
    sent = [json.loads(request.body)["created_at"] for request in at.endpoints.requests]
    assert sent == [happened.replace("+00:00", "Z")] * 2


@pytest.mark.requirement("EVENT-07", "EVENT-09", "PATH-33")
async def test_an_event_that_is_replayed_arrives_again_with_its_own_id_and_bytes(at: Delivering) -> None:
    await at.subscribe()
    one, other = await at.happen(2)
    await at.deliver()
    assert (await at.tenant.client.events.replay(id=one)).queued == 1
    await at.deliver(after_ms=60_000)
    before = {request.headers["X-Service-Event-Id"]: request for request in at.endpoints.requests[:2]}
    again = at.endpoints.requests[2:]
    assert set(before) == {one, other}
    assert [request.body for request in again] == [before[one].body]
    assert json.loads(again[0].body)["id"] == one
    assert again[0].headers["X-Service-Delivery-Id"] != before[one].headers["X-Service-Delivery-Id"]


async def test_an_event_whose_data_was_stored_plainly_arrives_with_the_same_bytes(at: Delivering) -> None:
    await at.subscribe()
    (one,) = await at.happen()
    await at.deliver()
    sent = at.endpoints.requests[0].body
    plain = json.dumps(json.loads(sent)["data"], separators=(",", ":"), ensure_ascii=False)
    await at.change(text("UPDATE outbox SET data = :plain").bindparams(plain=plain))
    await at.tenant.client.events.replay(id=one)
    await at.deliver(after_ms=60_000)
    assert [request.body for request in at.endpoints.requests] == [sent, sent]


async def _told(at: Delivering, deployment_id: str) -> dict[str, int]:
    """How often the subscriber got each type of event about a deployment itself."""
    for _ in range(2):
        await at.deliver(after_ms=3_600_000)
    events = [json.loads(request.body) for request in at.endpoints.to(url_of("a"))]
    return Counter(
        event["type"]
        for event in events
        if event["data"].get("deployment_id") == deployment_id and event["type"].startswith("deployment.")
    )


@pytest.mark.requirement("STATE-22", "EVENT-17", "EVENT-21", "EVENT-22", "EVENT-23", "EVENT-25")
async def test_subscribers_get_each_change_of_a_deployment_once(at: Delivering) -> None:
    await at.subscribe()
    tenant, act = at.tenant, at.tenant.client.deployments
    called = await draft(tenant, people(2), "Called")
    for change in (act.start, act.start, act.pause, act.pause, act.resume, act.resume):
        await change(id=called.id)
    assert (await ended_by_workers(tenant, called.id)).status == "completed"
    assert await _told(at, called.id) == {
        "deployment.paused": 1,
        "deployment.resumed": 1,
        "deployment.started": 1,
        "deployment.audience_exhausted": 1,
        "deployment.completed": 1,
    }
    cancelled = await draft(tenant, people(2, first=10), "Cancelled")
    for change in (act.start, act.cancel, act.cancel):
        await change(id=cancelled.id)
    assert await _told(at, cancelled.id) == {"deployment.completed": 1}
    lost = await draft(tenant, people(2, first=20), "Lost")
    await act.start(id=lost.id)
    await suspend_numbers(tenant)
    assert (await ended_by_workers(tenant, lost.id)).status == "failed"
    assert await _told(at, lost.id) == {"deployment.failed": 1}
