"""Deliveries to a subscription: their log, tests and replays, over the typed client."""

import re
from pathlib import Path
from typing import Any

import pytest

from callwright.contract import webhooks as contract
from callwright.service.platform.clock.clock import moment
from callwright.service.tables.schema import deliveries, endpoint_queues, outbox
from tests.support.database.statements import recorded
from tests.support.http.raw_requests import AsyncClient, refused
from tests.support.resources import refusal
from tests.support.service import Tenant, open_service
from tests.support.webhooks.sent_events import (
    HAPPENED_MS,
    endpoint_queue,
    put_attempt,
    put_delivery,
    put_event,
    rows_of,
    set_on,
    subscribe,
)

SECOND_MS = 1_000


async def put_failed(
    tenant: Tenant, webhook_id: str, count: int, *, status: str = "failed", **fields: Any
) -> list[str]:
    """Events that did not arrive, a second apart; their ids in the order in which they were sent."""
    events: list[str] = []
    for index in range(count):
        events.append(await put_event(tenant))
        made: dict[str, Any] = {"status": status, "created_at": HAPPENED_MS + index * SECOND_MS, **fields}
        await put_delivery(tenant, webhook_id, events[-1], **made)
    return events


async def replayed(tenant: Tenant, webhook_id: str) -> list[str]:
    """The ids of the events that were queued again, in the order of their deliveries' ids."""
    return [row["event_id"] for row in await rows_of(tenant, deliveries, webhook_id=webhook_id, cause="replay")]


@pytest.mark.requirement("EVENT-08")
async def test_a_delivery_shows_each_attempt_with_what_came_back(tenant: Tenant) -> None:
    made = await subscribe(tenant)
    event = await put_event(tenant)
    outcome: dict[str, Any] = {"last_outcome": "succeeded", "last_response_status": 204}
    delivery = await put_delivery(tenant, made.id, event, attempt_count=2, finished_at=HAPPENED_MS + 9_000, **outcome)
    await put_attempt(tenant, delivery, 2)
    said: dict[str, Any] = {"response_status": 503, "response_excerpt": "busy", "detail": "answered 503"}
    await put_attempt(tenant, delivery, 1, outcome="server_error", duration_ms=1_234, **said)
    shown = await tenant.client.webhooks.get_delivery(id=made.id, delivery_id=delivery)
    assert shown.id.startswith("dlv_")
    assert (shown.webhook_id, shown.event_id, shown.event_type) == (made.id, event, "call.started")
    assert (shown.cause, shown.status, shown.attempt_count) == ("event", "succeeded", 2)
    assert (shown.next_attempt_at, shown.last_outcome, shown.last_response_status) == (None, "succeeded", 204)
    assert shown.finished_at == moment(HAPPENED_MS + 9_000).replace(microsecond=0)
    first, second = shown.attempts
    assert (first.number, first.outcome, first.duration_ms) == (1, "server_error", 1_234)
    assert (first.response_status, first.response_excerpt, first.detail) == (503, "busy", "answered 503")
    assert first.started_at == "2026-11-21T12:00:00.124Z"
    assert first.request_headers == {"Content-Type": "application/json"}
    assert (second.number, second.outcome, second.response_excerpt) == (2, "succeeded", "")
    (listed,) = (await tenant.client.webhooks.list_deliveries(id=made.id)).data
    assert listed.model_dump() == shown.model_dump(exclude={"attempts"})


async def test_a_delivery_is_found_below_its_own_subscription_alone(tenant: Tenant) -> None:
    mine, other = await subscribe(tenant), await subscribe(tenant)
    delivery = await put_delivery(tenant, other.id, await put_event(tenant))
    async with refusal(404, "not_found"):
        await tenant.client.webhooks.get_delivery(id=mine.id, delivery_id=delivery)
    assert (await tenant.client.webhooks.list_deliveries(id=mine.id)).data == []


