"""Events: each told once for its cause, with the payload of its type and what it is about; no number, no words."""

import json
from collections import Counter
from decimal import Decimal
from math import inf
from pathlib import Path
from typing import Any, get_args

import anyio
import pytest
from sqlalchemy import Row, select

from callwright.contract.agents.call_tools import EndCallTool, UseWhen
from callwright.contract.calls.calls import Outcome
from callwright.contract.events import EVENT_TYPES, EventType, WebhookTest
from callwright.service.platform.clock.clock import DAY, milliseconds, moment
from callwright.service.settings import ServiceSettings
from callwright.service.tables.schema import outbox, transactions
from callwright.service.telephony.engine import CallRequest, CallResult
from callwright.service.telephony.legs.leg_results import unconfirmed
from callwright.service.telephony.simulated.engine import SimulatedEngine
from callwright.service.workers import imports
from tests.support.campaign_invariants import campaign_records
from tests.support.campaigns import (
    ONCE,
    dial_and_die,
    draft,
    driver_of,
    ended_by_workers,
    expire_leases,
    lease,
    leave_in_wallet,
    make_agent,
    people,
    rent,
    run,
    settled,
    started,
    suspend_numbers,
    working,
)
from tests.support.reviews import open_review
from tests.support.service import Tenant, open_service
from tests.support.sweeps import sweep_after
from tests.support.webhooks.routing import GOOD, bad, logged

MOST_BYTES = 20_000
TOLD_BY_THE_SENDER = {"webhook.disabled", "webhook.test"}


class Unconfirmed(SimulatedEngine):
    """A network of which nobody knows whether it rang."""

    def simulate(self, request: CallRequest) -> CallResult:
        return unconfirmed(request)


async def told(tenant: Tenant, *types: str) -> list[tuple[Row[Any], dict[str, Any]]]:
    """The organization's events, of all types or of these, with their data."""
    statement = select(outbox).where(outbox.c.org_id == tenant.org_id).order_by(outbox.c.created_at, outbox.c.id)
    rows = await tenant.database.read(lambda connection: connection.execute(statement).all())
    return [(row, json.loads(row.data)) for row in rows if not types or row.type in types]


@pytest.mark.requirement("EVENT-17")
async def test_a_cancelled_deployment_is_completed_once_its_last_call_has_ended(tenant: Tenant) -> None:
    made = await started(tenant, people(3, sim_outcome="busy"))
    await dial_and_die(tenant, made.id)
    await expire_leases(tenant)
    await tenant.client.deployments.cancel(id=made.id)
    cancelled = await tenant.client.deployments.cancel(id=made.id)
    assert (cancelled.status, cancelled.stats.in_flight) == ("cancelled", 3)
    assert await told(tenant, "deployment.completed") == []
    async with working(tenant):
        over = await settled(tenant, made.id)
    await tenant.client.deployments.cancel(id=made.id)
    (row, data), *others = await told(tenant, "deployment.completed")
    assert others == []
    assert (data["status"], data["status_reason"], data["stats"]["in_flight"]) == ("cancelled", "manual", 0)
    assert (data["stats"]["attempts"], data["stats"]["outcomes"]) == (3, {"busy": 3})
    ends = [call.ended_at for call in (await campaign_records(tenant.database, made.id)).calls]
    assert row.created_at >= max(ends)
    assert over.completed_at is not None
    assert milliseconds(over.completed_at) == row.created_at // 1_000 * 1_000


async def test_a_cancelled_deployment_that_called_nobody_is_completed_at_once(tenant: Tenant) -> None:
    made = await draft(tenant, people(1))
    await tenant.client.deployments.cancel(id=made.id)
    ((row, data),) = await told(tenant, "deployment.completed")
    assert (row.subject_id, data["started_at"], data["stats"]["attempts"]) == (made.id, None, 0)


