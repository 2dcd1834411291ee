"""What callers of the simulated network get: hours, lines, a queue, a routing webhook that says anything or nothing."""

from collections import Counter
from itertools import count
from typing import Any

import anyio
import pytest

from callwright.contract.calls.calls import Call
from callwright.contract.deployments.deployments import Deployment
from callwright.service.inbound.routing.asking import LIMIT_S
from callwright.service.platform.clock.clock import HOUR, moment
from callwright.service.platform.outgoing.posted import Posted
from tests.support.callers import answered_number, number_of
from tests.support.campaigns import calls_of, leave_in_wallet, make_agent
from tests.support.inbound_driver import answer_callers
from tests.support.service import Tenant
from tests.support.webhooks.routing import ScriptedRouting, told

MISBEHAVES = (
    Posted("timeout", None, "", "The endpoint did not answer within 1 second.", 1_000),
    Posted("connection_failed", None, "", "The endpoint refused the connection.", 2),
    Posted("dns_failed", None, "", "The name of the endpoint was not found.", 2),
    Posted("tls_failed", None, "", "The certificate of the endpoint is not valid.", 30),
    Posted("forbidden_address", None, "", "The endpoint is in a private network.", 1),
    Posted("redirected", 302, "", "The endpoint answered 302 and redirects. Redirects are not followed.", 9),
    Posted("server_error", 500, "oops", "The endpoint answered 500: it has failed.", 12, is_whole=True),
    Posted("rejected", 404, "", "The endpoint answered 404: it does not want the event.", 12, is_whole=True),
    told({"action": "sing"}),
    told({"agent_id": "agt_of_somebody_else"}),
    told({}),
    told({"action": "reject", "reject_reason": "blocked"}),
)
"""Ten answers that cannot be used, and two that can."""
NEVER = {"timezone": "UTC", "windows": [{"days": ["mon"], "start": "00:00", "end": "00:01"}]}
DESK = "+12125550177"


async def answered(
    tenant: Tenant, desk: Deployment, routing: ScriptedRouting | None = None, **asked: Any
) -> list[Call]:
    """The calls of people who call a number."""
    await tenant.client.phone_numbers.simulate_call(id=number_of(desk), **asked)
    await answer_callers(tenant, desk, routing)
    return await calls_of(tenant, desk.id)


async def routed(tenant: Tenant, desk: Deployment, answer: Any, **fallback: Any) -> Call:
    """The newest call of a number whose webhook answers so."""
    number_id = number_of(desk)
    await tenant.client.phone_numbers.set_inbound_routing(id=number_id, url="https://example.com/who", **fallback)
    said = answer if isinstance(answer, Posted) else told(answer)
    return (await answered(tenant, desk, ScriptedRouting(lambda _: said)))[-1]


def got(call: Call) -> tuple[Any, ...]:
    assert call.inbound is not None
    return call.outcome, call.inbound.routed_by, call.inbound.action, call.inbound.reason


@pytest.mark.requirement("INB-06")
@pytest.mark.parametrize(
    ("after_hours", "outcomes", "action"),
    [
        ({"action": "reject"}, {"rejected"}, "reject"),
        ({"action": "voicemail"}, {"voicemail_left", "voicemail"}, "voicemail"),
        (
            {"action": "forward", "forward_to": DESK},
            {"transferred", "busy", "no_answer", "rejected", "unreachable"},
            "forward",
        ),
    ],
)
async def test_outside_the_business_hours_callers_get_what_was_set(
    tenant: Tenant, after_hours: dict[str, str], outcomes: set[str], action: str
) -> None:
    desk = await answered_number(tenant, business_hours=NEVER, after_hours=after_hours)
    calls = await answered(tenant, desk, count=20)
    assert {call.outcome for call in calls} <= outcomes
    assert {got(call)[1:] for call in calls} == {("deployment", action, "after_hours")}


