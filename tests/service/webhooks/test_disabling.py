"""When a subscription is disabled, and what becomes of what waits for it."""

import json
from pathlib import Path

import pytest
from sqlalchemy import update

from callwright.contract.webhooks import DisabledReason
from callwright.service.tables.schema import audit_log, outbox, webhooks
from tests.support.webhooks.delivering import Delivering, answer, delivering, url_of

DAY = 86_400_000
THREE_DAYS = 3 * DAY


async def _disabled(at: Delivering, webhook_id: str, reason: DisabledReason) -> None:
    row = await at.webhook(webhook_id)
    assert (row.status, row.disabled_reason, row.disabled_at) == ("disabled", reason, at.clock.now_ms())
    (event,) = await at.events(outbox.c.type == "webhook.disabled")
    told = json.loads(event.data)
    assert (told["webhook_id"], told["reason"]) == (webhook_id, reason)
    assert told["consecutive_failures"] == row.consecutive_failures
    (entry,) = await at.rows(audit_log, audit_log.c.action == "webhook.disabled")
    assert (entry.actor, entry.subject, entry.org_id) == ("platform", webhook_id, at.tenant.org_id)


@pytest.mark.requirement("HOOK-12")
async def test_an_endpoint_that_says_it_is_gone_gets_nothing_more_and_the_others_are_told(at: Delivering) -> None:
    gone = await at.subscribe("gone")
    await at.subscribe("other")
    at.endpoints.answers[url_of("gone")] = lambda _: answer("rejected", 410)
    await at.deliver_new(300)
    sent = len(at.endpoints.to(url_of("gone")))
    assert sent < 300
    await _disabled(at, gone.id, "endpoint_gone")
    states = [one.status for one in await at.deliveries() if one.webhook_id == gone.id]
    assert sorted(set(states)) == ["failed", "missed"]  # missed, too, is what was under way when it was disabled
    assert (len(states), len([one for one in await at.attempts() if one.url == url_of("gone")])) == (300, sent)
    await at.deliver(after_ms=DAY)
    assert len(at.endpoints.to(url_of("gone"))) == sent
    types = [json.loads(request.body)["type"] for request in at.endpoints.to(url_of("other"))]
    assert (types.count("webhook.disabled"), len(types)) == (1, 301)


async def test_twenty_failed_events_in_a_row_and_three_days_of_silence_disable(at: Delivering) -> None:
    webhook = await at.subscribe()
    at.clock.at_ms = (await at.webhook(webhook.id)).enabled_at + THREE_DAYS
    at.endpoints.answers[url_of("a")] = lambda _: answer("rejected", 400)
    await at.deliver_new(19)
    row = await at.webhook(webhook.id)
    assert (row.status, row.consecutive_failures) == ("active", 19)
    await at.deliver_new()
    await _disabled(at, webhook.id, "consecutive_failures")


async def test_less_than_three_days_of_silence_do_not_disable(at: Delivering) -> None:
    webhook = await at.subscribe()
    at.clock.at_ms = (await at.webhook(webhook.id)).enabled_at + THREE_DAYS - 1
    at.endpoints.answers[url_of("a")] = lambda _: answer("rejected", 400)
    await at.deliver_new(40)
    row = await at.webhook(webhook.id)
    assert (row.status, row.consecutive_failures) == ("active", 40)


async def test_an_event_that_arrives_begins_the_count_and_the_days_anew(at: Delivering) -> None:
    webhook = await at.subscribe()
    at.clock.move(THREE_DAYS)
    at.endpoints.answers[url_of("a")] = lambda _: answer("rejected", 400)
    await at.deliver_new(19)
    at.endpoints.answers[url_of("a")] = lambda _: answer()
    await at.deliver_new()
    assert (await at.webhook(webhook.id)).consecutive_failures == 0
    at.endpoints.answers[url_of("a")] = lambda _: answer("rejected", 400)
    await at.happen(25)
    await at.deliver(after_ms=THREE_DAYS - 1)
    assert (await at.webhook(webhook.id)).status == "active"
    await at.happen()
    await at.deliver(after_ms=1)
    await _disabled(at, webhook.id, "consecutive_failures")


async def test_only_events_count_that_were_given_up_and_not_their_attempts(at: Delivering) -> None:
    webhook = await at.subscribe()
    at.clock.move(THREE_DAYS)
    at.endpoints.answers[url_of("a")] = lambda _: answer("server_error")
    await at.deliver_new(10)
    for gap_ms in (15_000, 45_000, 135_000):
        await at.deliver(after_ms=gap_ms)
    assert (await at.webhook(webhook.id)).consecutive_failures == 0
    await at.deliver(after_ms=405_000)
    row = await at.webhook(webhook.id)
    assert (row.status, row.consecutive_failures) == ("active", 10)


async def test_days_before_it_was_enabled_again_do_not_count(at: Delivering) -> None:
    webhook = await at.subscribe()
    at.clock.move(30 * DAY)
    await at.change(update(webhooks).values(enabled_at=at.clock.now_ms()))
    at.endpoints.answers[url_of("a")] = lambda _: answer("rejected", 400)
    await at.deliver_new(40)
    assert (await at.webhook(webhook.id)).status == "active"


@pytest.mark.parametrize(("action", "status"), [("disabled", "missed"), ("deleted", "cancelled")])
async def test_what_waits_is_not_sent_to_a_subscription_that_was_ended_meanwhile(
    at: Delivering, action: str, status: str
) -> None:
    webhook = await at.subscribe()
    at.endpoints.answers[url_of("a")] = lambda _: answer("timeout")
    await at.deliver_new(3)
    at.clock.move(15_000)
    # As when the end comes between the fan-out and the sending: the deliveries are pending all the same.
    ended = {"status": "disabled"} if action == "disabled" else {"deleted_at": at.clock.now_ms()}
    await at.change(update(webhooks).values(**ended))
    await at.deliver()
    assert len(at.endpoints.requests) == 3
    assert [one.status for one in await at.deliveries()] == [status] * 3
    assert (await at.endpoint_queue(webhook.id)).due_at is None


async def test_what_is_under_way_when_a_subscription_is_deleted_is_still_entered(
    database_url: str, tmp_path: Path
) -> None:
    import anyio

    async with delivering(database_url, tmp_path) as at:
        webhook = await at.subscribe()
        at.endpoints.holding.add(url_of("a"))
        await at.happen(200)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(at.dispatcher.work_until_idle)
            await at.endpoints.got(16)
            await at.tenant.client.webhooks.delete(id=webhook.id)
            at.endpoints.let_go.set()
        sent = len(at.endpoints.requests)
        assert sent < 200
        rows = await at.deliveries()
        assert sorted({one.status for one in rows}) == ["cancelled", "succeeded"]
        assert [one.status for one in rows].count("succeeded") == sent == len(await at.attempts())
        assert all(one.attempt_started_at is None for one in rows)
        queue = await at.endpoint_queue(webhook.id)
        assert (queue.due_at, queue.lease_owner) == (None, None)
