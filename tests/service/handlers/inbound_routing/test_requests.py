"""The log of a number's routing webhook, and the question that somebody asks to try it."""

from pathlib import Path
from typing import Any

import anyio
import pytest
from sqlalchemy import Connection, func, select

from callwright.contract.checks.address_ranges import LOOPBACK
from callwright.contract.inbound_routing import FAILURES_UNTIL_ALERT, RoutingFallback
from callwright.service.inbound.routing import retention
from callwright.service.platform.clock.clock import DAY
from callwright.service.settings import ServiceSettings
from callwright.service.tables.schema import outbox, routing_requests
from tests.support import resources
from tests.support.http.raw_requests import AsyncClient
from tests.support.resources import inbound, inbound_number, refusal
from tests.support.service import Tenant, open_service
from tests.support.webhooks.endpoints import closing, saying, sink, status
from tests.support.webhooks.predial import body_of, header_of
from tests.support.webhooks.routing import CALLER, GOOD, bad, logged
from tests.support.webhooks.signature_check import verified

opened = pytest.mark.service(settings={"webhook_networks": LOOPBACK})
ELSEWHERE = "+12125550177"


async def routed(tenant: Tenant, number_id: str, url: str = "https://example.com/hook", **fields: Any) -> str:
    """Sets the webhook of a number; gives its secret."""
    made = await tenant.client.phone_numbers.set_inbound_routing(id=number_id, url=url, **fields)
    return made.secret or ""


@opened
@pytest.mark.requirement("ROUTE-09")
async def test_a_test_asks_now_and_says_what_a_caller_would_get(tenant: Tenant) -> None:
    made = await inbound(tenant)
    number_id = inbound_number(made)
    numbers = tenant.client.phone_numbers
    async with sink(saying(status(200, b'{"overrides": {"language": "de-DE"}}'))) as target:
        secret = await routed(tenant, number_id, target.url())
        found = await numbers.test_inbound_routing(id=number_id)
    (request,) = target.requests
    now_s = tenant.services.clock.now_ms() / 1_000
    verified(header_of(request, "X-Service-Signature"), body_of(request), secret, now_s=now_s)
    assert (found.outcome, found.action, found.response_status, found.detail) == ("succeeded", "answer", 200, "")
    assert (found.is_test, found.call_id, found.from_number, found.simulated) == (True, None, "+12025550100", True)
    assert found.decision == f"Agent {made.agent_id} answers with another language."
    (kept,) = (await numbers.list_routing_requests(id=number_id)).data
    assert kept == found
    assert (await tenant.client.calls.list()).data == []


@opened
@pytest.mark.requirement("ROUTE-09")
async def test_without_a_usable_answer_the_deployment_answers_then_the_number_says_what_happens(tenant: Tenant) -> None:
    number = await resources.number(tenant)
    numbers = tenant.client.phone_numbers
    said: list[str | None] = []
    async with sink(saying(status(500))) as target:
        await routed(tenant, number.id, target.url())
        said.append((await numbers.test_inbound_routing(id=number.id)).decision)
        await routed(tenant, number.id, target.url(), fallback=RoutingFallback(action="reject"))
        said.append((await numbers.test_inbound_routing(id=number.id)).decision)
        await routed(tenant, number.id, target.url(), fallback=RoutingFallback(action="forward", forward_to=ELSEWHERE))
        said.append((await numbers.test_inbound_routing(id=number.id)).decision)
        answering = await inbound(tenant, phone_number_id=number.id)
        said.append((await numbers.test_inbound_routing(id=number.id)).decision)
        await tenant.client.deployments.pause(id=answering.id)
        said.append((await numbers.test_inbound_routing(id=number.id)).decision)
    assert said == [
        "No active deployment answers the number, so the caller hears the busy tone.",
        "No active deployment answers the number, so the call is refused as closed.",
        f"No active deployment answers the number, so the caller is forwarded to {ELSEWHERE}.",
        f"Agent {answering.agent_id} answers.",
        f"No active deployment answers the number, so the caller is forwarded to {ELSEWHERE}.",
    ]