@pytest.mark.requirement("EVENT-17", "EVENT-23", "EVENT-25")
@pytest.mark.service(workers=True)
async def test_a_deployment_that_calls_everybody_is_exhausted_and_completed_once(tenant: Tenant) -> None:
    made = await run(tenant, people(5, sim_outcome="answered"))
    names = Counter(row.type for row, data in await told(tenant) if "deployment_id" in data)
    assert names == {
        "deployment.started": 1,
        "call.started": made.stats.attempts,
        "call.completed": made.stats.attempts,
        "deployment.audience_exhausted": 1,
        "deployment.completed": 1,
    }


@pytest.mark.requirement("EVENT-25")
@pytest.mark.service(workers=True)
async def test_an_exhausted_audience_is_told_with_the_figures_of_the_last_dial(tenant: Tenant) -> None:
    made = await run(tenant, people(12, sim_outcome="answered", sim_intent="yes"))
    ((row, data),) = await told(tenant, "deployment.audience_exhausted")
    calls = [call async for call in tenant.client.calls.list(deployment_id=made.id)]
    ended = [data for row_, data in await told(tenant, "call.completed") if row_.created_at <= row.created_at]
    stats, final = data["stats"], made.stats
    assert 0 < len(ended) < len(calls) == 12  # pace: a call a second, so the first ones have ended by then
    assert (stats["attempts"], stats["in_flight"]) == (12, 12 - len(ended))
    assert (stats["answered"], stats["completed"]) == (len(ended), len(ended))
    assert stats["outcomes"] == {"answered": len(ended)}
    assert stats["last_outcomes"] == {"answered": len(ended)}
    assert sum(stats["dispositions"].values()) == len(ended)
    spent = {call.id: Decimal(call.cost.amount) for call in calls if call.cost}
    assert Decimal(stats["spend"]["amount"]) == sum(spent[one["call_id"]] for one in ended)
    assert (final.in_flight, final.answered, final.outcomes) == (0, 12, {"answered": 12})


@pytest.mark.requirement("EVENT-25")
@pytest.mark.service(workers=True)
async def test_people_who_are_called_again_at_the_last_dial_count_by_the_call_before(tenant: Tenant) -> None:
    retries = {"max_attempts": 2, "busy_interval_minutes": 5, "different_time_of_day": False}
    made = await run(tenant, people(12, sim_outcome="busy"), retry_policy=retries)
    ((_, data),) = await told(tenant, "deployment.audience_exhausted")
    stats, final = data["stats"], made.stats
    assert (stats["attempts"], final.outcomes) == (24, {"busy": 24})
    assert 12 <= stats["outcomes"]["busy"] < 24  # some second calls had not ended
    assert stats["last_outcomes"] == final.last_outcomes == {"busy": 12}


async def test_a_deployment_that_lost_its_numbers_has_failed_and_is_not_completed(tenant: Tenant) -> None:
    made = await started(tenant, people(2))
    await suspend_numbers(tenant)
    assert (await ended_by_workers(tenant, made.id)).status == "failed"
    ((row, data),) = await told(tenant, "deployment.failed", "deployment.completed")
    assert (row.type, row.subject_id, row.simulated) == ("deployment.failed", made.id, True)
    assert (data["status"], data["status_reason"], data["simulated"]) == ("failed", "no_phone_number", True)
    assert data["failed_at"] is not None


async def test_a_number_that_is_released_is_told_once_and_one_that_is_rented_is_not(tenant: Tenant) -> None:
    number = await rent(tenant)
    await tenant.client.phone_numbers.update(id=number.id, label="Front desk")
    assert await told(tenant, "phone_number.status_changed") == []
    for _ in range(2):
        await tenant.client.phone_numbers.release(id=number.id)
    ((row, data),) = await told(tenant, "phone_number.status_changed")
    assert (row.subject_id, row.simulated) == (number.id, True)
    assert data == {"phone_number_id": number.id, "status": "released", "previous_status": "active", "simulated": True}