@pytest.mark.requirement("INB-08")
async def test_more_callers_than_lines_hear_the_busy_tone(tenant: Tenant) -> None:
    desk = await answered_number(tenant, max_concurrency=3)
    calls = await answered(tenant, desk, count=10)
    assert Counter(got(call)[2:] for call in calls) == {("agent", None): 3, ("reject", "overflow"): 7}
    assert {call.outcome for call in calls if got(call)[2] == "reject"} == {"busy"}
    shown = await tenant.client.deployments.get(id=desk.id)
    assert (shown.stats.attempts, shown.stats.contacts, shown.stats.in_flight) == (10, 10, 0)


@pytest.mark.requirement("INB-08")
async def test_callers_who_wait_are_answered_in_their_order_and_others_give_up(tenant: Tenant) -> None:
    desk = await answered_number(tenant, max_concurrency=1, overflow={"action": "queue"})
    calls = await answered(tenant, desk, count=12, per_minute=6)
    waited = [call for call in calls if call.inbound and call.inbound.waited_seconds]
    assert waited
    assert {call.outcome for call in calls} <= {"answered", "abandoned", "busy", "transferred"}
    assert all(call.outcome == "abandoned" or call.inbound for call in waited)
    for call in waited:
        transcript = await tenant.client.calls.get_transcript(call_uuid=call.id)
        assert transcript.turns[0].role == "agent"  # the caller hears the place in the queue
    served = [call for call in calls if call.outcome == "answered" and call.ended_at is not None]
    assert len(served) >= 2


async def test_a_webhook_chooses_the_agent_the_words_and_what_is_known_of_the_caller(tenant: Tenant) -> None:
    desk = await answered_number(tenant)
    other = await make_agent(tenant, "Second agent")
    answer = {
        "action": "answer",
        "agent_id": other.id,
        "variables": {"ticket": "T-77"},
        "metadata": {"crm": "42"},
        "overrides": {"welcome_message": "Good day, you have ticket {{ticket}}."},
    }
    call = await routed(tenant, desk, answer)
    assert got(call) == (call.outcome, "webhook", "agent", None)
    assert call.outcome in ("answered", "transferred")
    assert (call.agent_id, call.variables["ticket"]) == (other.id, "T-77")
    assert call.inbound is not None
    assert call.inbound.metadata == {"crm": "42"}
    transcript = await tenant.client.calls.get_transcript(call_uuid=call.id)
    assert "you have ticket T-77" in transcript.turns[0].text


@pytest.mark.requirement("ROUTE-02")
@pytest.mark.parametrize(
    ("reason", "outcome"), [("busy", "busy"), ("blocked", "rejected"), ("closed", "rejected"), (None, "busy")]
)
async def test_a_webhook_refuses_a_caller(tenant: Tenant, reason: str | None, outcome: str) -> None:
    call = await routed(tenant, await answered_number(tenant), {"action": "reject", "reject_reason": reason})
    assert got(call) == (outcome, "webhook", "reject", reason or "busy")
    assert (call.duration_seconds, call.cost and call.cost.amount) == (0, "0.000000")


@pytest.mark.requirement("ROUTE-05")
@pytest.mark.parametrize(
    "answer",
    [
        {"agent_id": "agt_of_somebody_else"},
        {"overrides": {"voice_id": "no-such-voice"}},
        {"action": "sing"},
        Posted("timeout", None, "", "The endpoint did not answer within 1 second.", 1_000),
        Posted("server_error", 500, "oops", "The endpoint answered 500: it has failed.", 12, is_whole=True),
    ],
)
async def test_without_a_usable_answer_the_deployment_answers_and_the_log_says_why(tenant: Tenant, answer: Any) -> None:
    desk = await answered_number(tenant)
    call = await routed(tenant, desk, answer)
    assert got(call)[1:] == ("deployment", "agent", None)
    (entry,) = (await tenant.client.phone_numbers.list_routing_requests(id=number_of(desk))).data
    assert (entry.call_id, entry.action) == (call.id, None)
    assert entry.detail
    assert entry.decision == f"Agent {call.agent_id} answers."