@opened
@pytest.mark.requirement("ROUTE-07")
async def test_a_test_reads_every_form_of_an_answer(tenant: Tenant) -> None:
    made = await inbound(tenant)
    number_id = inbound_number(made)
    other = await resources.agent(tenant, "Another one")
    for body, outcome, words in (
        (b'{"agent_id": "%s"}' % other.id.encode(), "succeeded", f"Agent {other.id} answers"),
        (b'{"action": "transfer", "transfer_to": "+12125550177"}', "succeeded", f"forwarded to {ELSEWHERE}"),
        (b'{"action": "reject", "reject_reason": "blocked"}', "succeeded", "refused as blocked"),
        (b'{"agent_id": "agt_nobody"}', "bad_answer", f"Agent {made.agent_id} answers"),
        (b'{"overrides": {"voice_id": "nobody"}}', "bad_answer", f"Agent {made.agent_id} answers"),
    ):
        async with sink(saying(status(200, body))) as target:
            await routed(tenant, number_id, target.url())
            found = await tenant.client.phone_numbers.test_inbound_routing(id=number_id)
        assert (found.outcome, found.response_excerpt) == (outcome, body.decode())
        assert found.decision is not None
        assert words in found.decision
        assert (found.detail == "") == (outcome == "succeeded")
        assert (found.action is None) == (outcome != "succeeded")


async def test_an_agent_of_another_organization_is_none(database_url: str, tmp_path: Path) -> None:
    async with (
        open_service(database_url, tmp_path, workers=False, settings=_opened(database_url, tmp_path)) as tenant,
        tenant.another_organization() as other,
    ):
        theirs = await resources.agent(other)
        number = await resources.number(tenant)
        async with sink(saying(status(200, b'{"agent_id": "%s"}' % theirs.id.encode()))) as target:
            await routed(tenant, number.id, target.url())
            found = await tenant.client.phone_numbers.test_inbound_routing(id=number.id)
        assert (found.outcome, found.detail) == (
            "bad_answer",
            "The answer's agent_id is no agent of the organization; list_agents has them.",
        )
        async with refusal(404, "not_found"):
            await other.client.phone_numbers.list_routing_requests(id=number.id)


def _opened(database_url: str, folder: Path) -> ServiceSettings:
    return ServiceSettings(data=folder, database_url=database_url, webhook_networks=LOOPBACK)


@opened
async def test_a_repeated_test_asks_nothing_again(tenant: Tenant, http: AsyncClient) -> None:
    number = await resources.number(tenant)
    async with sink(closing(status(204))) as target:
        await routed(tenant, number.id, target.url(), enabled=False)  # it can be tried before it is switched on
        path, headers = f"/v1/phone_numbers/{number.id}/inbound_routing/test", {"Idempotency-Key": "once"}
        first = (await http.post(path, headers=headers, json={})).json()["data"]
        again = (await http.post(path, headers=headers, json={})).json()["data"]
        assert len(target.requests) == 1
    assert first == again
    assert first["outcome"] == "succeeded"


async def test_a_number_without_a_webhook_cannot_be_tried(tenant: Tenant) -> None:
    number = await resources.number(tenant)
    async with refusal(409, "invalid_state_transition", "id") as found:
        await tenant.client.phone_numbers.test_inbound_routing(id=number.id)
    assert "set_inbound_routing" in str(found[0])


@pytest.mark.requirement("ROUTE-03", "ROUTE-10")
async def test_the_log_is_newest_first_and_filtered_by_failure_slowness_and_time(tenant: Tenant) -> None:
    number = await resources.number(tenant)
    await routed(tenant, number.id)
    slow = GOOD.__class__(GOOD.answer, "succeeded", 200, "{}", "", 501)
    just = GOOD.__class__(GOOD.answer, "succeeded", 200, "{}", "", 500)
    ids = await logged(tenant, number.id, GOOD, just, slow, bad("server_error", 20), bad())
    numbers = tenant.client.phone_numbers

    async def found(**filters: Any) -> list[str]:
        return [one.id for one in (await numbers.list_routing_requests(id=number.id, **filters)).data]

    everything = await numbers.list_routing_requests(id=number.id)
    assert {one.id for one in everything.data} == set(ids)
    assert [one.created_at for one in everything.data] == sorted(
        (one.created_at for one in everything.data), reverse=True
    )
    assert sorted(await found(failed=True)) == sorted(ids[3:])
    assert sorted(await found(failed=False)) == sorted(ids[:3])
    assert sorted(await found(slow=True)) == sorted([ids[2], ids[4]])
    assert await found(slow=True, failed=False) == [ids[2]]
    begin = everything.data[-1].created_at
    assert await found(created_before=begin) == []
    assert sorted(await found(created_from=begin)) == sorted(ids)
    entry = next(one for one in everything.data if one.id == ids[4])
    assert (entry.outcome, entry.slow, entry.latency_ms, entry.from_number) == ("timeout", True, 1_000, CALLER)
    await numbers.remove_inbound_routing(id=number.id)
    assert len(await found()) == 5  # the log stays