@pytest.mark.parametrize("auto_renew", [False, True])
async def test_a_number_whose_month_is_over_is_told_once(tenant: Tenant, auto_renew: bool) -> None:
    number = await tenant.client.phone_numbers.rent(country="US", auto_renew=auto_renew)
    await leave_in_wallet(tenant, 1)
    for days in (31, 38, 38):
        await sweep_after(tenant, days)
    ((row, data),) = await told(tenant, "phone_number.status_changed")
    assert (row.subject_id, data["status"], data["previous_status"]) == (number.id, "released", "active")


async def test_a_number_that_is_past_due_is_told_when_it_is_released(tenant: Tenant) -> None:
    number = await rent(tenant)
    await leave_in_wallet(tenant, 1)
    await sweep_after(tenant, 31)
    assert await told(tenant, "phone_number.status_changed") == []
    await tenant.client.phone_numbers.release(id=number.id)
    changes = [
        (data["previous_status"], data["status"]) for _, data in await told(tenant, "phone_number.status_changed")
    ]
    assert changes == [("active", "released")]


async def test_a_number_that_is_paid_for_again_is_not_told(tenant: Tenant) -> None:
    await rent(tenant)
    await sweep_after(tenant, 31)
    assert await told(tenant, "phone_number.status_changed") == []


@pytest.mark.parametrize(
    ("csv", "status"),
    [("phone_number\n+12125550100\n", "completed"), ("phone_number\n", "failed")],
    ids=["good file", "file without rows"],
)
async def test_an_import_is_told_once_when_it_ends(tenant: Tenant, csv: str, status: str) -> None:
    people_ = await tenant.client.audiences.create(name="People")
    waiting = await tenant.client.audiences.import_csv(id=people_.id, csv=csv)
    assert await told(tenant, "audience.import_completed") == []
    with anyio.fail_after(60):
        while await imports.work_on_one(tenant.services, "wrk_test"):
            pass
    ((row, data),) = await told(tenant, "audience.import_completed")
    assert (row.subject_id, row.simulated) == (people_.id, False)
    assert (data["import_id"], data["status"]) == (waiting.id, status)


@pytest.mark.requirement("EVENT-24", "EVENT-25")
@pytest.mark.service(extra_dollars=7)
async def test_a_top_up_is_told_once_and_names_its_transaction(tenant: Tenant) -> None:
    topups = select(transactions.c.id, transactions.c.amount_micros).where(
        transactions.c.org_id == tenant.org_id, transactions.c.type == "topup"
    )
    booked = await tenant.database.read(lambda connection: connection.execute(topups).all())
    found = await told(tenant, "wallet.topup_settled")
    assert {row.subject_id for row, _ in found} == {row.id for row in booked}
    assert {(data["transaction_id"], data["amount"]) for _, data in found} == {
        (row.id, f"{row.amount_micros / 1_000_000:.6f}") for row in booked
    }
    assert {row.simulated for row, _ in found} == {True}


@pytest.mark.requirement("EVENT-15", "EVENT-16", "EVENT-14")
@pytest.mark.service(workers=True)
async def test_what_is_told_of_a_call_names_what_the_specification_lists(tenant: Tenant) -> None:
    made = await run(tenant, people(1, sim_outcome="answered", sim_intent="yes"))
    ((started, start),) = await told(tenant, "call.started")
    ((completed, end),) = await told(tenant, "call.completed")
    call = (await tenant.client.calls.list(deployment_id=made.id)).data[0]
    assert started.subject_id == completed.subject_id == call.id
    for data in (start, end):
        assert (data["call_id"], data["deployment_id"], data["agent_id"]) == (call.id, made.id, made.agent_id)
    assert (end["duration_seconds"], end["outcome"]) == (call.duration_seconds, call.outcome)
    assert (end["recording_url"], end["transcript_url"]) == (call.recording_url, call.transcript_url)
    assert isinstance(end["duration_seconds"], int)
    assert started.created_at <= completed.created_at


