"""Deployments whose rows others hold on Postgres, as a process does that has frozen: nobody waits for them."""

from collections.abc import Collection

import anyio
import pytest
from sqlalchemy import select

from callwright.service.dialling import leases
from callwright.service.platform.clock.clock import HOUR
from callwright.service.platform.database.engines import make_engine
from callwright.service.tables.schema import deployments
from tests.support.campaigns import draft, lease, people, started, working
from tests.support.service import Tenant

pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)
LIMIT_S = 40


async def test_campaigns_are_driven_while_another_ones_row_is_held(database_url: str, tenant: Tenant) -> None:
    held = await draft(tenant, people(3), "Held")
    free = await draft(tenant, people(3, first=10), "Free")
    for one in (held, free):
        await tenant.client.deployments.start(id=one.id)
    engine = make_engine(database_url)
    with engine.connect() as holder, anyio.fail_after(LIMIT_S):
        holder.execute(select(deployments).where(deployments.c.id == held.id).with_for_update())
        async with working(tenant):
            with anyio.fail_after(5):
                assert (await tenant.ended(free.id)).status == "completed"
            holder.rollback()
            assert (await tenant.ended(held.id)).status == "completed"
    engine.dispose()


async def test_taking_and_renewing_leases_leave_out_what_is_held(database_url: str, tenant: Tenant) -> None:
    services = tenant.services
    made = [await draft(tenant, people(1, first=10 * index), f"{index}") for index in range(2)]
    ids = [one.id for one in made]
    for one in ids:
        await tenant.client.deployments.start(id=one)
    now_ms = services.clock.now_ms()
    span = (now_ms, now_ms + 60_000)
    engine = make_engine(database_url)
    with engine.connect() as holder, anyio.fail_after(LIMIT_S):
        holder.execute(select(deployments).where(deployments.c.id == ids[0]).with_for_update())
        with anyio.fail_after(3):
            assert set(await services.database.read(leases.candidates, "wrk_me", now_ms, 10)) == set(ids)
            assert await services.database.write(leases.take, ids, "wrk_me", *span) == [ids[1]]
            assert await services.database.write(leases.renew, ids, "wrk_me", *span) == [ids[1]]
        holder.rollback()
        assert await services.database.write(leases.take, ids[:1], "wrk_me", *span) == [ids[0]]
        holder.execute(select(deployments).where(deployments.c.id == ids[0]).with_for_update())
        assert await services.database.write(leases.renew, ids, "wrk_me", *span) == [ids[1]]
        holder.rollback()
        assert await services.database.write(leases.renew, ids[:1], "wrk_me", *span, waits=True) == ids[:1]
    engine.dispose()


async def test_leases_go_by_the_clock_of_the_database(tenant: Tenant) -> None:
    """A process whose clock is an hour ahead takes nothing from others, and leaves nothing that lasts an hour."""
    services, made = tenant.services, await started(tenant, people(1))
    await lease(tenant, made.id, "wrk_other")
    ahead_ms = services.clock.now_ms() + HOUR
    assert not await services.database.read(leases.candidates, "wrk_ahead", ahead_ms, 10)
    assert not await services.database.write(leases.take, [made.id], "wrk_ahead", ahead_ms, ahead_ms + 10_000)

    async def until() -> int:
        column = select(deployments.c.lease_until).where(deployments.c.id == made.id)
        return await services.database.read(lambda connection: connection.execute(column).scalar_one())

    assert await services.database.write(leases.renew, [made.id], "wrk_other", ahead_ms, ahead_ms + 10_000)
    assert await until() < ahead_ms


async def test_a_deployment_that_its_owner_could_not_give_back_is_taken_up_again_by_it_alone(tenant: Tenant) -> None:
    services, made = tenant.services, await started(tenant, people(1))
    await lease(tenant, made.id, "wrk_me")
    now_ms = services.clock.now_ms()

    async def candidates(owner: str, driven: Collection[str] = ()) -> list[str]:
        return list(await services.database.read(leases.candidates, owner, now_ms, 10, driven))

    assert await candidates("wrk_me") == [made.id]
    assert await candidates("wrk_me", {made.id}) == []
    assert await candidates("wrk_other") == []
    span = (now_ms, now_ms + 10_000)
    assert await services.database.write(leases.take, [made.id], "wrk_other", *span) == []
    assert await services.database.write(leases.take, [made.id], "wrk_me", *span) == [made.id]