async def test_deliveries_are_filtered_and_walked_the_newest_first(tenant: Tenant) -> None:
    made = await subscribe(tenant)
    first, second, third = [await put_event(tenant) for _ in range(3)]
    times = [HAPPENED_MS + index * SECOND_MS for index in range(4)]
    ids = [
        await put_delivery(tenant, made.id, first, created_at=times[0], status="failed"),
        await put_delivery(tenant, made.id, second, created_at=times[1], event_type="call.completed"),
        await put_delivery(tenant, made.id, third, created_at=times[2], status="missed"),
        await put_delivery(tenant, made.id, first, created_at=times[3], cause="replay"),
    ]
    find = tenant.client.webhooks.list_deliveries
    assert [each.id async for each in find(id=made.id, per_page=1)] == ids[::-1]
    assert [each.id async for each in find(id=made.id, per_page=3, sort="created_at")] == ids
    for asked, expected in (
        ({"status": "failed"}, [ids[0]]),
        ({"status": ["failed", "missed"]}, [ids[0], ids[2]]),
        ({"cause": "replay"}, [ids[3]]),
        ({"event_type": ["call.completed", "x"]}, [ids[1]]),
        ({"event_id": first}, [ids[0], ids[3]]),
        ({"event_id": first, "cause": ["event", "test"]}, [ids[0]]),
        ({"created_from": moment(times[2] - 123)}, ids[2:]),
        ({"created_before": moment(times[1] - 123)}, ids[:1]),
    ):
        given: dict[str, Any] = asked
        page = await find(id=made.id, sort="created_at", **given)
        assert [each.id for each in page.data] == expected, asked
        assert page.pagination.total == len(expected)


async def test_a_test_is_queued_for_this_subscription_alone(tenant: Tenant) -> None:
    made, other = await subscribe(tenant, events=["call.started"]), await subscribe(tenant)
    tried = await tenant.client.webhooks.test(id=made.id)
    assert (tried.webhook_id, tried.event_type, tried.cause) == (made.id, "webhook.test", "test")
    assert (tried.status, tried.attempt_count, tried.next_attempt_at) == ("pending", 0, tried.created_at)
    event = await tenant.client.events.get(id=tried.event_id)
    assert (event.type, event.subject_id, event.simulated) == ("webhook.test", made.id, False)
    assert (event.data["webhook_id"], set(event.data)) == (made.id, {"webhook_id", "message"})
    (row,) = await rows_of(tenant, outbox, type="webhook.test")
    assert row["fanned_out_at"] is not None
    (kept,) = await rows_of(tenant, deliveries)
    assert (await endpoint_queue(tenant, made.id)).due_at == kept["next_attempt_at"] == kept["created_at"]
    assert (await endpoint_queue(tenant, other.id)).due_at is None
    assert (await tenant.client.webhooks.get_delivery(id=made.id, delivery_id=tried.id)).attempts == []


async def test_an_endpoint_queue_that_is_due_already_is_not_put_off(tenant: Tenant) -> None:
    made = await subscribe(tenant)

    def set_due(connection: Any, due_at: int) -> None:
        connection.execute(endpoint_queues.update().values(due_at=due_at))

    for due_at, kept in ((1_000, True), (9 * 10**12, False)):
        await tenant.database.write(set_due, due_at)
        await tenant.client.webhooks.test(id=made.id)
        assert ((await endpoint_queue(tenant, made.id)).due_at == due_at) is kept


async def test_nothing_is_sent_by_hand_to_a_subscription_that_is_disabled(tenant: Tenant) -> None:
    made = await subscribe(tenant)
    event = await put_event(tenant)
    await put_delivery(tenant, made.id, event, status="missed")
    await tenant.client.webhooks.update(id=made.id, status="disabled")
    async with refusal(409, "invalid_state_transition") as kept:
        await tenant.client.webhooks.test(id=made.id)
    assert kept[0].details == {"current_status": "disabled", "allowed": ["update", "rotate_secret", "delete"]}
    async with refusal(409, "invalid_state_transition"):
        await tenant.client.webhooks.replay(id=made.id)
    async with refusal(409, "invalid_state_transition", "webhook_id"):
        await tenant.client.events.replay(id=event, webhook_id=made.id)
    assert (await tenant.client.events.replay(id=event)).queued == 0
    assert len(await rows_of(tenant, deliveries)) == 1
    await tenant.client.webhooks.update(id=made.id, status="active")
    assert (await tenant.client.webhooks.replay(id=made.id)).queued == 1


async def test_what_failed_and_was_missed_is_queued_again_and_nothing_else(tenant: Tenant) -> None:
    made, other = await subscribe(tenant), await subscribe(tenant)
    failed = await put_failed(tenant, made.id, 2)
    missed = await put_failed(tenant, made.id, 2, status="missed")
    for status in ("succeeded", "pending", "cancelled"):
        await put_failed(tenant, made.id, 1, status=status)
    await put_failed(tenant, other.id, 1)
    await put_failed(tenant, made.id, 1, cause="test", event_type="webhook.test")
    answer = await tenant.client.webhooks.replay(id=made.id)
    assert (answer.queued, answer.has_more) == (4, False)
    assert set(await replayed(tenant, made.id)) == {*failed, *missed}
    assert await replayed(tenant, other.id) == []
    queued = await rows_of(tenant, deliveries, cause="replay")
    assert {(row["status"], row["event_type"], row["attempt_count"]) for row in queued} == {
        ("pending", "call.started", 0)
    }
    assert (await endpoint_queue(tenant, made.id)).due_at == queued[0]["next_attempt_at"] == queued[0]["created_at"]
    again = await tenant.client.webhooks.replay(id=made.id)
    assert (again.queued, again.has_more) == (0, False)


