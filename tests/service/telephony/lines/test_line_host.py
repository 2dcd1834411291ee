"""Campaigns on the lines of a carrier: what the dialler, a line host and the legs do together."""

import anyio
import pytest
from sqlalchemy import Connection, update

from callwright.client import ServiceProblem
from callwright.contract.deployments.dialling import RetryPolicy
from callwright.service.tables.schema import legs
from callwright.service.telephony.engine import CallResult
from callwright.service.telephony.legs import leg_rows
from callwright.service.telephony.legs.carrier import HangUpAsked, LegRequest, ToldStage
from callwright.service.telephony.legs.leg_results import PlacingTimes, lost
from tests.service.telephony.legs.interleavings import REQUEST
from tests.support.campaigns import ONCE, call_in, calls_of, claim_and_die, expire_leases, people, phone, started
from tests.support.scripted_carrier import ScriptedCarrier, driven_on_lines, lines_of
from tests.support.service import Tenant

pytestmark = pytest.mark.service(workers=False)


async def test_a_campaign_on_lines_records_what_the_carrier_and_the_conversation_say(tenant: Tenant) -> None:
    carrier = ScriptedCarrier({phone(1): "busy", phone(2): "refused", phone(3): "opt_out"})
    made = await started(tenant, people(4), retry_policy=ONCE)
    async with lines_of(tenant, carrier):
        await driven_on_lines(tenant, made.id)
    ended = await tenant.client.deployments.get(id=made.id)
    assert (ended.status, ended.status_reason) == ("completed", "audience_exhausted")
    assert [event async for event in tenant.client.events.list(type="call.unconfirmed")] == []
    assert {call.to: call.hangup_cause for call in await calls_of(tenant, made.id)} == {
        phone(0): "contact_hangup",
        phone(1): "user_busy",
        phone(2): "carrier_rejected",
        phone(3): "contact_hangup",
    }
    assert sorted(carrier.placed) == [phone(index) for index in range(4)]
    (answered,) = [call for call in await calls_of(tenant, made.id) if call.to == phone(0)]
    assert answered.answered_at is not None
    transcript = await tenant.client.calls.get_transcript(call_uuid=answered.id)
    assert [turn.text for turn in transcript.turns] == ["Yes, that suits me."]
    listed = [entry async for entry in tenant.client.do_not_call.list()]
    assert [entry.source_call_id for entry in listed] == [
        call.id for call in await calls_of(tenant, made.id) if call.to == phone(3)
    ]


async def test_a_request_that_did_not_leave_is_sent_in_a_further_attempt(tenant: Tenant) -> None:
    carrier = ScriptedCarrier({phone(0): "not_sent"})
    made = await started(tenant, people(1), retry_policy=ONCE)
    async with lines_of(tenant, carrier):
        await driven_on_lines(tenant, made.id)
    assert carrier.placed == [phone(0)]
    assert [call.outcome for call in await calls_of(tenant, made.id)] == ["failed", "answered"]


@pytest.mark.requirement("LINE-02")
@pytest.mark.parametrize("word", ["lost", "fails", "unlistable"])
async def test_a_call_that_may_ring_is_never_placed_again_and_its_contact_is_held(tenant: Tenant, word: str) -> None:
    carrier = ScriptedCarrier({phone(0): word})
    policy = RetryPolicy(max_attempts=3, interval_minutes=[10], retry_on=["failed"])
    made = await started(tenant, people(1), retry_policy=policy)
    async with lines_of(tenant, carrier):
        await _shorten(tenant, made.id)
    paused = await tenant.client.deployments.get(id=made.id)
    assert (paused.status, paused.status_reason) == ("paused", "unconfirmed_calls")
    assert paused.stats is not None
    assert paused.stats.held == 1
    assert carrier.placed == [phone(0)]
    (call,) = await calls_of(tenant, made.id)
    assert (call.outcome, call.hangup_cause) == ("failed", "unconfirmed")
    (event,) = [event async for event in tenant.client.events.list(type="call.unconfirmed")]
    about = {"call_id": call.id, "deployment_id": made.id, "agent_id": made.agent_id, "contact_id": call.contact_id}
    assert event.data == {**about, "simulated": True}
    assert event.subject_id == call.id


