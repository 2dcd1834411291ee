"""Campaigns that spend at most so much within 24 hours."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest

from callwright.contract.calls.calls import Call
from callwright.contract.declaration.field_types import Spend
from callwright.service.platform.clock.clock import DAY, MINUTE
from callwright.service.tables import deployment_costs
from tests.support.campaigns import ONCE, after_rounds, audience_of, calls_of, draft, driver_of, lease, people, started
from tests.support.resources import refusal
from tests.support.service import Tenant

TALKS: dict[str, Any] = {"sim_outcome": "answered", "sim_intent": "yes"}
CAP = Decimal("0.10")


def cost(call: Call) -> Decimal:
    return Decimal(0) if call.cost is None else Decimal(call.cost.amount)


@pytest.mark.requirement("STOP-04")
async def test_within_any_24_hours_calls_cost_at_most_the_cap_and_calling_goes_on_by_itself(tenant: Tenant) -> None:
    made = await started(tenant, people(60, **TALKS), retry_policy=ONCE, daily_budget_cap=Spend(amount=str(CAP)))
    await lease(tenant, made.id, "wrk_test")
    await driver_of(tenant).drive(made.id)
    ended = await tenant.client.deployments.get(id=made.id)
    assert (ended.status, ended.stats.attempts) == ("completed", 60)
    calls = await calls_of(tenant, made.id)
    assert sum(map(cost, calls)) > 2 * CAP
    minute = Decimal("0.01") * 10
    for first in calls:
        assert first.ended_at is not None
        until = first.ended_at + timedelta(hours=24)
        within = [one for one in calls if one.ended_at is not None and first.ended_at <= one.ended_at < until]
        assert sum(map(cost, within)) <= CAP + minute
    gaps = [after.created_at - before.created_at for before, after in pairwise(calls)]
    assert max(gaps) > timedelta(hours=20)
    assert calls[0].created_at + timedelta(hours=24) < calls[-1].created_at


async def test_a_cap_below_the_price_of_one_call_pauses_a_campaign_whose_people_became_dearer(tenant: Tenant) -> None:
    made = await started(tenant, people(3, **TALKS), retry_policy=ONCE, daily_budget_cap=Spend(amount="0.03"))
    dearer: dict[str, Any] = {"phone_number": "+4915112345678", "first_name": "A"}
    await tenant.client.audiences.add_rows(id=audience_of(made), rows=[dearer])
    await lease(tenant, made.id, "wrk_test")
    await driver_of(tenant).drive(made.id)
    ended = await tenant.client.deployments.get(id=made.id)
    assert (ended.status, ended.status_reason, ended.stats.attempts) == ("paused", "budget_reached", 0)


async def test_a_cap_below_the_price_of_one_call_is_refused_at_creation_change_and_start(tenant: Tenant) -> None:
    too_low = Spend(amount="0.01")
    made = await draft(tenant, people(3), daily_budget_cap=Spend(amount="0.03"))
    parts: dict[str, Any] = {"audience_id": audience_of(made), "agent_id": made.agent_id}
    parts["phone_number_ids"] = made.phone_number_ids
    async with refusal(422, "budget_reached", "daily_budget_cap") as found:
        await tenant.client.deployments.create(name="Other", daily_budget_cap=too_low, **parts)
    assert found[0].details == {"required": "0.024000", "available": "0.010000"}
    assert "raise daily_budget_cap" in found[0].message
    async with refusal(422, "budget_reached", "daily_budget_cap"):
        await tenant.client.deployments.update(id=made.id, daily_budget_cap=too_low)
    assert (await tenant.client.deployments.get(id=made.id)).daily_budget_cap == made.daily_budget_cap
    dearer: dict[str, Any] = {"phone_number": "+4915112345678", "first_name": "A"}
    await tenant.client.audiences.add_rows(id=audience_of(made), rows=[dearer])
    async with refusal(422, "budget_reached", "daily_budget_cap"):
        await tenant.client.deployments.start(id=made.id)
    problems = (await tenant.client.deployments.preview(id=made.id)).problems
    assert any(problem.startswith("daily_budget_cap") for problem in problems)


async def test_a_cap_that_is_set_later_counts_the_calls_before_it(tenant: Tenant) -> None:
    paused = await after_rounds(tenant, people(30, **TALKS), retry_policy=ONCE)
    assert paused.stats.attempts == 10
    changed = await tenant.client.deployments.update(
        id=paused.id, daily_budget_cap=Spend(amount=paused.stats.spend.amount)
    )
    assert changed.daily_budget_cap == paused.stats.spend
    resumed = await tenant.client.deployments.resume(id=paused.id)
    first = (await calls_of(tenant, paused.id))[0]
    assert resumed.next_dial_at is not None
    assert resumed.next_dial_at > first.created_at + timedelta(hours=20)
    copy = await tenant.client.deployments.clone(id=paused.id, name="Copy")
    assert copy.daily_budget_cap == changed.daily_budget_cap


async def test_the_preview_says_that_a_daily_cap_takes_days(tenant: Tenant) -> None:
    made = await draft(tenant, people(100, **TALKS))
    before = await tenant.client.deployments.preview(id=made.id)
    await tenant.client.deployments.update(id=made.id, daily_budget_cap=Spend(amount="0.05"))
    after = await tenant.client.deployments.preview(id=made.id)
    assert before.finishes_at is not None
    assert after.finishes_at is not None
    assert after.finishes_at >= before.finishes_at + timedelta(days=1)
    (said,) = [warning for warning in after.warnings if "daily_budget_cap" in warning]
    assert "0.05" in said
    assert after.cost == before.cost


async def test_with_an_end_the_cost_is_at_most_that_of_its_days(tenant: Tenant) -> None:
    end_at = datetime.now(UTC) + timedelta(hours=30)
    given: dict[str, Any] = {"end_at": end_at, "daily_budget_cap": Spend(amount="0.50"), "max_concurrency": 1}
    made = await draft(tenant, people(500, **TALKS), **given)
    preview = await tenant.client.deployments.preview(id=made.id)
    assert Decimal("1.00") <= Decimal(preview.cost.high.amount) < Decimal("1.20")


@pytest.mark.parametrize("most", [0, 5, 10, 11])
async def test_the_first_moment_at_which_costs_are_old_enough_is_exact_to_five_minutes(
    tenant: Tenant, most: int
) -> None:
    made = await draft(tenant, people(1))
    costs = [(DAY, 5), (DAY + 10 * MINUTE, 6), (DAY + 11 * MINUTE, 4)]
    await tenant.database.write(deployment_costs.add, made.id, costs)
    found = await tenant.database.read(deployment_costs.first_below, made.id, DAY + 20 * MINUTE, most)
    assert found == 2 * DAY + {0: 15, 5: 15, 10: 5, 11: 5}[most] * MINUTE
