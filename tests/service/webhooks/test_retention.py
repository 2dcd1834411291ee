"""Events and their deliveries are kept for 30 days, and then go."""

import pytest
from sqlalchemy import update

from callwright.service.tables.schema import deliveries
from callwright.service.webhooks import retention
from callwright.service.webhooks.fan_out import fan_out
from tests.support.webhooks.delivering import Delivering

DAY = 86_400_000


async def test_what_is_older_than_thirty_days_goes_and_the_rest_stays(
    at: Delivering, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "MOST", 7)  # many units of work
    await at.subscribe("a")
    await at.subscribe("b")
    await at.deliver_new(20)
    at.clock.move(15 * DAY)
    kept = set(await at.happen(5))
    await at.deliver()
    at.clock.move(15 * DAY)
    await retention.sweep(at.services)
    assert len(await at.deliveries()) == len(await at.attempts()) == 50
    at.clock.move(1)
    await retention.sweep(at.services)
    assert {event.id for event in await at.events()} == kept
    assert {(one.event_id) for one in await at.deliveries()} == kept
    assert len(await at.attempts()) == len(await at.deliveries()) == 10


async def test_one_pass_goes_through_all_subscriptions(at: Delivering, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "SOUGHT", 2)
    for index in range(7):
        await at.subscribe(f"e{index}")
    await at.deliver_new()
    assert len(await at.deliveries()) == 7
    at.clock.move(31 * DAY)
    await retention.sweep(at.services)
    assert (len(await at.deliveries()), len(await at.events())) == (0, 0)


async def test_an_event_that_is_still_to_be_sent_is_kept(at: Delivering) -> None:
    await at.subscribe()
    waiting, over = await at.happen(2)
    await at.services.database.write(fan_out, at.services.ids, at.clock.now_ms())
    ended = update(deliveries).where(deliveries.c.event_id == over)
    await at.change(ended.values(status="cancelled", next_attempt_at=None))
    at.clock.move(40 * DAY)
    await retention.sweep(at.services)
    assert [event.id for event in await at.events()] == [waiting]
    await at.deliver()
    assert [one.status for one in await at.deliveries()] == ["succeeded"]


async def test_an_event_that_nobody_wanted_goes_too_and_a_new_one_is_never_lost(at: Delivering) -> None:
    await at.deliver_new(3)
    (new,) = await at.happen()
    at.clock.move(40 * DAY)
    await retention.sweep(at.services)
    assert [event.id for event in await at.events()] == [new]