async def test_a_replay_is_narrowed_by_state_and_by_time(tenant: Tenant, http: AsyncClient) -> None:
    made = await subscribe(tenant)
    failed = await put_failed(tenant, made.id, 4)
    missed = await put_failed(tenant, made.id, 1, status="missed")
    begin, end = [moment(HAPPENED_MS - 123 + index * SECOND_MS) for index in (1, 3)]
    answer = await tenant.client.webhooks.replay(id=made.id, statuses=["missed"])
    assert (answer.queued, await replayed(tenant, made.id)) == (1, missed)
    answer = await tenant.client.webhooks.replay(id=made.id, created_from=begin, created_before=end)
    assert answer.queued == 2
    assert set(await replayed(tenant, made.id)) == {*missed, *failed[1:3]}
    path = f"/v1/webhooks/{made.id}/replay"
    for field, value in (("statuses", "[]"), ("created_from", '"yesterday"'), ("created_before", '"2026-01-01"')):
        wrong = await http.post(path, content=f'{{"{field}": {value}}}')
        refused(wrong, 400, "invalid_field", field)
    refused(await http.post(path, json={"statuses": ["pending"]}), 400, "invalid_field", "statuses.0")


async def test_an_event_is_queued_once_however_often_it_failed(tenant: Tenant) -> None:
    made = await subscribe(tenant)
    (event,) = await put_failed(tenant, made.id, 1)
    later = await put_event(tenant)
    await put_delivery(tenant, made.id, later, status="failed", cause="replay")
    for turn in range(1, 4):
        assert (await tenant.client.webhooks.replay(id=made.id)).queued == 2
        rows = await rows_of(tenant, deliveries, status="pending")
        assert {row["event_id"] for row in rows} == {event, later}
        for row in rows:
            await set_on(tenant, deliveries, row["id"], status="succeeded" if turn == 3 else "failed")
    assert (await tenant.client.webhooks.replay(id=made.id)).queued == 0


async def test_an_event_that_the_log_no_longer_holds_is_left_out(tenant: Tenant) -> None:
    made = await subscribe(tenant)
    await put_delivery(tenant, made.id, "evt_swept", status="failed")
    (event,) = await put_failed(tenant, made.id, 1)
    assert (await tenant.client.webhooks.replay(id=made.id)).queued == 1
    assert await replayed(tenant, made.id) == [event]


async def test_a_replay_takes_the_oldest_first_and_says_whether_more_are_left(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contract, "MOST_REPLAYED", 3)
    async with open_service(database_url, tmp_path, workers=False) as tenant:
        made = await subscribe(tenant)
        events = await put_failed(tenant, made.id, 7)
        for queued, has_more, so_far in ((3, True, 3), (3, True, 6), (1, False, 7)):
            answer = await tenant.client.webhooks.replay(id=made.id)
            assert (answer.queued, answer.has_more) == (queued, has_more)
            assert set(await replayed(tenant, made.id)) == set(events[:so_far])


async def test_lists_and_replays_are_led_by_an_index(tenant: Tenant) -> None:
    made = await subscribe(tenant)
    (event,) = await put_failed(tenant, made.id, 1)
    with recorded() as said:
        await tenant.client.webhooks.list_deliveries(id=made.id)
        await tenant.client.webhooks.list_deliveries(id=made.id, event_id=event)
        await tenant.client.events.list()
        await tenant.client.events.list(subject_id="cal_1")
        await tenant.client.events.list_deliveries(id=event)
        await tenant.client.webhooks.replay(id=made.id)
    pages = [each for each in said if "LIMIT" in each.text and re.search(r"FROM (deliveries|outbox)", each.text)]
    plans = await tenant.database.read(lambda connection: [each.plan(connection) for each in pages])
    expected = (
        "ix_deliveries_webhook",
        "ix_deliveries_once",
        "ix_outbox_created",
        "ix_outbox_subject",
        "ix_deliveries_once",
        "ix_deliveries_unarrived",
    )
    assert [index for index, plan in zip(expected, plans, strict=True) if index not in plan] == [], plans
