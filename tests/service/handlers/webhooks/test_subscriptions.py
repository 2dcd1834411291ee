"""Webhook subscriptions over the typed client."""

import json
import re
from typing import Any

import pytest

from callwright.client import ServiceProblem
from callwright.contract.events import EVENT_TYPES
from callwright.contract.webhooks import MOST_SUBSCRIPTIONS
from callwright.service.rest.documentation.openapi.schemas import contract_schemas
from callwright.service.rest.documentation.reference.events import events_page
from callwright.service.tables.schema import audit_log, deliveries, outbox, webhooks
from tests.support.http.raw_requests import AsyncClient, refused
from tests.support.resources import refusal
from tests.support.service import Tenant
from tests.support.tasks import all_at_once
from tests.support.webhooks.sent_events import (
    HAPPENED_MS,
    URL,
    endpoint_queue,
    put_delivery,
    put_event,
    rows_of,
    set_on,
    subscribe,
)

OWN_SECRET = "whsec_" + "a1B2-c3_" * 4


@pytest.mark.requirement(
    "PATH-10", "CONV-08", "HOOK-01", "HOOK-04", "HOOK-05", "HOOK-06", "HOOK-08", "HOOK-10", "HOOK-12"
)
async def test_a_subscription_is_made_with_a_secret_that_no_later_answer_shows(
    tenant: Tenant, http: AsyncClient
) -> None:
    made = await subscribe(tenant, events=["call.completed"], description="To our CRM", metadata={"team": "a"})
    assert re.fullmatch(r"whk_[0-9A-Za-z]{24}", made.id)
    assert re.fullmatch(r"whsec_[0-9A-Za-z_-]{43}", made.secret)
    assert (made.url, made.events, made.description) == (URL, ["call.completed"], "To our CRM")
    assert (made.status, made.disabled_reason, made.disabled_at) == ("active", None, None)
    assert (made.consecutive_failures, made.last_success_at, made.last_response_status) == (0, None, None)
    assert made.secret_prefix == made.secret[:10]
    assert made.metadata == {"team": "a"}
    shown = await tenant.client.webhooks.get(id=made.id)
    assert shown.model_dump() == made.model_dump(exclude={"secret"})
    await tenant.client.webhooks.update(id=made.id, description="")
    texts = [(await http.get(path)).text for path in (f"/v1/webhooks/{made.id}", "/v1/webhooks")]
    texts.append((await http.patch(f"/v1/webhooks/{made.id}", json={"events": ["*"]})).text)
    assert not [text for text in texts if made.secret[10:] in text]
    assert (await subscribe(tenant)).secret != made.secret


async def test_a_new_subscription_has_an_endpoint_queue_in_which_nothing_is_due(tenant: Tenant) -> None:
    made = await subscribe(tenant)
    assert (await endpoint_queue(tenant, made.id)).due_at is None
    (row,) = await rows_of(tenant, webhooks)
    assert row["enabled_at"] == row["created_at"]


@pytest.mark.requirement("HOOK-02", "HOOK-03", "HOOK-13", "LIMIT-05")
@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/events",
        "https://localhost/events",
        "https://127.0.0.1/events",
        "https://10.1.2.3/events",
        "https://169.254.169.254/latest/meta-data",
        "https://[::1]/events",
        "https://2130706433/events",
        "https://user:pass@example.com/events",
        "https://example.com/events#part",
        "https://example.com:99999/events",
        "ftp://example.com/events",
        "example.com/events",
        "https:///events",
        "https://example.com/" + "a" * 2_029,
        "",
    ],
    ids=lambda url: url[:40] or "empty",
)
async def test_a_url_that_events_cannot_be_sent_to_is_refused_by_name(
    tenant: Tenant, http: AsyncClient, url: str
) -> None:
    refused(await http.post("/v1/webhooks", json={"url": url, "events": ["*"]}), 400, "invalid_field", "url")
    made = await subscribe(tenant)
    refused(await http.patch(f"/v1/webhooks/{made.id}", json={"url": url}), 400, "invalid_field", "url")
    assert (await tenant.client.webhooks.get(id=made.id)).url == URL
    assert len(await rows_of(tenant, webhooks)) == 1


@pytest.mark.requirement("LIMIT-05", "HOOK-03")
async def test_a_url_of_2048_characters_is_taken(tenant: Tenant) -> None:
    url = "https://example.com/" + "a" * 2_028
    assert len(url) == 2_048
    assert (await subscribe(tenant, url=url)).url == url


@pytest.mark.requirement("HOOK-11")
async def test_what_is_no_event_is_refused_by_its_place(tenant: Tenant, http: AsyncClient) -> None:
    for names, field in (
        (["call.started", "call.answered"], "events.1"),
        (["**"], "events.0"),
        ([""], "events.0"),
        ([None], "events.0"),
        ([], "events"),
        ("call.started", "events"),
        (["call.started"] * 101, "events"),
    ):
        answer = await http.post("/v1/webhooks", json={"url": URL, "events": names})
        refused(answer, 400, "invalid_field", field)
    refused(await http.post("/v1/webhooks", json={"url": URL}), 400, "missing_field", "events")
    refused(await http.post("/v1/webhooks", json={"events": ["*"]}), 400, "missing_field", "url")
    made = await subscribe(tenant)
    answer = await http.patch(f"/v1/webhooks/{made.id}", json={"events": ["call.started", "x"]})
    assert "call.completed" in refused(answer, 400, "invalid_field", "events.1")["message"]