@pytest.mark.requirement("LINE-02")
async def test_a_call_of_which_nothing_is_heard_says_meanwhile_what_it_waits_for(tenant: Tenant) -> None:
    carrier = ScriptedCarrier({phone(0): "lost"})
    made = await started(tenant, people(1), retry_policy=ONCE)
    async with lines_of(tenant, carrier), anyio.create_task_group() as tasks:
        tasks.start_soon(driven_on_lines, tenant, made.id)
        with anyio.fail_after(30):
            await carrier.asked.wait()
        (before,) = await calls_of(tenant, made.id)
        await tenant.database.write(leg_rows.not_confirmed, before.id)
        (listed,) = await calls_of(tenant, made.id)
        alone = await tenant.client.calls.get(call_uuid=before.id)
        assert (before.status, before.warnings) == ("queued", [])
        assert listed.warnings == alone.warnings
        (said,) = alone.warnings
        assert "resolve_call" in said
        assert alone.status == "queued"
        tasks.cancel_scope.cancel()


async def test_a_call_that_the_carrier_lists_goes_on(tenant: Tenant) -> None:
    carrier = ScriptedCarrier({phone(0): "listed"})
    made = await started(tenant, people(1), retry_policy=ONCE)
    async with lines_of(tenant, carrier):
        await driven_on_lines(tenant, made.id)
    assert carrier.placed == [phone(0)]
    assert [call.outcome for call in await calls_of(tenant, made.id)] == ["answered"]


async def test_what_a_person_says_about_a_held_contact_holds(tenant: Tenant) -> None:
    carrier = ScriptedCarrier({phone(0): "lost", phone(1): "lost"})
    made = await started(tenant, people(2), retry_policy=ONCE)
    async with lines_of(tenant, carrier):
        await _shorten(tenant, made.id)
        first, second = await calls_of(tenant, made.id)
        await tenant.client.calls.resolve(call_uuid=first.id, placed=True)
        with pytest.raises(ServiceProblem) as again:
            await tenant.client.calls.resolve(call_uuid=first.id, placed=False)
        assert again.value.code == "invalid_state_transition"
        await tenant.client.calls.resolve(call_uuid=second.id, placed=False)
        carrier.script.clear()
        await tenant.client.deployments.resume(id=made.id)
        await expire_leases(tenant)
        await driven_on_lines(tenant, made.id, owner="wrk_again")
    ended = await tenant.client.deployments.get(id=made.id)
    assert (ended.status, ended.status_reason) == ("completed", "audience_exhausted")
    states = {
        contact.last_call_id: contact.status async for contact in tenant.client.deployments.list_contacts(id=made.id)
    }
    last = (await calls_of(tenant, made.id))[-1]
    assert states == {first.id: "exhausted", last.id: "completed"}
    assert carrier.placed.count(first.to) == 1
    assert carrier.placed.count(second.to) == 2


class LostAtTheAnswer(ScriptedCarrier):
    """Somebody answers, and whoever follows the call does not learn it: its media process ends."""

    async def ended(
        self, leg: LegRequest, provider_call_id: str | None, told: ToldStage, hang_up: HangUpAsked
    ) -> CallResult:
        await told("answered", provider_call_id)
        await anyio.sleep(0.1)
        return lost(leg.call, None, is_answered=False)


@pytest.mark.requirement("LINE-04")
async def test_a_call_that_somebody_answered_ends_as_an_answered_one_whatever_its_host_knows(tenant: Tenant) -> None:
    made = await started(tenant, people(1), retry_policy=ONCE)
    async with lines_of(tenant, LostAtTheAnswer()):
        await driven_on_lines(tenant, made.id)
    (call,) = await calls_of(tenant, made.id)
    assert (call.status, call.outcome, call.hangup_cause) == ("completed", "answered", "platform_error")
    assert (call.answered_by, call.disposition, call.answered_at is not None) == ("unknown", "incomplete", True)
    assert [warning for warning in call.warnings if "before anybody was known to answer" in warning] == []
    assert len(call.warnings) == 1
    assert [event async for event in tenant.client.events.list(type="call.unconfirmed")] == []
    ended = await tenant.client.deployments.get(id=made.id)
    assert (ended.status, ended.stats.held if ended.stats else None) == ("completed", 0)


