"""What a personal key with a spending cap may commit."""

from typing import Any

import pytest
from sqlalchemy import Connection, select, update

from callwright.contract.deployments.call_price import MICROS
from callwright.contract.problems import SPENDING_CAP_REACHED
from callwright.service import accounts
from callwright.service.campaigns import spending_cap
from callwright.service.campaigns.spending_cap import SpendingKey
from callwright.service.platform.clock.clock import DAY
from callwright.service.platform.money import RENTAL_PERIOD_MS
from callwright.service.platform.refusals import Refusal
from callwright.service.tables.ledger import Movement, book
from callwright.service.tables.schema import deployments, phone_numbers
from tests.support import resources
from tests.support.prices import LOCAL_RENT
from tests.support.service import Tenant
from tests.support.tasks import tasks_within

CAP = 25 * MICROS
SHORT: dict[str, Any] = {"max_call_duration_seconds": 120}
"""Calls for which all that they may cost is held back, so that a campaign costs its budget cap at most."""
LOCAL = LOCAL_RENT


async def personal_key(tenant: Tenant) -> str:
    services = tenant.services
    made = await services.database.write(
        accounts.create_personal_key, services.ids, tenant.org_id, "", services.clock.now_ms(), spending_cap_micros=CAP
    )
    return made.id


async def started(tenant: Tenant, key_id: str, name: str, **values: Any) -> str:
    """A deployment that the key has started, in the state and with the money that are given."""
    made = (await resources.draft(tenant, name, **SHORT)).deployment
    given = {"status": "active", "started_by_key_id": key_id, **values}
    statement = update(deployments).where(deployments.c.id == made.id).values(**given)
    await tenant.database.write(lambda connection: connection.execute(statement))
    return made.id


async def rented(tenant: Tenant, key_id: str) -> str:
    """A number that the key has rented."""
    made = await resources.number(tenant)
    statement = update(phone_numbers).where(phone_numbers.c.id == made.id).values(created_by_key_id=key_id)
    await tenant.database.write(lambda connection: connection.execute(statement))
    return made.id


async def committed(tenant: Tenant, key_id: str, *, but: str = "") -> int:
    return await tenant.database.read(spending_cap.committed, key_id, but=but)


def check(connection: Connection, by: SpendingKey, deployment_id: str, budget_cap_micros: int | None) -> None:
    """Lets the key set the deployment going with this budget cap."""
    row = connection.execute(select(deployments).where(deployments.c.id == deployment_id)).one()
    spending_cap.check_deployment(connection, by, row, {"budget_cap_micros": budget_cap_micros})


async def checked(tenant: Tenant, by: SpendingKey, deployment_id: str, budget_cap_micros: int | None) -> None:
    await tenant.database.write(check, by, deployment_id, budget_cap_micros)


async def test_a_live_deployment_counts_by_its_budget_cap_and_an_ended_one_by_its_spend(tenant: Tenant) -> None:
    key = await personal_key(tenant)
    assert await committed(tenant, key) == 0
    live = await started(tenant, key, "live", budget_cap_micros=4 * MICROS, spend_micros=MICROS)
    assert await committed(tenant, key) == 4 * MICROS
    for status in ("completed", "cancelled", "failed"):
        await started(tenant, key, status, status=status, budget_cap_micros=9 * MICROS, spend_micros=10)
    await started(tenant, key, "never capped", status="completed", spend_micros=100, reserved_micros=1_000)
    assert await committed(tenant, key) == 4 * MICROS + 30 + 1_100
    assert await committed(tenant, key, but=live) == 30 + 1_100


@pytest.mark.parametrize("status", ["scheduled", "active", "paused"])
async def test_a_deployment_that_can_still_spend_counts_whole_and_more_if_it_has_spent_more(
    tenant: Tenant, status: str
) -> None:
    key = await personal_key(tenant)
    await started(tenant, key, "one", status=status, budget_cap_micros=MICROS, spend_micros=0)
    await started(tenant, key, "two", status=status, budget_cap_micros=MICROS, spend_micros=2 * MICROS)
    assert await committed(tenant, key) == 3 * MICROS