@pytest.mark.requirement("HOOK-04")
async def test_names_of_events_are_kept_in_their_order_and_each_once(tenant: Tenant) -> None:
    every = sorted(EVENT_TYPES, reverse=True)
    assert (await subscribe(tenant, events=[*every, *every])).events == every
    made = await subscribe(tenant, events=["wallet.low_balance", "*", "call.started", "*"])
    assert made.events == ["wallet.low_balance", "*", "call.started"]
    changed = await tenant.client.webhooks.update(id=made.id, events=["call.started", "call.started"])
    assert changed.events == ["call.started"]


@pytest.mark.requirement("EVENT-28")
async def test_a_subscription_may_name_the_event_of_compliance(tenant: Tenant, http: AsyncClient) -> None:
    asked = {"url": URL, "events": ["compliance.action_required"]}
    made = (await http.post("/v1/webhooks", json=asked)).json()["data"]
    assert made["events"] == ["compliance.action_required"]
    changed = await tenant.client.webhooks.update(id=made["id"], events=["compliance.action_required", "*"])
    assert changed.events == ["compliance.action_required", "*"]
    assert "## compliance.action_required" in events_page(contract_schemas())


async def test_the_twenty_first_subscription_is_refused_until_one_is_deleted(tenant: Tenant, other: Tenant) -> None:
    made = [await subscribe(tenant) for _ in range(MOST_SUBSCRIPTIONS)]
    await tenant.client.webhooks.update(id=made[0].id, status="disabled")
    async with refusal(422, "plan_limit_reached") as kept:
        await subscribe(tenant)
    assert (kept[0].details["limit"], kept[0].details["current"]) == (20, 20)
    await subscribe(other)
    await tenant.client.webhooks.delete(id=made[3].id)
    await subscribe(tenant)
    async with refusal(422, "plan_limit_reached"):
        await subscribe(tenant)


async def test_of_many_who_subscribe_at_once_no_more_than_fit_succeed(tenant: Tenant) -> None:
    outcomes: list[str] = []
    for _ in range(MOST_SUBSCRIPTIONS - 3):
        await subscribe(tenant)

    async def create() -> None:
        try:
            await subscribe(tenant)
        except ServiceProblem as problem:
            outcomes.append(problem.code)
        else:
            outcomes.append("made")

    await all_at_once(12, create, within_s=30)
    assert sorted(outcomes) == ["made"] * 3 + ["plan_limit_reached"] * 9
    assert (await tenant.client.webhooks.list(per_page=1)).pagination.total == MOST_SUBSCRIPTIONS


@pytest.mark.requirement("PATH-14", "PATH-24")
async def test_subscriptions_are_listed_by_state_and_page_by_page(tenant: Tenant) -> None:
    made = [(await subscribe(tenant, description=str(index))).id for index in range(7)]
    for index, each in enumerate(made):
        await set_on(tenant, webhooks, each, created_at=HAPPENED_MS + index, updated_at=HAPPENED_MS - index)
    find = tenant.client.webhooks.list
    assert [each.id async for each in find(per_page=3)] == made[::-1]
    assert [each.id async for each in find(per_page=2, sort="-updated_at")] == made
    for each in made[:2]:
        await tenant.client.webhooks.update(id=each, status="disabled")
    assert {each.id async for each in find(status=["disabled"])} == set(made[:2])
    assert (await find(status="active")).pagination.total == 5
    assert (await find(status=["active", "disabled"])).pagination.total == 7
    await tenant.client.webhooks.delete(id=made[6])
    assert (await find(per_page=1)).data[0].id == made[5]


async def test_fields_change_alone_and_what_must_be_there_cannot_be_cleared(tenant: Tenant, http: AsyncClient) -> None:
    made = await subscribe(tenant, description="before", metadata={"a": "b"})
    changed = await tenant.client.webhooks.update(id=made.id, url="https://example.org/other?x=1")
    assert changed.url == "https://example.org/other?x=1"
    assert (changed.events, changed.description, changed.metadata) == (["*"], "before", {"a": "b"})
    assert changed.secret_prefix == made.secret_prefix
    changed = await tenant.client.webhooks.update(id=made.id, description="", metadata={})
    assert (changed.description, changed.metadata) == ("", {})
    path = f"/v1/webhooks/{made.id}"
    for field in ("url", "events", "status"):
        refused(await http.patch(path, json={field: None}), 400, "invalid_field", field)
    refused(await http.patch(path, json={"secret": OWN_SECRET}), 400, "invalid_field", "secret")
    refused(await http.patch(path, json={"status": "paused"}), 400, "invalid_field", "status")
    assert (await http.patch(path, json={})).status_code == 200