async def test_a_call_under_way_is_hung_up_by_request(tenant: Tenant) -> None:
    carrier = ScriptedCarrier({phone(0): "long"})
    made = await started(tenant, people(1), retry_policy=ONCE)
    async with lines_of(tenant, carrier), anyio.create_task_group() as tasks:
        tasks.start_soon(driven_on_lines, tenant, made.id)
        call = await call_in(tenant, made.id, status="in_progress")
        await tenant.client.calls.hang_up(call_uuid=call.id)
    (call,) = await calls_of(tenant, made.id)
    assert (call.outcome, call.hangup_cause, call.ended_by) == ("answered", "normal_clearing", "api")


@pytest.mark.requirement("LINE-03")
async def test_a_number_that_is_listed_after_the_claim_is_not_placed(tenant: Tenant) -> None:
    made = await started(tenant, people(1), retry_policy=ONCE)
    await claim_and_die(tenant, made.id)
    await tenant.client.do_not_call.add(entries=[{"number": phone(0)}], simulated=True)  # pyright: ignore
    await expire_leases(tenant)
    carrier = ScriptedCarrier()
    async with lines_of(tenant, carrier):
        await driven_on_lines(tenant, made.id)
    assert carrier.placed == []
    assert [call.outcome for call in await calls_of(tenant, made.id)] == ["failed"]


@pytest.mark.requirement("LINE-03")
async def test_a_paused_campaign_places_nothing_that_was_claimed_before(tenant: Tenant) -> None:
    made = await started(tenant, people(1), retry_policy=ONCE)
    await claim_and_die(tenant, made.id)
    await tenant.client.deployments.pause(id=made.id)
    await expire_leases(tenant)
    carrier = ScriptedCarrier()
    async with lines_of(tenant, carrier):
        await driven_on_lines(tenant, made.id)
    assert carrier.placed == []
    contacts = [contact async for contact in tenant.client.deployments.list_contacts(id=made.id)]
    assert [(contact.status, contact.attempts) for contact in contacts] == [("pending", 1)]


@pytest.mark.requirement("LINE-04")
async def test_a_host_that_is_gone_leaves_no_call_behind(tenant: Tenant) -> None:
    carrier, other = ScriptedCarrier({phone(0): "long"}), ScriptedCarrier()
    made = await started(tenant, people(1), retry_policy=ONCE)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(driven_on_lines, tenant, made.id)
        async with lines_of(tenant, carrier) as host:
            await call_in(tenant, made.id, status="in_progress")
            assert host.calls_under_way == 1
        async with lines_of(tenant, other, name="hst_2"):
            await call_in(tenant, made.id, status="completed")
    (call,) = await calls_of(tenant, made.id)
    assert (call.outcome, call.disposition, call.hangup_cause) == ("answered", "incomplete", "platform_error")
    assert (other.placed, other.hung_up) == ([], ["CA1"])


@pytest.mark.requirement("LINE-04")
async def test_a_telephone_that_rang_when_its_host_was_gone_rings_no_more_until_a_person_decides(
    tenant: Tenant,
) -> None:
    carrier, other = ScriptedCarrier({phone(0): "rings"}), ScriptedCarrier()
    policy = RetryPolicy(max_attempts=3, interval_minutes=[10], retry_on=["failed", "no_answer"])
    made = await started(tenant, people(1), retry_policy=policy)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(driven_on_lines, tenant, made.id)
        async with lines_of(tenant, carrier):
            await call_in(tenant, made.id, status="ringing")
        async with lines_of(tenant, other, name="hst_2"):
            await call_in(tenant, made.id, status="failed")
    (call,) = await calls_of(tenant, made.id)
    assert (call.outcome, call.hangup_cause) == ("failed", "unconfirmed")
    stopped = await tenant.client.deployments.get(id=made.id)
    assert (stopped.status, stopped.status_reason, stopped.stats.held) == ("paused", "unconfirmed_calls", 1)
    assert (other.placed, other.hung_up) == ([], ["CA1"])


@pytest.mark.requirement("LINE-04")
async def test_who_asks_for_no_more_calls_is_listed_at_once_and_what_was_said_outlives_the_host(
    tenant: Tenant,
) -> None:
    carrier, other = ScriptedCarrier({phone(0): "stop"}), ScriptedCarrier()
    made = await started(tenant, people(1), retry_policy=ONCE)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(driven_on_lines, tenant, made.id)
        async with lines_of(tenant, carrier):
            under_way = await call_in(tenant, made.id, status="in_progress")
            await carrier.kept.wait()
            listed = [entry async for entry in tenant.client.do_not_call.list()]
        assert [(entry.number, entry.source_call_id) for entry in listed] == [(phone(0), under_way.id)]
        async with lines_of(tenant, other, name="hst_2"):
            await call_in(tenant, made.id, status="completed")
    (call,) = await calls_of(tenant, made.id)
    assert (call.outcome, call.disposition, call.hangup_cause) == ("answered", "do_not_call", "platform_error")
    turns = (await tenant.client.calls.get_transcript(call_uuid=call.id)).turns
    assert [turn.text for turn in turns] == ["Please stop calling me."]
    assert len([entry async for entry in tenant.client.do_not_call.list()]) == 1


