"""Rows of deliveries and the endpoint queues they wake."""

from typing import Any

import pytest
from sqlalchemy import Connection, update

from callwright.service.tables import delivery_rows
from callwright.service.tables.delivery_rows import Cause, delivery_row, end_pending, queue, take_over
from callwright.service.tables.schema import deliveries, endpoint_queues
from tests.support.service import Tenant
from tests.support.webhooks.sent_events import endpoint_queue, rows_of, subscribe

NOW_MS = 1_795_262_400_000


def made(
    tenant: Tenant, webhook_id: str, event_id: str, cause: Cause = "event", *, missed: bool = False
) -> dict[str, Any]:
    about = {"org_id": tenant.org_id, "webhook_id": webhook_id, "event_id": event_id, "event_type": "call.started"}
    return delivery_row(tenant.services.ids, **about, cause=cause, now_ms=NOW_MS, missed=missed)


async def add(tenant: Tenant, *rows: dict[str, Any], now_ms: int = NOW_MS) -> None:
    await tenant.database.write(queue, rows, now_ms)


async def test_pending_ones_wake_their_endpoint_queues_and_missed_ones_do_not(tenant: Tenant) -> None:
    due, idle = (await subscribe(tenant)).id, (await subscribe(tenant)).id
    await add(tenant, made(tenant, due, "evt_1"), made(tenant, idle, "evt_1", missed=True))
    kept = {row["webhook_id"]: row for row in await rows_of(tenant, deliveries)}
    assert (kept[due]["status"], kept[due]["next_attempt_at"], kept[due]["finished_at"]) == ("pending", NOW_MS, None)
    assert (kept[idle]["status"], kept[idle]["next_attempt_at"], kept[idle]["finished_at"]) == ("missed", None, NOW_MS)
    assert ((await endpoint_queue(tenant, due)).due_at, (await endpoint_queue(tenant, idle)).due_at) == (NOW_MS, None)
    await add(tenant)


async def test_an_event_has_one_delivery_for_each_subscription_but_any_number_of_replays(tenant: Tenant) -> None:
    first, second = (await subscribe(tenant)).id, (await subscribe(tenant)).id
    await add(tenant, made(tenant, first, "evt_1"))
    await add(tenant, made(tenant, first, "evt_1"), made(tenant, second, "evt_1"))
    await add(tenant, made(tenant, first, "evt_1", "replay"), made(tenant, first, "evt_1", "replay"))
    found = sorted((row["webhook_id"], row["cause"]) for row in await rows_of(tenant, deliveries))
    assert found == sorted([(first, "event"), (second, "event"), (first, "replay"), (first, "replay")])


@pytest.mark.parametrize("count", [1, 63, 64, 65, 203])
async def test_any_number_is_added_and_what_is_there_already_is_left_out(tenant: Tenant, count: int) -> None:
    hook = (await subscribe(tenant)).id
    there = made(tenant, hook, "evt_0")
    await add(tenant, there)
    rows = [made(tenant, hook, f"evt_{index}", missed=index % 2 == 1) for index in range(count)]
    await add(tenant, *rows)
    kept = {row["id"]: row for row in await rows_of(tenant, deliveries)}
    assert list(kept) == sorted([there["id"], *(row["id"] for row in rows[1:])])
    for row in rows[1:]:
        assert {name: kept[row["id"]][name] for name in row} == row


async def test_an_endpoint_queue_is_never_put_off(tenant: Tenant) -> None:
    made_one = (await subscribe(tenant)).id

    def set_due(connection: Connection, due_at: int) -> None:
        connection.execute(update(endpoint_queues).values(due_at=due_at))

    for before, after in ((NOW_MS - 5, NOW_MS - 5), (NOW_MS + 5, NOW_MS)):
        await tenant.database.write(set_due, before)
        await add(tenant, made(tenant, made_one, f"evt_{before}"))
        assert (await endpoint_queue(tenant, made_one)).due_at == after


async def test_only_what_did_not_arrive_is_taken_over_from_and_each_once(tenant: Tenant) -> None:
    many = delivery_rows.EVENTS_AT_ONCE + 3
    first, second = (await subscribe(tenant)).id, (await subscribe(tenant)).id
    await add(tenant, *(made(tenant, first, f"evt_{index}", missed=True) for index in range(many)))
    await add(tenant, made(tenant, second, "evt_0", missed=True), made(tenant, first, "evt_pending"))
    events = [f"evt_{index}" for index in range(many)] + ["evt_pending"]
    write = tenant.database.write
    await write(take_over, first, events, NOW_MS + 1)
    await write(take_over, first, events, NOW_MS + 2)
    kept = await rows_of(tenant, deliveries)
    assert sum(row["replayed_at"] == NOW_MS + 1 for row in kept) == many
    assert {row["replayed_at"] for row in kept if row["webhook_id"] == second} == {None}
    assert {row["replayed_at"] for row in kept if row["status"] == "pending"} == {None}


async def test_what_waits_is_ended_and_an_attempt_under_way_keeps_its_mark(tenant: Tenant) -> None:
    mine, other = (await subscribe(tenant)).id, (await subscribe(tenant)).id
    await add(
        tenant, made(tenant, mine, "evt_1"), made(tenant, other, "evt_1"), made(tenant, mine, "evt_2", missed=True)
    )

    def mark(connection: Connection) -> None:
        connection.execute(update(deliveries).values(attempt_started_at=NOW_MS))

    await tenant.database.write(mark)
    await tenant.database.write(end_pending, mine, "cancelled", NOW_MS + 1)
    kept = await rows_of(tenant, deliveries)
    assert sorted(
        (row["status"], row["finished_at"], row["webhook_id"] == mine) for row in kept if row["finished_at"]
    ) == [("cancelled", NOW_MS + 1, True), ("missed", NOW_MS, True)]
    assert {row["attempt_started_at"] for row in kept} == {NOW_MS}
    assert ((await endpoint_queue(tenant, mine)).due_at, (await endpoint_queue(tenant, other)).due_at) == (None, NOW_MS)
