"""Which subscriptions get an event, and that each gets it once."""

import anyio
import pytest
from sqlalchemy import Connection, update

from callwright.contract.events import DEPLOYMENT_PAUSED, DEPLOYMENT_RESUMED
from callwright.service.platform.database.database import Database
from callwright.service.tables import delivery_rows
from callwright.service.tables.schema import deliveries, outbox, webhooks
from callwright.service.webhooks import fan_out as fanning
from callwright.service.webhooks.fan_out import fan_out
from tests.support.webhooks.delivering import Delivering, url_of


@pytest.mark.requirement("HOOK-04")
async def test_each_subscription_gets_the_events_it_names(at: Delivering) -> None:
    await at.subscribe("all")
    await at.subscribe("paused", "deployment.paused")
    await at.subscribe("both", "deployment.paused", "deployment.resumed")
    await at.subscribe("other", "call.started")
    async with at.tenant.another_organization() as other:
        await other.client.webhooks.create(url=url_of("stranger"), events=["*"])
        (paused,) = await at.happen(type_=DEPLOYMENT_PAUSED)
        (resumed,) = await at.happen(type_=DEPLOYMENT_RESUMED)
        await at.deliver()
    got = {(request.url, request.headers["X-Service-Event-Id"]) for request in at.endpoints.requests}
    assert {pair for pair in got if pair[0] != url_of("stranger")} == {
        (url_of("all"), paused),
        (url_of("all"), resumed),
        (url_of("paused"), paused),
        (url_of("both"), paused),
        (url_of("both"), resumed),
    }
    assert not {paused, resumed} & {event for url, event in got if url == url_of("stranger")}
    assert len(at.endpoints.requests) == len(got)


async def test_what_happened_before_a_subscription_was_made_is_not_sent_to_it(at: Delivering) -> None:
    await at.happen(3)
    await anyio.sleep(0.002)  # ids tell moments to the millisecond
    await at.subscribe()
    await at.deliver()
    assert not at.endpoints.requests
    assert all(row.fanned_out_at is not None for row in await at.events())


async def test_a_deleted_subscription_gets_nothing_and_a_disabled_one_misses_it(at: Delivering) -> None:
    deleted, disabled = await at.subscribe("deleted"), await at.subscribe("disabled", "deployment.paused")
    await at.tenant.client.webhooks.delete(id=deleted.id)
    await at.tenant.client.webhooks.update(id=disabled.id, status="disabled")
    await at.deliver_new()
    assert not at.endpoints.requests
    (missed,) = await at.deliveries()
    assert (missed.webhook_id, missed.status, missed.next_attempt_at) == (disabled.id, "missed", None)
    await at.tenant.client.webhooks.update(id=disabled.id, status="active")
    await at.deliver()
    assert not at.endpoints.requests
    assert (await at.tenant.client.webhooks.replay(id=disabled.id)).queued == 1
    await at.deliver(after_ms=1_000)
    assert len(at.endpoints.requests) == 1


async def test_a_test_goes_to_its_subscription_alone(at: Delivering) -> None:
    tested = await at.subscribe("tested")
    await at.subscribe("other")
    await at.tenant.client.webhooks.test(id=tested.id)
    await at.change(update(outbox).where(outbox.c.type == "webhook.test").values(fanned_out_at=None))
    await at.deliver(after_ms=1_000)
    assert [request.url for request in at.endpoints.requests] == [url_of("tested")]


async def test_an_event_that_is_fanned_out_again_makes_no_second_delivery(at: Delivering) -> None:
    await at.subscribe()
    await at.deliver_new(5)
    await at.change(update(outbox).values(fanned_out_at=None))
    await at.deliver(after_ms=60_000)
    assert len(at.endpoints.requests) == len(await at.deliveries()) == 5


async def test_one_transaction_makes_a_bounded_number_of_deliveries(
    at: Delivering, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fanning, "MOST_DELIVERIES", 10)
    for name in "abcd":
        await at.subscribe(name)
    await at.happen(10)
    now_ms = at.clock.now_ms()
    sizes = list[int]()
    while (done := await at.services.database.write(fan_out, at.services.ids, now_ms))[0]:
        sizes.append(done[1])
    assert sum(sizes) == 40
    assert max(sizes) <= 12


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
async def test_processes_that_fan_out_at_the_same_time_make_one_delivery_for_each_event_and_subscription(
    database_url: str, at: Delivering
) -> None:
    async with Database.opened(database_url) as other:
        hooks = [await at.subscribe(name) for name in "abc"]
        events = await at.happen(3_000)
        made = list[int]()

        async def race(database: object) -> None:
            chosen = other if database is other else at.services.database
            while (done := await chosen.write(fan_out, at.services.ids, at.clock.now_ms()))[0]:
                made.append(done[0])

        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(race, at.services.database)
                tasks.start_soon(race, other)
        rows = await at.deliveries(deliveries.c.event_id.in_(events))
        assert {(row.event_id, row.webhook_id) for row in rows} == {(e, hook.id) for e in events for hook in hooks}
        assert len(rows) == 9_000
        assert len(made) > 3


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
async def test_what_is_queued_while_an_endpoint_queue_is_given_back_is_not_forgotten(
    database_url: str, at: Delivering
) -> None:
    """The queueing transaction is open while the queue's holder ends: the holder waits, and sees the delivery."""
    async with Database.opened(database_url) as other:
        webhook = await at.subscribe()
        (first,) = await at.happen()
        await at.services.database.write(fan_out, at.services.ids, at.clock.now_ms())
        queued, go_on = anyio.Event(), anyio.Event()
        row = delivery_rows.delivery_row(
            at.services.ids,
            org_id=at.tenant.org_id,
            webhook_id=webhook.id,
            event_id=first,
            event_type="deployment.paused",
            cause="replay",
            now_ms=at.clock.now_ms(),
        )

        def queue(connection: Connection) -> None:
            delivery_rows.queue(connection, [row], at.clock.now_ms())
            anyio.from_thread.run_sync(queued.set)
            anyio.from_thread.run(go_on.wait)

        async with anyio.create_task_group() as tasks:
            at.endpoints.holding.add(url_of("a"))
            tasks.start_soon(at.dispatcher.work_until_idle)
            await at.endpoints.got(1)
            tasks.start_soon(other.write, queue)
            await queued.wait()
            at.endpoints.let_go.set()
            await anyio.sleep(0.05)  # the holder is at its last write now, and waits
            go_on.set()
        await at.deliver()
        assert len(at.endpoints.requests) == 2
        assert {one.status for one in await at.deliveries()} == {"succeeded"}
        assert (await at.rows(webhooks))[0].consecutive_failures == 0