async def test_a_call_whose_host_was_gone_for_long_has_ended_with_its_host(tenant: Tenant) -> None:
    carrier, other = ScriptedCarrier({phone(0): "long"}), ScriptedCarrier()
    made = await started(tenant, people(1), retry_policy=ONCE)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(driven_on_lines, tenant, made.id)
        async with lines_of(tenant, carrier):
            await call_in(tenant, made.id, status="in_progress")
        await tenant.database.write(_an_hour_earlier)
        async with lines_of(tenant, other, name="hst_2"):
            await call_in(tenant, made.id, status="completed")
    (call,) = await calls_of(tenant, made.id)
    assert call.duration_seconds < 5
    assert call.billed_seconds < 5


def _an_hour_earlier(connection: Connection) -> int:
    """Puts all that is known of legs an hour back: their host has been gone since."""
    columns = ("created_at", "placing_at", "initiated_at", "ringing_at", "answered_at", "lease_until")
    return connection.execute(update(legs).values({name: legs.c[name] - 3_600_000 for name in columns})).rowcount


async def test_a_host_that_drains_hangs_up_what_goes_on_and_takes_no_more(tenant: Tenant) -> None:
    carrier = ScriptedCarrier({phone(0): "long"})
    made = await started(tenant, people(2), retry_policy=ONCE, max_concurrency=1)
    async with lines_of(tenant, carrier, lines=1) as host, anyio.create_task_group() as tasks:
        tasks.start_soon(driven_on_lines, tenant, made.id)
        await call_in(tenant, made.id, status="in_progress")
        await host.drain(0.1)
        assert not host.calls_under_way
        await tenant.client.deployments.pause(id=made.id)
        tasks.cancel_scope.cancel()
    assert carrier.placed == [phone(0)]


async def test_a_host_drains_without_waiting_for_a_call_of_which_nothing_was_heard(tenant: Tenant) -> None:
    carrier = ScriptedCarrier({phone(0): "lost"})
    made = await started(tenant, people(1), retry_policy=ONCE)
    async with lines_of(tenant, carrier) as host, anyio.create_task_group() as tasks:
        tasks.start_soon(driven_on_lines, tenant, made.id)
        await carrier.asked.wait()
        with anyio.fail_after(10):
            await host.drain(60)
        assert not host.calls_under_way
        tasks.cancel_scope.cancel()


def test_a_call_in_which_nobody_can_talk_is_over_after_its_ringing() -> None:
    times = PlacingTimes()
    whole, rung = times.over_after_s(REQUEST), times.over_after_s(REQUEST, unheard_ends=True)
    assert rung == times.place_s + REQUEST.ring_timeout_s + times.overhang_s
    assert whole - rung == times.list_lag_s + REQUEST.max_duration_s


async def _shorten(tenant: Tenant, deployment_id: str) -> None:
    """Drives a campaign whose legs, if nobody knows of them, were placed long ago."""
    unknown = legs.c.state.in_(("placing", "unconfirmed"))
    placed = legs.update().where(unknown).values(placing_at=legs.c.placing_at - 3_600_000)
    async with anyio.create_task_group() as tasks:

        async def pass_time() -> None:
            while True:
                await tenant.database.write(lambda connection: connection.execute(placed).rowcount)
                await anyio.sleep(0.1)

        tasks.start_soon(pass_time)
        await driven_on_lines(tenant, deployment_id)
        tasks.cancel_scope.cancel()


async def test_legs_of_recorded_calls_are_deleted(tenant: Tenant) -> None:
    made = await started(tenant, people(3), retry_policy=ONCE)
    async with lines_of(tenant, ScriptedCarrier()):
        await driven_on_lines(tenant, made.id)
    assert await tenant.database.write(leg_rows.forget_recorded) == 3
    assert await tenant.database.write(leg_rows.forget_recorded) == 0