@pytest.mark.requirement("HOOK-12")
async def test_what_waits_when_a_subscription_is_disabled_by_hand_is_missed(tenant: Tenant) -> None:
    made, other = await subscribe(tenant), await subscribe(tenant)
    event = await put_event(tenant)
    arrived = await put_delivery(tenant, made.id, event)
    tried = await tenant.client.webhooks.test(id=made.id)
    elsewhere = await tenant.client.webhooks.test(id=other.id)
    shown = await tenant.client.webhooks.update(id=made.id, status="disabled")
    assert (shown.status, shown.disabled_reason) == ("disabled", "manual")
    assert shown.disabled_at == shown.updated_at
    kept = {each["id"]: each for each in await rows_of(tenant, deliveries)}
    assert (kept[tried.id]["status"], kept[tried.id]["next_attempt_at"]) == ("missed", None)
    assert kept[tried.id]["finished_at"] is not None
    assert (kept[arrived]["status"], kept[elsewhere.id]["status"]) == ("succeeded", "pending")
    assert (await endpoint_queue(tenant, made.id)).due_at is None
    assert (await endpoint_queue(tenant, other.id)).due_at is not None
    again = await tenant.client.webhooks.update(id=made.id, status="disabled", description="still")
    assert again.disabled_at == shown.disabled_at


async def test_the_others_are_told_that_a_subscription_was_disabled(tenant: Tenant) -> None:
    made = await subscribe(tenant)
    await set_on(tenant, webhooks, made.id, consecutive_failures=3, last_response_status=503)
    for _ in range(2):
        await tenant.client.webhooks.update(id=made.id, status="disabled")
    (event,) = await rows_of(tenant, outbox, type="webhook.disabled")
    assert (event["subject_id"], event["fanned_out_at"]) == (made.id, None)
    assert json.loads(event["data"]) == {
        "webhook_id": made.id,
        "reason": "manual",
        "consecutive_failures": 3,
        "last_response_status": 503,
    }


async def test_enabling_begins_anew_and_enabling_what_is_active_changes_nothing(tenant: Tenant) -> None:
    made = await subscribe(tenant)
    failed: dict[str, Any] = {"consecutive_failures": 25, "last_failure_at": HAPPENED_MS, "enabled_at": 1}
    await set_on(tenant, webhooks, made.id, **failed)
    active = await tenant.client.webhooks.update(id=made.id, status="active")
    assert active.consecutive_failures == 25
    assert [row["enabled_at"] for row in await rows_of(tenant, webhooks)] == [1]
    gone = {"status": "disabled", "disabled_reason": "endpoint_gone", "disabled_at": HAPPENED_MS}
    await set_on(tenant, webhooks, made.id, **gone)
    assert (await tenant.client.webhooks.get(id=made.id)).disabled_reason == "endpoint_gone"
    shown = await tenant.client.webhooks.update(id=made.id, status="active")
    assert (shown.status, shown.disabled_reason, shown.disabled_at) == ("active", None, None)
    assert shown.consecutive_failures == 0
    assert shown.last_failure_at is not None
    (row,) = await rows_of(tenant, webhooks)
    assert row["enabled_at"] == row["updated_at"]


async def test_a_deleted_subscription_is_gone_and_what_waits_is_cancelled(tenant: Tenant, http: AsyncClient) -> None:
    made = await subscribe(tenant, secret=OWN_SECRET)
    waiting = await tenant.client.webhooks.test(id=made.id)
    await tenant.client.webhooks.delete(id=made.id)
    (row,) = await rows_of(tenant, deliveries)
    assert (row["id"], row["status"], row["next_attempt_at"]) == (waiting.id, "cancelled", None)
    assert row["finished_at"] is not None
    assert (await endpoint_queue(tenant, made.id)).due_at is None
    assert (await tenant.client.webhooks.list()).data == []
    at = f"/v1/webhooks/{made.id}"
    for method, path in (
        ("GET", at),
        ("PATCH", at),
        ("DELETE", at),
        ("POST", f"{at}/rotate_secret"),
        ("POST", f"{at}/test"),
        ("POST", f"{at}/replay"),
        ("GET", f"{at}/deliveries"),
        ("GET", f"{at}/deliveries/{waiting.id}"),
    ):
        content = "{}" if method in ("POST", "PATCH") and not path.endswith("test") else None
        refused(await http.request(method, path, content=content), 404, "not_found")
    (kept,) = await rows_of(tenant, webhooks)
    assert OWN_SECRET not in repr(kept)


async def test_what_sending_changes_is_no_change_of_a_person_s(tenant: Tenant) -> None:
    made = await subscribe(tenant)
    failed: dict[str, Any] = {"consecutive_failures": 25, "last_failure_at": 1, "last_response_status": 500}
    await set_on(tenant, webhooks, made.id, status="disabled", disabled_reason="consecutive_failures", **failed)
    await tenant.client.webhooks.update(id=made.id, status="active")
    (entry,) = await rows_of(tenant, audit_log, action="update_webhook")
    assert json.loads(entry["changes"]) == {
        "disabled_reason": {"before": "consecutive_failures", "after": None},
        "status": {"before": "disabled", "after": "active"},
    }
