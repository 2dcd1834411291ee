"""Endpoint queues whose rows others hold on Postgres, as a frozen sender does: events go out to everybody else."""

import anyio
import pytest
from sqlalchemy import select

from callwright.service.platform.clock.clock import HOUR
from callwright.service.platform.database.engines import make_engine
from callwright.service.tables.schema import deliveries, endpoint_queues, late_wakes, webhooks
from callwright.service.webhooks import endpoint_queue
from tests.support.webhooks.delivering import Delivering, url_of

pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)
LIMIT_S = 40


async def test_a_frozen_sender_keeps_no_other_subscription_from_its_events(database_url: str, at: Delivering) -> None:
    held, free = await at.subscribe("held"), await at.subscribe("free")
    engine = make_engine(database_url)
    with engine.connect() as holder, anyio.fail_after(LIMIT_S):
        holder.execute(select(webhooks).where(webhooks.c.id == held.id).with_for_update(key_share=True))
        holder.execute(select(endpoint_queues).where(endpoint_queues.c.webhook_id == held.id).with_for_update())
        await at.happen(600)
        with anyio.fail_after(10):
            await at.deliver()
        assert len(at.endpoints.to(url_of("free"))) == 600
        assert not at.endpoints.to(url_of("held"))
        assert len(await at.deliveries(deliveries.c.webhook_id == held.id)) == 600
        holder.rollback()
        await at.deliver()
    engine.dispose()
    assert len(at.endpoints.to(url_of("held"))) == 600
    assert not await at.rows(late_wakes)
    assert (await at.endpoint_queue(held.id)).due_at is None
    assert (await at.endpoint_queue(free.id)).due_at is None


async def test_an_endpoint_queue_is_renewed_although_another_ones_row_is_held(
    database_url: str, at: Delivering
) -> None:
    both = [(await at.subscribe(name)).id for name in "ab"]
    database = at.services.database
    await at.deliver_new()
    now_ms = at.clock.now_ms()
    assert len(await database.write(endpoint_queue.take, both, "wrk_me", now_ms, now_ms + 10)) == 2
    engine = make_engine(database_url)
    with engine.connect() as holder, anyio.fail_after(LIMIT_S):
        holder.execute(select(endpoint_queues).where(endpoint_queues.c.webhook_id == both[0]).with_for_update())
        with anyio.fail_after(3):
            assert await database.write(endpoint_queue.renew, both, "wrk_me", now_ms, now_ms + 20) == [both[1]]
            taken = await database.write(endpoint_queue.take, both, "wrk_other", now_ms + HOUR, now_ms + HOUR + 10)
            assert [queue.webhook_id for queue in taken] == [both[1]]
        holder.rollback()
    engine.dispose()