async def test_a_number_counts_by_every_month_that_was_booked(tenant: Tenant) -> None:
    key = await personal_key(tenant)
    number = await rented(tenant, key)
    assert await committed(tenant, key) == LOCAL
    month = [Movement("number_rental", -LOCAL, "phone_number", number, "a month of a phone number")]
    await tenant.database.write(
        book, tenant.services.ids, tenant.org_id, month, now_ms=tenant.services.clock.now_ms() + RENTAL_PERIOD_MS + DAY
    )
    assert await committed(tenant, key) == 2 * LOCAL


async def test_what_others_start_and_rent_does_not_count(tenant: Tenant) -> None:
    mine, other = await personal_key(tenant), await personal_key(tenant)
    await started(tenant, other, "theirs", budget_cap_micros=20 * MICROS)
    await rented(tenant, other)
    assert await committed(tenant, mine) == 0
    assert await committed(tenant, other) == 20 * MICROS + LOCAL


@pytest.mark.requirement("ERR-79")
async def test_a_key_may_commit_up_to_its_cap_and_not_a_millionth_more(tenant: Tenant) -> None:
    key = await personal_key(tenant)
    await started(tenant, key, "live", budget_cap_micros=10 * MICROS)
    write = tenant.database.write
    by = SpendingKey(key, CAP)
    await write(spending_cap.check, by, 15 * MICROS)
    with pytest.raises(Refusal) as caught:
        await write(spending_cap.check, by, 15 * MICROS + 1)
    assert caught.value.problem is SPENDING_CAP_REACHED
    assert (SPENDING_CAP_REACHED.status, SPENDING_CAP_REACHED.type) == (422, "business_rule_error")
    assert caught.value.details == {"limit": "25.000000", "current": "10.000000", "required": "15.000001"}
    await write(spending_cap.check, SpendingKey(key, None), 1_000 * MICROS)


async def test_a_start_needs_a_budget_cap_within_the_keys(tenant: Tenant) -> None:
    key = await personal_key(tenant)
    other = await started(tenant, key, "other", budget_cap_micros=10 * MICROS)
    new, by = (await resources.draft(tenant, "new", **SHORT)).deployment.id, SpendingKey(key, CAP)
    await checked(tenant, by, new, 15 * MICROS)
    await checked(tenant, SpendingKey(key, None), new, None)
    with pytest.raises(Refusal) as beyond:
        await checked(tenant, by, new, 16 * MICROS)
    with pytest.raises(Refusal) as without:
        await checked(tenant, by, new, None)
    assert beyond.value.problem is without.value.problem is SPENDING_CAP_REACHED
    assert without.value.field == "budget_cap"
    await checked(tenant, by, other, 25 * MICROS)


async def test_nothing_more_is_allowed_while_a_deployment_of_the_key_has_lost_its_budget_cap(tenant: Tenant) -> None:
    key = await personal_key(tenant)
    unbounded = await started(tenant, key, "unbounded", status="paused", budget_cap_micros=None)
    write = tenant.database.write
    with pytest.raises(Refusal, match=unbounded) as caught:
        await write(spending_cap.check, SpendingKey(key, CAP), 1)
    assert caught.value.problem is SPENDING_CAP_REACHED
    await checked(tenant, SpendingKey(key, CAP), unbounded, MICROS)


async def test_two_starts_at_the_same_time_do_not_go_beyond_the_cap_together(tenant: Tenant) -> None:
    refused: list[Refusal] = []

    def start(connection: Connection, key: str, deployment_id: str) -> None:
        check(connection, SpendingKey(key, CAP), deployment_id, 15 * MICROS)
        values = {"status": "active", "started_by_key_id": key, "budget_cap_micros": 15 * MICROS}
        connection.execute(update(deployments).where(deployments.c.id == deployment_id).values(**values))

    async def attempt(tenant: Tenant, key: str, deployment_id: str) -> None:
        try:
            await tenant.database.write(start, key, deployment_id)
        except Refusal as refusal:
            refused.append(refusal)

    key = await personal_key(tenant)
    drafts = [(await resources.draft(tenant, f"draft {index}", **SHORT)).deployment.id for index in range(4)]
    async with tasks_within(30) as tasks:
        for made in drafts:
            tasks.start_soon(attempt, tenant, key, made)
    assert [refusal.problem for refusal in refused] == [SPENDING_CAP_REACHED] * 3
    assert await committed(tenant, key) == 15 * MICROS