async def _told(tenant: Tenant) -> list[str]:
    wanted = select(outbox.c.type).where(outbox.c.type.like("phone_number.routing%")).order_by(outbox.c.created_at)
    return list(await tenant.database.read(lambda connection: connection.execute(wanted).scalars().all()))


@pytest.mark.requirement("ROUTE-11")
async def test_a_webhook_that_fails_five_times_in_a_row_is_told_of_once_and_again_when_it_recovers(
    tenant: Tenant,
) -> None:
    number = await resources.number(tenant)
    await routed(tenant, number.id)

    async def shown() -> tuple[int, bool]:
        routing = (await tenant.client.phone_numbers.get(id=number.id)).inbound_routing
        assert routing is not None
        return routing.failures, routing.failing_since is not None

    few = FAILURES_UNTIL_ALERT - 1
    await logged(tenant, number.id, *[bad()] * few)
    assert (await shown(), await _told(tenant)) == ((few, False), [])
    await logged(tenant, number.id, GOOD)
    assert (await shown(), await _told(tenant)) == ((0, False), [])
    await logged(tenant, number.id, *[bad()] * few)
    await logged(tenant, number.id, *[bad()] * 2, call_id=None)  # tests do not count
    assert (await shown(), await _told(tenant)) == ((few, False), [])
    await logged(tenant, number.id, *[bad()] * 10)
    assert (await shown(), await _told(tenant)) == ((few + 10, True), ["phone_number.routing_failing"])
    await logged(tenant, number.id, GOOD, call_id=None)
    assert await shown() == (few + 10, True)
    await logged(tenant, number.id, GOOD, GOOD)
    assert await shown() == (0, False)
    assert await _told(tenant) == ["phone_number.routing_failing", "phone_number.routing_recovered"]


async def test_callers_who_come_at_once_are_each_counted_and_the_event_goes_out_once(tenant: Tenant) -> None:
    number = await resources.number(tenant)
    await routed(tenant, number.id)
    async with anyio.create_task_group() as tasks:
        for _ in range(20):
            tasks.start_soon(logged, tenant, number.id, bad())
    routing = (await tenant.client.phone_numbers.get(id=number.id)).inbound_routing
    assert routing is not None
    assert (routing.failures, await _told(tenant)) == (20, ["phone_number.routing_failing"])


async def test_the_same_question_is_logged_and_counted_once(tenant: Tenant) -> None:
    number = await resources.number(tenant)
    await routed(tenant, number.id)
    for _ in range(2):
        await logged(tenant, number.id, bad(), id="evt_same")
    routing = (await tenant.client.phone_numbers.get(id=number.id)).inbound_routing
    assert routing is not None
    assert routing.failures == 1
    assert len((await tenant.client.phone_numbers.list_routing_requests(id=number.id)).data) == 1


@pytest.mark.requirement("ROUTE-10")
async def test_entries_are_deleted_after_thirty_days(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "MOST", 2)  # several units of work
    number = await resources.number(tenant)
    await routed(tenant, number.id)
    await logged(tenant, number.id, *[GOOD] * 5)
    now_ms = tenant.services.clock.now_ms()
    for at_ms, left in ((now_ms + 30 * DAY - DAY, 5), (now_ms + 30 * DAY + 1_000, 0)):
        await retention.run(tenant.services, at_ms)
        assert await tenant.database.read(_entries) == left


def _entries(connection: Connection) -> int:
    return connection.execute(select(func.count()).select_from(routing_requests)).scalar_one()
