"""Sending again what a subscription did not get: how many first, then doing it."""

import pytest

from callwright.contract import webhooks as contract
from callwright.service.tables.schema import deliveries, webhooks
from tests.support.dashboard import ORIGIN, logged_in, text_of
from tests.support.service import Tenant
from tests.support.webhooks.sent_events import HAPPENED_MS, put_delivery, put_event, rows_of, set_on, subscribe

MINUTE_MS = 60_000


async def _missed(tenant: Tenant, webhook_id: str, *states: str) -> list[str]:
    """Events a minute apart, from noon of 21 November 2026 on, of which each delivery has such a state."""
    events: list[str] = []
    for at, state in enumerate(states):
        events.append(await put_event(tenant))
        await put_delivery(tenant, webhook_id, events[-1], status=state, created_at=HAPPENED_MS + at * MINUTE_MS)
    return events


async def _replayed(tenant: Tenant, webhook_id: str) -> list[str]:
    return [row["event_id"] for row in await rows_of(tenant, deliveries, webhook_id=webhook_id, cause="replay")]


@pytest.mark.requirement("DASH-58")
async def test_how_many_are_sent_is_said_first_and_those_of_the_range_are_sent(tenant: Tenant) -> None:
    made = await subscribe(tenant)
    events = await _missed(tenant, made.id, "failed", "missed", "failed", "succeeded", "failed")
    path = f"/webhooks/{made.id}/replay"
    async with logged_in(tenant) as visit:
        assert "4 events will be sent now" in text_of(await visit.page(path))
        assert "1 event will be sent now" in text_of(await visit.page(f"{path}?statuses=missed"))
        part = f"{path}?statuses=failed&created_from=2026-11-21T12:01&created_before=2026-11-21T12:04"
        assert "1 event will be sent now" in text_of(await visit.page(part))
        fields = {
            "form_token": await visit.token(),
            "statuses": "failed",
            "created_from": "2026-11-21T12:01",
            "created_before": "2026-11-21T12:04",
        }
        answer = await visit.http.post(path, data=fields, headers={"Origin": ORIGIN})
        assert answer.headers["location"] == f"/webhooks/{made.id}?cause=replay"
        assert await _replayed(tenant, made.id) == [events[2]]
        again = await visit.http.post(path, data=fields, headers={"Origin": ORIGIN})
        assert (again.status_code, "nothing fits any more" in again.text) == (400, True)
        assert "3 events will be sent now" in text_of(await visit.page(path))
    assert await _replayed(tenant, made.id) == [events[2]]


@pytest.mark.requirement("DASH-58")
async def test_more_than_one_replay_sends_are_said_to_be_more(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contract, "MOST_REPLAYED", 2)
    made = await subscribe(tenant)
    await _missed(tenant, made.id, "failed", "missed", "failed")
    async with logged_in(tenant) as visit:
        page = text_of(await visit.page(f"/webhooks/{made.id}/replay"))
    assert "2 events will be sent now; more fit, so send again after these." in page


@pytest.mark.requirement("DASH-58")
async def test_what_cannot_be_sent_is_refused_in_words(tenant: Tenant) -> None:
    made = await subscribe(tenant)
    path = f"/webhooks/{made.id}/replay"
    async with logged_in(tenant) as visit:
        assert "Nothing fits" in await visit.page(path)
        wrong = await visit.page(f"{path}?created_from=soon", status=400)
        assert ("Write both moments" in wrong, 'value="soon"' in wrong) == (True, True)
        await _missed(tenant, made.id, "failed")
        await set_on(tenant, webhooks, made.id, status="disabled")
        assert "The webhook is disabled" in await visit.page(path)
        data = {"form_token": await visit.token()}
        refused = await visit.http.post(path, data=data, headers={"Origin": ORIGIN})
        assert (refused.status_code, "disabled" in refused.text) == (400, True)
        async with tenant.another_organization() as other:
            theirs = await subscribe(other)
            await visit.page(f"/webhooks/{theirs.id}/replay", status=404)
    async with logged_in(tenant, role="viewer") as viewer:
        fields = {"form_token": await viewer.token()}
        await viewer.http.post(path, data=fields, headers={"Origin": ORIGIN})
    assert await _replayed(tenant, made.id) == []


@pytest.mark.requirement("DASH-58")
async def test_deliveries_are_filtered_by_what_became_of_them(tenant: Tenant) -> None:
    made = await subscribe(tenant)
    await _missed(tenant, made.id, "failed", "succeeded", "succeeded")
    async with logged_in(tenant) as visit:
        page = await visit.page(f"/webhooks/{made.id}?status=failed")
        assert page.count("/deliveries/") == 1
        assert (await visit.page(f"/webhooks/{made.id}")).count("/deliveries/") == 3
        wrong = await visit.page(f"/webhooks/{made.id}?created_from=soon")
        assert ('role="alert"' in wrong, 'value="soon"' in wrong) == (True, True)
