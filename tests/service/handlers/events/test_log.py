"""The log of events over the typed client."""

import json
from typing import Any

import pytest

from callwright.contract.event_log import Event
from callwright.service.platform.clock.clock import moment
from callwright.service.platform.event_envelope import envelope
from callwright.service.tables.schema import deliveries
from tests.support.http.raw_requests import AsyncClient, refused
from tests.support.resources import refusal
from tests.support.service import Tenant
from tests.support.webhooks.sent_events import (
    HAPPENED_MS,
    endpoint_queue,
    put_delivery,
    put_event,
    rows_of,
    set_on,
    subscribe,
)

SECOND_MS = 1_000


@pytest.mark.requirement("CONV-04", "EVENT-11", "EVENT-12", "EVENT-13", "EVENT-14")
async def test_an_event_is_shown_as_it_is_sent_with_milliseconds(tenant: Tenant, http: AsyncClient) -> None:
    data = '{"call_id":"cal_1","outcome":"Zoë","nothing":null,"steps":[1,2.50]}'
    event = await put_event(tenant, "call.completed", data=data)
    shown = await tenant.client.events.get(id=event)
    assert shown.id.startswith("evt_")
    assert (shown.type, shown.created_at, shown.org_id) == (
        "call.completed",
        "2026-11-21T12:00:00.123Z",
        tenant.org_id,
    )
    assert shown.data == {"call_id": "cal_1", "outcome": "Zoë", "nothing": None, "steps": [1, 2.5]}
    assert (shown.simulated, shown.subject_id) == (True, "cal_1")
    sent = json.loads(envelope(event, "call.completed", HAPPENED_MS, tenant.org_id, data))
    raw = (await http.get(f"/v1/events/{event}")).json()["data"]
    assert list(raw) == [*sent, "simulated", "subject_id"] == list(Event.model_fields)
    assert {name: raw[name] for name in sent} == sent


async def test_what_happens_is_in_the_log_at_once(tenant: Tenant) -> None:
    made = await subscribe(tenant)
    await tenant.client.webhooks.update(id=made.id, status="disabled")
    (event,) = (await tenant.client.events.list(subject_id=made.id)).data
    assert (event.type, event.simulated) == ("webhook.disabled", False)
    assert event.data["reason"] == "manual"
    assert await tenant.client.events.get(id=event.id) == event


@pytest.mark.requirement("PATH-33")
async def test_events_are_filtered_and_walked_the_newest_first(tenant: Tenant) -> None:
    kinds = ("call.started", "call.completed", "call.started", "deployment.paused")
    ids = [
        await put_event(tenant, kind, created_at=HAPPENED_MS + index * SECOND_MS, subject_id=f"cal_{index // 2}")
        for index, kind in enumerate(kinds)
    ]
    find = tenant.client.events.list
    wanted: list[str] = [*kinds]
    assert [each.id async for each in find(per_page=1, type=wanted)] == ids[::-1]
    assert [each.id async for each in find(per_page=3, type=wanted, sort="created_at")] == ids
    span = [moment(HAPPENED_MS - 123 + index * SECOND_MS) for index in range(4)]
    for asked, expected in (
        ({"type": "call.started"}, [ids[0], ids[2]]),
        ({"type": ["call.completed", "deployment.paused"]}, [ids[1], ids[3]]),
        ({"subject_id": "cal_1"}, ids[2:]),
        ({"subject_id": "cal_1", "type": "call.started"}, [ids[2]]),
        ({"created_from": span[1], "created_before": span[3]}, ids[1:3]),
        ({"type": "nothing.happened"}, []),
    ):
        given: dict[str, Any] = asked
        page = await find(sort="created_at", **given)
        assert [each.id for each in page.data] == expected, asked
        assert page.pagination.total == len(expected)


async def test_a_cursor_of_one_event_s_deliveries_is_not_one_of_another_s(tenant: Tenant) -> None:
    made = await subscribe(tenant)
    first, second = await put_event(tenant), await put_event(tenant)
    for event in (first, second):
        await put_delivery(tenant, made.id, event)
        await put_delivery(tenant, made.id, event, cause="replay")
    cursor = (await tenant.client.events.list_deliveries(id=first, per_page=1)).pagination.next_cursor
    assert cursor is not None
    async with refusal(400, "invalid_cursor", "cursor"):
        await tenant.client.events.list_deliveries(id=second, per_page=1, cursor=cursor)
    rest = await tenant.client.events.list_deliveries(id=first, cursor=cursor)
    assert len(rest.data) == 1


async def test_deliveries_of_an_event_stay_when_the_subscription_is_deleted(tenant: Tenant) -> None:
    first, second = await subscribe(tenant), await subscribe(tenant)
    event = await put_event(tenant)
    ids = [
        await put_delivery(tenant, each.id, event, created_at=HAPPENED_MS + index)
        for index, each in enumerate((first, second))
    ]
    await put_delivery(tenant, first.id, await put_event(tenant))
    await tenant.client.webhooks.delete(id=first.id)
    shown = [each async for each in tenant.client.events.list_deliveries(id=event, per_page=1)]
    assert [(each.id, each.webhook_id) for each in shown] == [(ids[1], second.id), (ids[0], first.id)]