@pytest.mark.requirement("ROUTE-05")
async def test_with_the_deployment_paused_callers_get_what_the_number_says_and_then_busy(tenant: Tenant) -> None:
    desk = await answered_number(tenant)
    await tenant.client.deployments.pause(id=desk.id)
    forward = {"action": "forward", "forward_to": DESK}
    call = await routed(tenant, desk, {}, fallback=forward)
    assert got(call)[1:] == ("fallback", "forward", "deployment_paused")
    refused = await routed(tenant, desk, {}, fallback={"action": "reject"})
    assert got(refused) == ("rejected", "fallback", "reject", "deployment_paused")
    busy = await routed(tenant, desk, {})
    assert got(busy) == ("busy", "fallback", "reject", "deployment_paused")


async def test_a_caller_who_shows_no_number_is_answered_and_is_nobody(tenant: Tenant) -> None:
    desk = await answered_number(tenant)
    routing = ScriptedRouting()
    await tenant.client.phone_numbers.set_inbound_routing(id=number_of(desk), url="https://example.com/who")
    (call,) = await answered(tenant, desk, routing, withheld=True)
    assert (call.from_number, call.contact_name) == ("withheld", None)
    assert routing.questions[0]["data"]["from"] is None


@pytest.mark.requirement("INB-09")
async def test_a_caller_who_is_in_a_list_is_known(tenant: Tenant) -> None:
    desk = await answered_number(tenant)
    rows: list[dict[str, Any]] = [{"phone_number": "+12065550111", "name": "Mia Wong", "plan": "gold"}]
    await tenant.client.audiences.create(name="Customers", rows=rows)
    (call,) = await answered(tenant, desk, caller="+12065550111")
    assert (call.contact_name, call.variables["plan"]) == ("Mia Wong", "gold")
    assert call.audience_id is not None


async def test_with_an_empty_wallet_callers_hear_the_busy_tone(tenant: Tenant) -> None:
    desk = await answered_number(tenant)
    await leave_in_wallet(tenant, 10)
    (call,) = await answered(tenant, desk)
    assert got(call) == ("busy", "deployment", "reject", "insufficient_credits")


@pytest.mark.requirement("INB-10")
async def test_in_real_time_calls_last_and_are_recorded(tenant: Tenant) -> None:
    desk = await answered_number(tenant, max_concurrency=2)
    await tenant.client.phone_numbers.simulate_call(id=number_of(desk), count=4)
    await answer_callers(tenant, desk, time_scale=2_000.0)
    calls = await calls_of(tenant, desk.id)
    assert Counter(got(call)[2] for call in calls) == {"agent": 2, "reject": 2}
    assert all(call.ended_at is not None for call in calls)


@pytest.mark.requirement("INB-10")
async def test_calls_that_a_process_left_are_gone_on_with_by_the_next_one(tenant: Tenant) -> None:
    desk = await answered_number(tenant, max_concurrency=3, overflow={"action": "queue"})
    await tenant.client.phone_numbers.simulate_call(id=number_of(desk), count=6)
    with anyio.move_on_after(0.7):  # as if it had been killed: its calls are under way
        await answer_callers(tenant, desk, time_scale=1.0)
    under_way = await calls_of(tenant, desk.id)
    assert [call for call in under_way if call.ended_at is None]
    await answer_callers(tenant, desk)
    calls = await calls_of(tenant, desk.id)
    assert {call.id for call in calls} == {call.id for call in under_way}
    assert all(call.ended_at is not None for call in calls)
    shown = await tenant.client.deployments.get(id=desk.id)
    assert (shown.stats.attempts, shown.stats.in_flight, shown.stats.contacts) == (6, 0, 6)


