"""Who sends to whom: one process to an endpoint, nobody kept waiting by another's endpoint, and queues taken over."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from sqlalchemy import update

from callwright.service.platform.wake_signal import WakeNotifier
from callwright.service.tables.schema import deliveries, endpoint_queues
from callwright.service.webhooks import batches, endpoint_queue, sending
from callwright.service.webhooks.dispatcher import SHARED_CONNECTIONS, Dispatcher, fair_order
from callwright.service.webhooks.endpoint_queue import DueQueue
from callwright.service.webhooks.fan_out import fan_out
from callwright.service.webhooks.sending import MOST_AT_ONCE
from tests.support.webhooks.delivering import Delivering, answer, delivering, url_of


def another(at: Delivering, *, places: int = 64) -> Dispatcher:
    """Another process on the same database, with the same clock and endpoints."""
    return Dispatcher(at.services, WakeNotifier(), at.endpoints, places=places, chance=lambda: 0.5)


async def test_a_dead_and_a_slow_endpoint_keep_none_of_fifty_waiting(at: Delivering) -> None:
    """The clock stands: whatever is sent meanwhile is sent at the moment at which it became due."""
    organizations = [at.tenant]
    async with at.tenant.another_organization() as second, at.tenant.another_organization() as third:
        organizations += [second, third]
        for number in range(50):
            client = organizations[number % 3].client
            await client.webhooks.create(url=url_of(f"e{number}"), events=["deployment.paused"])
        at.endpoints.holding |= {url_of("e0"), url_of("e1")}  # one dead, one that needs 5 seconds
        at.endpoints.answers[url_of("e0")] = lambda _: answer("timeout")
        for tenant in organizations:
            await replace(at, tenant=tenant).happen(40)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(at.dispatcher.work_until_idle)
            at_once = SHARED_CONNECTIONS // 50
            await at.endpoints.got(48 * 40 + 2 * at_once)
            sent = Counter(request.url for request in at.endpoints.requests)
            assert all(sent[url_of(f"e{number}")] == 40 for number in range(2, 50))
            assert {sent[url_of("e0")], sent[url_of("e1")]} == {at_once}
            assert len({request.at_ms for request in at.endpoints.requests}) == 1
            at.clock.move(5_000)
            at.endpoints.let_go.set()


async def test_with_more_endpoint_queues_than_places_slow_ones_make_room(database_url: str, tmp_path: Path) -> None:
    async with delivering(database_url, tmp_path, places=2) as at:
        for name in ("slow1", "slow2", "quick"):
            await at.subscribe(name)
        at.endpoints.holding |= {url_of("slow1"), url_of("slow2")}
        await at.happen(60)
        await at.services.database.write(fan_out, at.services.ids, at.clock.now_ms())
        await at.change(update(endpoint_queues).values(due_at=at.clock.now_ms() - 1))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(at.dispatcher.run)
            await at.endpoints.got(2 * MOST_AT_ONCE)
            held = [request.url for request in at.endpoints.requests]
            assert url_of("quick") not in held[: 2 * MOST_AT_ONCE] or len(set(held)) == 2
            at.clock.move(sending.SLICE_MS)
            at.endpoints.let_go.set()
            await at.endpoints.got(180)
            tasks.cancel_scope.cancel()
        places = [request.url for request in at.endpoints.requests]
        first_of_quick = places.index(url_of("quick"))
        assert first_of_quick < 2 * 60, "the third endpoint got its turn before the others were through"
        assert Counter(places) == {url_of(name): 60 for name in ("slow1", "slow2", "quick")}


async def test_no_endpoint_gets_more_requests_at_a_time_than_the_bound_from_all_processes_together(
    at: Delivering,
) -> None:
    await at.subscribe()
    await at.happen(400)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(at.dispatcher.work_until_idle)
        tasks.start_soon(another(at).work_until_idle)
    await at.deliver()
    assert at.endpoints.most_under_way[url_of("a")] == MOST_AT_ONCE
    events = Counter(request.headers["X-Service-Event-Id"] for request in at.endpoints.requests)
    assert (len(events), set(events.values())) == (400, {1})


def test_every_organization_gets_a_place_before_one_gets_another() -> None:
    due = [*(DueQueue(f"a{number}", "busy") for number in range(5)), DueQueue("b0", "other"), DueQueue("c0", "third")]
    assert [queue.webhook_id for queue in fair_order(due, Counter())] == ["a0", "b0", "c0", "a1", "a2", "a3", "a4"]
    driven = Counter({"other": 2})
    assert [queue.webhook_id for queue in fair_order(due, driven)] == ["a0", "c0", "a1", "a2", "b0", "a3", "a4"]


async def _abandoned(at: Delivering, count: int) -> None:
    """As when a process dies while that many deliveries are under way."""
    dead = another(at)
    at.endpoints.holding.add(url_of("a"))
    await at.happen(count)
    rows: Sequence[Any] = ()
    queue: Any = None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(dead.work_until_idle)
        await at.endpoints.got(min(count, MOST_AT_ONCE))
        rows = await at.deliveries(deliveries.c.attempt_started_at.is_not(None))
        queue = (await at.rows(endpoint_queues))[0]
        stolen = update(endpoint_queues).values(lease_owner="wrk_thief")
        await at.change(stolen)
        at.endpoints.let_go.set()
    at.endpoints.holding.clear()
    assert len(rows) == count
    # What it left in the database: its marks and its lease.
    await at.change(update(endpoint_queues).values(lease_owner=queue.lease_owner, lease_until=queue.lease_until))


async def test_a_process_that_lost_its_endpoint_queue_enters_nothing(at: Delivering) -> None:
    await at.subscribe()
    await _abandoned(at, 10)
    assert len(at.endpoints.requests) == 10
    assert not await at.attempts()
    assert {one.status for one in await at.deliveries()} == {"pending"}


async def test_interrupted_attempts_are_entered_do_not_count_and_are_made_again_at_once(at: Delivering) -> None:
    webhook = await at.subscribe()
    await _abandoned(at, 10)
    at.endpoints.requests.clear()
    await at.deliver()
    assert not at.endpoints.requests, "the lease of the other process has not run out"
    at.endpoints.answers[url_of("a")] = lambda _: answer("server_error")
    await at.deliver(after_ms=10_001)
    assert len(at.endpoints.requests) == 10
    for gap_ms in (15_000, 45_000, 135_000, 405_000):
        await at.deliver(after_ms=gap_ms)
    assert len(at.endpoints.requests) == 50
    for one in await at.deliveries():
        assert (one.status, one.attempt_count) == ("failed", 6)
    attempts = await at.attempts()
    assert [one.number for one in attempts] == list(range(1, 7)) * 10
    assert [one.outcome for one in attempts] == ["interrupted", *["server_error"] * 5] * 10
    assert (await at.webhook(webhook.id)).consecutive_failures == 10


@pytest.mark.parametrize(("ends", "status"), [("disabled", "missed"), ("deleted", "cancelled")])
async def test_attempts_of_a_process_that_died_are_entered_also_where_their_subscription_was_ended_meanwhile(
    ends: str, status: str, at: Delivering
) -> None:
    webhook = await at.subscribe()
    await _abandoned(at, 10)
    webhooks = at.tenant.client.webhooks
    await (webhooks.update(id=webhook.id, status="disabled") if ends == "disabled" else webhooks.delete(id=webhook.id))
    at.endpoints.requests.clear()
    await at.deliver(after_ms=10_001)
    await at.deliver(after_ms=30_000)
    assert not at.endpoints.requests
    ended = await at.deliveries(deliveries.c.event_type == "deployment.paused")
    assert {(one.status, one.attempt_count, one.last_outcome) for one in ended} == {(status, 1, "interrupted")}
    assert {one.attempt_started_at for one in ended} == {None}
    assert [one.outcome for one in await at.attempts()] == ["interrupted"] * 10
    queue = await at.endpoint_queue(webhook.id)
    assert (queue.lease_owner, queue.due_at) == (None, None)


@pytest.mark.parametrize("replays", ["webhook", "event"])
async def test_attempts_of_a_process_that_died_are_entered_also_where_their_events_were_replayed_meanwhile(
    replays: str, at: Delivering
) -> None:
    webhook = await at.subscribe()
    await _abandoned(at, 3)
    client = at.tenant.client
    for status in ("disabled", "active"):
        await client.webhooks.update(id=webhook.id, status=status)
    if replays == "webhook":
        assert (await client.webhooks.replay(id=webhook.id)).queued == 3
    else:
        for one in await at.deliveries():
            await client.events.replay(id=one.event_id, webhook_id=webhook.id)
    await at.deliver(after_ms=10_001)
    rows = await at.deliveries()
    assert sorted((one.cause, one.status, one.attempt_count, one.last_outcome) for one in rows) == [
        *[("event", "missed", 1, "interrupted")] * 3,
        *[("replay", "succeeded", 1, "succeeded")] * 3,
    ]
    assert {one.attempt_started_at for one in rows} == {None}


async def test_what_came_of_attempts_is_entered_although_the_database_fails_for_a_while(
    at: Delivering, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "TRY_EVERY_S", 0.0)
    fails = 3
    process_batch = batches.process_batch

    def failing(*args: Any, **named: Any) -> Any:
        nonlocal fails
        if args[4].attempts and fails:
            fails -= 1
            raise RuntimeError("the database is gone for a moment")
        return process_batch(*args, **named)

    monkeypatch.setattr(sending, "process_batch", failing)
    await at.subscribe()
    await at.deliver_new(50)
    assert fails == 0
    assert len(at.endpoints.requests) == 50
    assert {(one.status, one.attempt_count) for one in await at.deliveries()} == {("succeeded", 1)}


async def test_an_endpoint_queue_whose_lease_ran_out_is_driven_on_by_the_process_that_still_has_it(
    at: Delivering,
) -> None:
    """As after a machine slept."""
    await at.subscribe()
    at.endpoints.holding.add(url_of("a"))
    await at.happen(300)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(at.dispatcher.work_until_idle)
        await at.endpoints.got(MOST_AT_ONCE)
        at.clock.move(3_600_000)
        at.endpoints.let_go.set()
    assert len(at.endpoints.requests) == len(await at.attempts()) == 300
    assert {one.status for one in await at.deliveries()} == {"succeeded"}


async def test_a_process_that_ends_finishes_what_is_under_way_and_leaves_the_rest(at: Delivering) -> None:
    webhook = await at.subscribe()
    at.endpoints.holding.add(url_of("a"))
    await at.happen(100)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(at.dispatcher.run)
        await at.endpoints.got(MOST_AT_ONCE)
        tasks.cancel_scope.cancel()
        at.endpoints.let_go.set()
    rows = await at.deliveries()
    assert Counter(one.status for one in rows) == {"succeeded": MOST_AT_ONCE, "pending": 100 - MOST_AT_ONCE}
    assert all(one.attempt_started_at is None for one in rows)
    queue = await at.endpoint_queue(webhook.id)
    assert queue.lease_owner is None
    assert queue.due_at <= at.clock.now_ms()
    await at.deliver()
    assert len(at.endpoints.requests) == len(await at.attempts()) == 100


async def test_attempts_that_outlast_the_end_are_interrupted_and_made_again(
    at: Delivering, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "FINISH_S", 0.05)
    await at.subscribe()
    at.endpoints.holding.add(url_of("a"))
    await at.happen(20)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(at.dispatcher.run)
        await at.endpoints.got(MOST_AT_ONCE)
        tasks.cancel_scope.cancel()
    assert [one.outcome for one in await at.attempts()] == ["interrupted"] * MOST_AT_ONCE
    at.endpoints.holding.clear()
    await at.deliver()
    rows = await at.deliveries()
    assert Counter((one.status, one.attempt_count) for one in rows) == {
        ("succeeded", 2): MOST_AT_ONCE,
        ("succeeded", 1): 20 - MOST_AT_ONCE,
    }


async def test_marks_that_nobody_accounts_for_are_entered_as_interrupted(at: Delivering) -> None:
    await at.subscribe()
    await at.happen(3)
    await at.services.database.write(fan_out, at.services.ids, at.clock.now_ms())
    await at.change(update(deliveries).values(attempt_started_at=at.clock.now_ms()))
    await at.deliver()
    assert {one.status for one in await at.deliveries()} == {"succeeded"}
    assert [one.outcome for one in await at.attempts()] == ["interrupted", "succeeded"] * 3


async def test_renewing_holds_the_leases_that_are_still_the_owners(at: Delivering) -> None:
    mine, theirs = await at.subscribe("mine"), await at.subscribe("theirs")
    await at.change(update(endpoint_queues).values(due_at=1))
    database = at.services.database
    both = [mine.id, theirs.id]
    taken = await database.write(endpoint_queue.take, both, "wrk_me", 10, 20)
    assert {(one.webhook_id, one.was_abandoned) for one in taken} == {(mine.id, False), (theirs.id, False)}
    assert not await database.write(endpoint_queue.take, both, "wrk_them", 15, 25)
    await at.change(update(endpoint_queues).where(endpoint_queues.c.webhook_id == theirs.id).values(lease_until=5))
    (stolen,) = await database.write(endpoint_queue.take, both, "wrk_them", 15, 25)
    assert (stolen.webhook_id, stolen.was_abandoned) == (theirs.id, True)
    assert await database.write(endpoint_queue.renew, both, "wrk_me", 15, 99) == [mine.id]
    assert ((await at.endpoint_queue(mine.id)).lease_until, (await at.endpoint_queue(theirs.id)).lease_until) == (
        99,
        25,
    )


async def test_an_endpoint_queue_that_its_owner_could_not_give_back_is_taken_up_again_by_it_alone(
    at: Delivering,
) -> None:
    queue, database = await at.subscribe(), at.services.database
    await at.change(update(endpoint_queues).values(due_at=1))
    assert await database.write(endpoint_queue.take, [queue.id], "wrk_me", 10, 20)

    async def due(owner: str, driven: Collection[str] = ()) -> list[str]:
        found = await database.read(endpoint_queue.due, owner, 15, 10, driven)
        return [one.webhook_id for one in found]

    assert await due("wrk_me") == [queue.id]
    assert await due("wrk_me", {queue.id}) == []
    assert await due("wrk_them") == []
    assert not await database.write(endpoint_queue.take, [queue.id], "wrk_them", 15, 25)
    (again,) = await database.write(endpoint_queue.take, [queue.id], "wrk_me", 15, 25)
    assert again.was_abandoned  # what was marked may have been sent