@pytest.mark.requirement("EVENT-09", "PATH-33")
async def test_an_event_is_sent_again_to_one_subscription_whether_it_wants_it_or_not(tenant: Tenant) -> None:
    made, other = await subscribe(tenant, events=["wallet.low_balance"]), await subscribe(tenant)
    event = await put_event(tenant)
    await put_delivery(tenant, made.id, event)
    answer = await tenant.client.events.replay(id=event, webhook_id=made.id)
    assert (answer.queued, answer.has_more) == (1, False)
    (row,) = await rows_of(tenant, deliveries, status="pending")
    assert (row["webhook_id"], row["event_id"], row["cause"]) == (made.id, event, "replay")
    assert row["event_type"] == "call.started"
    assert (await endpoint_queue(tenant, made.id)).due_at == row["next_attempt_at"]
    assert (await endpoint_queue(tenant, other.id)).due_at is None


async def test_an_event_is_sent_again_to_all_that_are_active_and_want_it(tenant: Tenant) -> None:
    named, every, elsewhere, disabled, deleted = [
        await subscribe(tenant, events=events)
        for events in (["call.started", "call.completed"], ["*"], ["call.completed"], ["*"], ["*"])
    ]
    await tenant.client.webhooks.update(id=disabled.id, status="disabled")
    await tenant.client.webhooks.delete(id=deleted.id)
    event = await put_event(tenant)
    assert (await tenant.client.events.replay(id=event)).queued == 2
    rows = await rows_of(tenant, deliveries)
    assert {row["webhook_id"] for row in rows} == {named.id, every.id}
    assert (await endpoint_queue(tenant, elsewhere.id)).due_at is None
    unwanted = await put_event(tenant, "audience.import_completed")
    await tenant.client.webhooks.delete(id=every.id)
    assert (await tenant.client.events.replay(id=unwanted)).queued == 0


async def test_what_concerns_one_subscription_is_sent_again_to_nobody_else(tenant: Tenant) -> None:
    tested, other = await subscribe(tenant, events=["call.started"]), await subscribe(tenant)
    tried = await tenant.client.webhooks.test(id=tested.id)
    assert (await tenant.client.events.replay(id=tried.event_id)).queued == 1
    rows = await rows_of(tenant, deliveries, event_id=tried.event_id)
    assert {row["webhook_id"] for row in rows} == {tested.id}
    told = await put_event(tenant, "webhook.disabled", subject_id=other.id)
    assert (await tenant.client.events.replay(id=told)).queued == 0
    await subscribe(tenant, events=["webhook.disabled"])
    assert (await tenant.client.events.replay(id=told)).queued == 1
    assert await rows_of(tenant, deliveries, event_id=told, webhook_id=other.id) == []


async def test_a_replay_of_an_event_takes_over_from_the_delivery_that_failed(tenant: Tenant) -> None:
    made = await subscribe(tenant)
    event = await put_event(tenant)
    await put_delivery(tenant, made.id, event, status="failed")
    await tenant.client.events.replay(id=event)
    assert (await tenant.client.webhooks.replay(id=made.id)).queued == 0
    (again,) = await rows_of(tenant, deliveries, cause="replay")
    await set_on(tenant, deliveries, again["id"], status="failed")
    assert (await tenant.client.webhooks.replay(id=made.id)).queued == 1


async def test_whom_an_event_cannot_be_sent_to_is_named(tenant: Tenant, other: Tenant) -> None:
    event = await put_event(tenant)
    theirs, gone = await subscribe(other), await subscribe(tenant)
    await tenant.client.webhooks.delete(id=gone.id)
    for webhook_id in (theirs.id, gone.id, "whk_unknown"):
        async with refusal(404, "not_found", "webhook_id"):
            await tenant.client.events.replay(id=event, webhook_id=webhook_id)
    async with refusal(404, "not_found"):
        await other.client.events.replay(id=event)
    assert await rows_of(tenant, deliveries) == []


async def test_an_event_that_the_log_no_longer_holds_is_not_found(tenant: Tenant, http: AsyncClient) -> None:
    await put_delivery(tenant, (await subscribe(tenant)).id, "evt_swept")
    for method, path in (
        ("GET", "/v1/events/evt_swept"),
        ("GET", "/v1/events/evt_swept/deliveries"),
        ("POST", "/v1/events/evt_swept/replay"),
    ):
        refused(await http.request(method, path, content="{}" if method == "POST" else None), 404, "not_found")


async def test_who_subscribes_to_nothing_has_a_log_all_the_same(tenant: Tenant) -> None:
    (event,) = (await tenant.client.events.list()).data
    assert (event.type, event.subject_id is None) == ("wallet.topup_settled", False)
    assert (await tenant.client.events.list_deliveries(id=event.id)).data == []