@pytest.mark.requirement("EVENT-16")
@pytest.mark.service(workers=True)
async def test_the_end_of_a_call_is_told_once_however_it_ended(tenant: Tenant) -> None:
    outcomes: tuple[str, ...] = get_args(Outcome)
    rows = [row for place, name in enumerate(outcomes) for row in people(1, first=place, sim_outcome=name)]
    made = await run(tenant, rows, retry_policy=ONCE)
    calls = {call.id: call async for call in tenant.client.calls.list(deployment_id=made.id)}
    ends = await told(tenant, "call.completed")
    assert {call.outcome for call in calls.values()} == set(outcomes)
    assert Counter(row.subject_id for row, _ in ends) == dict.fromkeys(calls, 1)
    for row, data in ends:
        call = calls[data["call_id"]]
        assert (data["outcome"], data["duration_seconds"]) == (call.outcome, call.duration_seconds)
        assert (data["recording_url"], data["transcript_url"]) == (call.recording_url, call.transcript_url)
        assert call.ended_at is not None
        assert row.created_at // 1_000 * 1_000 == milliseconds(call.ended_at)


@pytest.mark.requirement("EVENT-21", "EVENT-25")
async def test_that_a_campaign_has_started_is_told_with_its_first_call_and_not_before(tenant: Tenant) -> None:
    start_ms = tenant.services.clock.now_ms() // 1_000 * 1_000 + 2 * DAY
    made = await draft(tenant, people(5, sim_outcome="busy"), start_at=moment(start_ms))
    await tenant.client.deployments.start(id=made.id, jump_clock=True)
    assert await told(tenant, "deployment.started") == []
    await ended_by_workers(tenant, made.id)
    ((row, data),) = await told(tenant, "deployment.started")
    calls = (await campaign_records(tenant.database, made.id)).calls
    assert len(calls) > 5
    assert row.created_at == min(call.created_at for call in calls) == start_ms
    assert (row.subject_id, data["contacts"]) == (made.id, 5)
    assert data["started_at"] == moment(start_ms).strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.mark.requirement("EVENT-22", "EVENT-25")
async def test_a_pause_by_hand_is_told_once_and_says_so(tenant: Tenant) -> None:
    made = await started(tenant, people(1))
    assert await told(tenant, "deployment.paused") == []
    for _ in range(2):
        await tenant.client.deployments.pause(id=made.id)
    ((row, data),) = await told(tenant, "deployment.paused")
    assert row.subject_id == made.id
    assert data == {"deployment_id": made.id, "reason": "manual", "simulated": True}


@pytest.mark.requirement("EVENT-20", "EVENT-27")
async def test_a_transfer_is_told_once(tenant: Tenant) -> None:
    async with working(tenant):
        made = await run(tenant, [*people(1, sim_outcome="transferred"), *people(1, first=1, sim_outcome="answered")])
    ((row, data),) = await told(tenant, "call.transferred")
    (call,) = [call async for call in tenant.client.calls.list(deployment_id=made.id, outcome=["transferred"])]
    assert (row.subject_id, row.simulated, data["agent_id"]) == (call.id, True, made.agent_id)
    transfer = data["transfer"]
    assert (transfer["type"], transfer["to"], transfer["status"], transfer["cause"]) == ("warm", None, "bridged", None)
    assert transfer["bridged_at"] == moment(row.created_at).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert (call.outcome, call.hangup_cause, call.ended_by) == ("transferred", "transfer_completed", "agent")
    assert call.transfer is not None
    assert call.transfer.model_dump(mode="json") == data["transfer"]
    ended = {one["call_id"]: one for _, one in await told(tenant, "call.completed")}
    assert ended[call.id]["transfer"] == data["transfer"]
    assert [one["transfer"] for one in ended.values() if one["call_id"] != call.id] == [None]
    of_call = [row.type for row, data in await told(tenant) if data.get("call_id") == call.id]
    assert of_call[0] == "call.started"
    assert sorted(of_call[1:]) == ["call.completed", "call.transferred"]


