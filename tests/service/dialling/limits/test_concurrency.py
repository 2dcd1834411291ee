"""How campaigns of an organization share its lines: the rule by properties, the rest through the client."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, Select, update

from callwright.contract.deployments.deployments import Deployment
from callwright.service import accounts
from callwright.service.dialling.limits.concurrency import (
    CALLERS,
    CAMPAIGNS,
    Campaign,
    Lines,
    lines_of,
    read_lines,
    shares,
)
from callwright.service.dialling.queue import FIND
from callwright.service.dialling.stops import auto_stops as stops
from callwright.service.tables.schema import deployments
from tests.support.callers import answered_number, number_of
from tests.support.campaigns import (
    ONCE,
    calls_of,
    claim_and_die,
    draft,
    driver_of,
    expire_leases,
    lease,
    people,
    started,
)
from tests.support.inbound_driver import answer_callers
from tests.support.resources import refusal
from tests.support.service import Tenant, open_service


@st.composite
def campaigns(draw: st.DrawFn) -> list[Campaign]:
    """Campaigns with calls under way and lines they could use."""
    found: list[Campaign] = []
    for index in range(draw(st.integers(1, 8))):
        weight = draw(st.integers(1, 50))
        in_flight = draw(st.integers(0, weight))
        wanted = draw(st.integers(in_flight, weight))
        found.append(Campaign(f"dep_{index}", weight, in_flight, wanted, draw(st.integers(0, 3))))
    return found


def room_of(found: list[Campaign], lines: int) -> dict[str, int]:
    """How many lines each campaign may take now."""
    return {
        own.id: lines_of(own, [one for one in found if one is not own], lines=lines, reserved=0, most=own.weight).room
        for own in found
    }


@settings(deadline=None, max_examples=50)
@given(campaigns(), st.integers(1, 100), st.randoms())
def test_however_campaigns_take_their_lines_there_are_never_more_than_the_limit(
    found: list[Campaign], lines: int, random: Any
) -> None:
    if sum(one.in_flight for one in found) > lines:
        assert set(room_of(found, lines).values()) == {0}
        return
    for turn in range(10):
        own = random.choice(found)
        taken = room_of(found, lines)[own.id]
        now = Campaign(own.id, own.weight, own.in_flight + taken, max(own.wanted, own.in_flight + taken), turn)
        found = [now if one is own else one for one in found]
        assert now.in_flight <= now.weight
        assert sum(one.in_flight for one in found) <= lines


@settings(deadline=None, max_examples=50)
@given(campaigns(), st.integers(1, 100))
def test_a_free_line_is_offered_to_somebody_who_could_use_it(found: list[Campaign], lines: int) -> None:
    is_free = sum(one.in_flight for one in found) < lines and any(one.is_due for one in found)
    assert any(room_of(found, lines).values()) is is_free


@settings(deadline=None, max_examples=50)
@given(campaigns(), st.integers(1, 100))
def test_shares_are_within_one_line_of_the_weights(found: list[Campaign], lines: int) -> None:
    due = [one for one in found if one.is_due]
    given_ = shares(found, lines)
    left = lines - sum(one.in_flight for one in found if not one.is_due)
    assert sum(given_[one.id] for one in due) == max(0, min(left, sum(one.wanted for one in due)))
    for one in due:
        for other in due:
            # Who has more lines for their weight than another has at most one too many, or that other wants no more.
            has_more = given_[one.id] > 1 and given_[other.id] < other.wanted
            if has_more:
                assert (given_[one.id] - 1) / one.weight <= (given_[other.id] + 1) / other.weight


def test_two_campaigns_share_ten_lines_by_their_weights() -> None:
    found = [Campaign("a", 8, 0, 8), Campaign("b", 2, 0, 2), Campaign("c", 10, 0, 10)]
    assert shares(found, 10) == {"a": 4, "b": 1, "c": 5}


def test_a_line_that_one_cannot_use_is_lent_and_comes_back_when_its_call_ends() -> None:
    idle, busy = Campaign("a", 10, 0, 0), Campaign("b", 10, 0, 10)
    assert lines_of(busy, [idle], lines=10, reserved=0, most=10).room == 10
    due, full = Campaign("a", 10, 0, 10), Campaign("b", 10, 10, 10)
    assert lines_of(due, [full], lines=10, reserved=0, most=10) == Lines(0, 10, is_waiting=True)
    one_ended = Campaign("b", 10, 9, 10)
    assert lines_of(one_ended, [due], lines=10, reserved=0, most=10).room == 0
    assert lines_of(due, [one_ended], lines=10, reserved=0, most=10).room == 1


def test_with_one_line_campaigns_have_it_in_turn() -> None:
    claimed = {"a": 0, "b": 0, "c": 0}
    served: list[str] = []
    for now in range(1, 10):
        found = [Campaign(name, 10, 0, 10, at) for name, at in claimed.items()]
        (name,) = [name for name, room in room_of(found, 1).items() if room]
        claimed[name] = now
        served.append(name)
    assert served == ["a", "b", "c"] * 3


def test_a_campaign_leaves_its_reserved_lines_free_but_for_one_line_if_it_has_none() -> None:
    own, other = Campaign("a", 10, 0, 10), Campaign("b", 10, 5, 5)
    assert lines_of(own, [], lines=10, reserved=4, most=10) == Lines(6, 6)
    assert lines_of(own, [other], lines=10, reserved=4, most=10).room == 1
    assert lines_of(own, [other], lines=10, reserved=6, most=10).room == 1
    assert lines_of(Campaign("a", 10, 1, 10), [other], lines=10, reserved=6, most=10).room == 0


@pytest.mark.parametrize(
    ("statement", "index"),
    [
        (CAMPAIGNS, "ix_deployments_calling (org_id=?)"),
        (CALLERS, "ix_deployments_calling (org_id=?)"),
        (CALLERS, "ix_legs_waiting (org_id=?)"),
        (CAMPAIGNS, "ix_deployment_contacts_due (deployment_id=?)"),
        (stops.ENDED, "COVERING INDEX ix_calls_ended (deployment_id=? AND ended_at>?)"),
        (stops.COUNTED, "COVERING INDEX ix_calls_taken (deployment_id=? AND ended_at>?)"),
    ],
)
async def test_what_a_claim_or_a_finish_asks_is_answered_by_an_index(
    statement: Select[Any], index: str, tmp_path: Path
) -> None:
    async with open_service(f"sqlite:///{tmp_path / 'callwright.db'}", tmp_path, workers=False) as tenant:

        def plan_of(connection: Connection) -> str:
            compiled = statement.compile(connection)
            asked = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {compiled}", (1,) * str(compiled).count("?"))
            return "\n".join(row[3] for row in asked)

        assert index in await tenant.database.read(plan_of)


async def room(tenant: Tenant, deployment_id: str) -> Lines:
    def read(connection: Connection) -> Lines:
        return read_lines(connection, connection.execute(FIND, {"id": deployment_id}).one(), jumps=True)

    return await tenant.database.read(read)


async def reserve(tenant: Tenant, lines: int | None) -> None:
    ids, now_ms = tenant.services.ids, tenant.services.clock.now_ms()
    given_ = (ids, tenant.org_id, now_ms)
    await tenant.database.write(accounts.change_plan, *given_, reserved_inbound_concurrency=lines)


async def plan(tenant: Tenant, name: str) -> None:
    ids, now_ms = tenant.services.ids, tenant.services.clock.now_ms()
    await tenant.database.write(accounts.change_plan, ids, tenant.org_id, now_ms, name)


@pytest.mark.requirement("STOP-05")
async def test_the_calls_of_all_campaigns_together_keep_to_the_plan(tenant: Tenant) -> None:
    await plan(tenant, "starter")
    first = await started(tenant, people(30), "First", retry_policy=ONCE)
    second = await started(tenant, people(30, first=100), "Second", retry_policy=ONCE)
    assert (await room(tenant, second.id)).room == 10  # nobody drives the other one
    await claim_and_die(tenant, first.id)
    assert (await tenant.client.deployments.get(id=first.id)).stats.in_flight == 10
    assert await room(tenant, second.id) == Lines(0, 10, is_waiting=True)


@pytest.mark.requirement("STOP-06")
async def test_campaigns_that_are_driven_at_once_share_the_lines_and_call_everybody(tenant: Tenant) -> None:
    await plan(tenant, "starter")
    first = await started(tenant, people(60), "First", retry_policy=ONCE)
    second = await started(tenant, people(60, first=100), "Second", retry_policy=ONCE)
    await lease(tenant, first.id, "wrk_one")
    await claim_and_die(tenant, second.id)
    assert (await tenant.client.deployments.get(id=second.id)).stats.in_flight == 5
    assert (await room(tenant, first.id)).room == 5
    await expire_leases(tenant)
    for made in (first, second):
        await lease(tenant, made.id, "wrk_test")
        await driver_of(tenant).drive(made.id)
        assert (await tenant.client.deployments.get(id=made.id)).status == "completed"


@pytest.mark.requirement("STOP-07")
async def test_reserved_lines_of_the_organization_and_of_the_campaign_stay_free(tenant: Tenant) -> None:
    await plan(tenant, "starter")
    made = await started(tenant, people(30), retry_policy=ONCE, reserved_inbound_concurrency=2)
    assert await room(tenant, made.id) == Lines(8, 8)
    await reserve(tenant, 3)
    assert (await tenant.client.overview.get()).limits.reserved_inbound_concurrency == 3
    assert await room(tenant, made.id) == Lines(5, 5)
    await reserve(tenant, None)
    assert await room(tenant, made.id) == Lines(8, 8)


async def call_in(tenant: Tenant, deployment_id: str, calls: int) -> None:
    """Has callers on so many lines of an inbound deployment."""
    counted = update(deployments).where(deployments.c.id == deployment_id).values(in_flight=calls)
    await tenant.database.write(lambda connection: connection.execute(counted))


@pytest.mark.requirement("INB-15")
async def test_callers_take_the_lines_that_are_reserved_first_and_then_those_of_campaigns(tenant: Tenant) -> None:
    await plan(tenant, "starter")
    desk = await answered_number(tenant)
    made = await started(tenant, people(30), retry_policy=ONCE, reserved_inbound_concurrency=2)
    await reserve(tenant, 3)
    for calls, left in ((0, 5), (3, 5), (5, 5), (6, 4), (9, 1), (10, 0)):
        await call_in(tenant, desk.id, calls)
        assert (await room(tenant, made.id)).room == left, calls


@pytest.mark.requirement("INB-15")
@pytest.mark.parametrize(("action", "outcomes"), [("busy", {"busy"}), ("queue", {"busy", "abandoned"})])
async def test_callers_leave_campaigns_and_other_callers_the_lines_they_have(
    tenant: Tenant, action: str, outcomes: set[str]
) -> None:
    await plan(tenant, "starter")
    desk = await answered_number(tenant, max_concurrency=5, overflow={"action": action})
    other = await answered_number(tenant, "Other desk")
    made = await started(tenant, people(30), retry_policy=ONCE, reserved_inbound_concurrency=2)
    await claim_and_die(tenant, made.id)
    await call_in(tenant, other.id, 2)
    await tenant.client.phone_numbers.simulate_call(id=number_of(desk), count=4)
    await answer_callers(tenant, desk)
    assert {call.outcome for call in await calls_of(tenant, desk.id)} <= outcomes
    await call_in(tenant, other.id, 0)
    await tenant.client.phone_numbers.simulate_call(id=number_of(desk), count=1)
    await answer_callers(tenant, desk)
    newest = (await calls_of(tenant, desk.id))[-1]
    assert newest.inbound is not None
    assert (newest.inbound.action, newest.inbound.reason) == ("agent", None)


async def test_reserved_lines_bound_the_calls_at_once_in_virtual_time_too(tenant: Tenant) -> None:
    await plan(tenant, "starter")
    made = await started(tenant, people(40), retry_policy=ONCE, reserved_inbound_concurrency=7, calls_per_second=50.0)
    await lease(tenant, made.id, "wrk_test")
    await driver_of(tenant).drive(made.id)
    calls = [call async for call in tenant.client.calls.list(deployment_id=made.id)]
    moments = [(call.created_at, 1) for call in calls] + [(call.ended_at, -1) for call in calls if call.ended_at]
    under_way = most = 0
    for _, change in sorted(moments):
        under_way += change
        most = max(most, under_way)
    assert (len(calls), most) == (40, 3)


async def test_a_campaign_cannot_leave_every_line_free(tenant: Tenant) -> None:
    await plan(tenant, "starter")
    async with refusal(422, "plan_limit_reached", "reserved_inbound_concurrency"):
        await draft(tenant, people(1), reserved_inbound_concurrency=10)
    made: Deployment = await draft(tenant, people(1), "Other", reserved_inbound_concurrency=9)
    assert made.reserved_inbound_concurrency == 9
    async with refusal(422, "plan_limit_reached", "reserved_inbound_concurrency"):
        await tenant.client.deployments.update(id=made.id, reserved_inbound_concurrency=11)


async def test_an_organization_cannot_reserve_every_line(tenant: Tenant) -> None:
    await plan(tenant, "starter")
    with pytest.raises(accounts.AccountError, match="--reserved-inbound is at most 9 in the plan starter"):
        await reserve(tenant, 10)