@pytest.mark.requirement("INB-10", "ROUTE-05")
@pytest.mark.parametrize("callers", [612, pytest.param(10_008, marks=pytest.mark.long)])
async def test_however_endpoints_misbehave_each_caller_is_answered_by_the_right_fallback_and_is_in_the_log(
    tenant: Tenant, callers: int
) -> None:
    numbers = tenant.client.phone_numbers
    active = await answered_number(tenant, "Active", max_concurrency=1_000)
    forwards = await answered_number(tenant, "Paused, forwards", max_concurrency=1_000)
    busy = await answered_number(tenant, "Paused", max_concurrency=1_000)
    away = {"action": "forward", "forward_to": DESK}
    expected = {
        active.id: ("deployment", "agent", None),
        forwards.id: ("fallback", "forward", "deployment_paused"),
        busy.id: ("fallback", "reject", "deployment_paused"),
    }
    numbered = count()
    routing = ScriptedRouting(lambda _: MISBEHAVES[next(numbered) % len(MISBEHAVES)])
    for desk in (active, forwards, busy):
        set_up: dict[str, Any] = {"fallback": away} if desk is forwards else {}
        await numbers.set_inbound_routing(id=number_of(desk), url="https://example.com/who", **set_up)
        if desk is not active:
            await tenant.client.deployments.pause(id=desk.id)
        for begin in range(0, callers // 3, 1_000):  # an hour after those before, who are gone by then
            at_ms, some = tenant.services.clock.now_ms() + begin // 1_000 * HOUR, min(callers // 3 - begin, 1_000)
            await numbers.simulate_call(id=number_of(desk), count=some, per_minute=600, start_at=moment(at_ms))
            await answer_callers(tenant, desk, routing)
        by_id = {call.id: call async for call in tenant.client.calls.list(deployment_id=desk.id, per_page=200)}
        entries = [entry async for entry in numbers.list_routing_requests(id=number_of(desk), per_page=200)]
        assert len(by_id) == callers // 3
        assert sorted(entry.call_id or "" for entry in entries) == sorted(by_id)
        each = callers // 3 // len(MISBEHAVES)
        assert Counter(entry.action for entry in entries) == {None: 10 * each, "answer": each, "reject": each}
        for entry in entries:
            call = by_id[entry.call_id or ""]
            assert call.inbound is not None
            assert call.ended_at is not None
            routed = (call.inbound.routed_by, call.inbound.action, call.inbound.reason)
            if entry.action == "reject":
                assert routed == ("webhook", "reject", "blocked")
            elif entry.action == "answer" and desk is active:
                assert routed == ("webhook", "agent", None)
            else:
                assert routed == expected[desk.id]
            assert bool(entry.detail) == (entry.action is None)
            assert entry.latency_ms <= LIMIT_S * 1_000


async def test_callers_who_wait_at_a_deployment_that_is_paused_are_not_left_waiting(tenant: Tenant) -> None:
    desk = await answered_number(tenant, max_concurrency=1, overflow={"action": "queue"})
    await tenant.client.phone_numbers.simulate_call(id=number_of(desk), count=2, steering={"patience": "3600"})

    async def pause() -> None:
        with anyio.fail_after(20):
            while True:
                if len(await calls_of(tenant, desk.id)) == 2:
                    break
                await anyio.sleep(0.05)
        await tenant.client.deployments.pause(id=desk.id)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(pause)
        await answer_callers(tenant, desk, time_scale=20.0)
    calls = await calls_of(tenant, desk.id)
    (waited,) = [call for call in calls if call.inbound is not None and call.inbound.reason == "overflow"]
    assert waited.outcome in ("abandoned", "rejected")  # by whether the caller had heard the place in the queue
    assert (waited.ended_by, waited.hangup_cause) == ("platform", "call_rejected")
    assert {call.outcome for call in calls if call.id != waited.id} <= {"answered", "transferred"}