async def test_every_payload_is_that_of_its_type_and_holds_no_number_and_no_words(tenant: Tenant) -> None:
    client = tenant.client
    agent = await make_agent(tenant, "Tools")
    ends = EndCallTool(type="end_call", name="end_call", description="Ends it.", use_when=UseWhen())
    await client.agents.set_call_tools(id=agent.id, call_tools=[ends])
    async with working(tenant):
        rows = [*people(12), *people(1, first=12, sim_outcome="transferred")]
        called = await run(tenant, rows, "Called", agent_id=agent.id)
    stopped = await draft(tenant, people(2, first=100), "Stopped")
    for act in (client.deployments.start, client.deployments.pause, client.deployments.resume):
        await act(id=stopped.id)
    await client.deployments.cancel(id=stopped.id)
    lost = await draft(tenant, people(1, first=200), "Lost")
    await client.deployments.start(id=lost.id)
    await suspend_numbers(tenant)
    audience = await client.audiences.create(name="Imported")
    await client.audiences.import_csv(id=audience.id, csv="phone_number,first_name\n+12125550100,Person 1\n")
    assert await imports.work_on_one(tenant.services, "wrk_test")
    assert (await ended_by_workers(tenant, lost.id)).status == "failed"
    await open_review(tenant, stopped.id)
    unsure = await started(tenant, people(1, first=300), "Unsure")
    await lease(tenant, unsure.id, "wrk_unsure")
    await driver_of(tenant, "wrk_unsure", engine=Unconfirmed).drive(unsure.id)
    number_id = unsure.phone_number_ids[0]
    await client.phone_numbers.set_inbound_routing(id=number_id, url="https://example.com/who-answers")
    await logged(tenant, number_id, *[bad()] * 5, GOOD)
    await client.phone_numbers.release(id=lost.phone_number_ids[0])
    await leave_in_wallet(tenant, 1)
    found = await told(tenant)
    assert {row.type for row, _ in found} == set(EVENT_TYPES) - TOLD_BY_THE_SENDER
    said = [
        turn.text
        async for call in client.calls.list(deployment_id=called.id, outcome=["answered"])
        for turn in (await client.calls.get_transcript(call_uuid=call.id)).turns
        if turn.text
    ]
    assert said
    for row, data in found:
        type_ = EVENT_TYPES[row.type]
        assert set(data) == set(type_.data.model_fields), row.type
        assert row.subject_id == (None if type_.subject is None else data[type_.subject]), row.type
        assert row.simulated == data.get("simulated", data.get("play_money", False)), row.type
        assert len(row.data.encode()) < MOST_BYTES
        assert "+1" not in row.data
        assert "Person" not in row.data
        assert not any(text in row.data for text in said)


def test_an_event_is_about_a_member_that_its_payload_has() -> None:
    with pytest.raises(ValueError, match=r"webhook\.nothing has no call_id"):
        EventType("webhook.nothing", WebhookTest, "never", "call_id")
    assert "webhook.nothing" not in EVENT_TYPES


def test_types_that_nothing_causes_are_not_declared() -> None:
    assert "call.analyzed" not in EVENT_TYPES


@pytest.mark.parametrize("scale", [inf, 2_000.0])
async def test_with_a_public_address_what_a_call_left_is_found_from_anywhere(
    database_url: str, tmp_path: Path, scale: float
) -> None:
    root = "https://voice.example.com/calls"
    settings = ServiceSettings(data=tmp_path, database_url=database_url, public_url=root, sim_time_scale=scale)
    async with open_service(database_url, tmp_path, settings=settings) as tenant:
        ended = await run(tenant, people(1, sim_outcome="answered", sim_intent="yes"))
        (listed,) = (await tenant.client.calls.list(deployment_id=ended.id)).data
        one = await tenant.client.calls.get(call_uuid=listed.id)
        (told,) = (await tenant.client.events.list(type=["call.completed"])).data
        expected = (f"{root}/v1/calls/{one.id}/recording", f"{root}/v1/calls/{one.id}/transcript")
        for found in (listed, one):
            assert (found.recording_url, found.transcript_url) == expected
        assert (told.data["recording_url"], told.data["transcript_url"]) == expected
