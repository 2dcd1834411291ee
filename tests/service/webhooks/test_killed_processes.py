"""SIGKILL while events are delivered: each arrives at each subscription, few twice, and the log has no gaps.

`CALLWRIGHT_TEST_DELIVERIES=20000` makes as many deliveries as that; the suite makes 300.
"""

import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import anyio
from anyio import to_thread
from sqlalchemy import Connection, func, select

from callwright.contract.events import DEPLOYMENT_PAUSED
from callwright.service.platform.database.database import Database
from callwright.service.services import Services
from callwright.service.tables import outbox
from callwright.service.tables.schema import deliveries, delivery_attempts, endpoint_queues, webhooks
from tests.support.database.databases import Engine
from tests.support.service import open_service
from tests.support.webhooks.delivering import paused
from tests.support.webhooks.delivery_process import DeliveryProcess, delivery_processes
from tests.support.webhooks.endpoint_process import Sink, sink

DELIVERIES = int(os.environ.get("CALLWRIGHT_TEST_DELIVERIES", "300"))
SUBSCRIPTIONS = 5
KILLS = 3
MOST_REPEATED = 0.03
"""Of the deliveries of a whole run. A short one has as many killed processes for fewer deliveries."""
LIMIT_S = 60 + DELIVERIES / 100
LEASE_MS = 3_000
KILLED = -9


@dataclass(frozen=True)
class Found:
    """What a run left behind."""

    repeats: int
    interrupted: int


def _subscription(services: Services, org_id: str, url: str) -> dict[str, object]:
    now_ms = services.clock.now_ms()
    return {
        "id": services.ids.new("whk"),
        "org_id": org_id,
        "url": url,
        "events": json.dumps([DEPLOYMENT_PAUSED.name]),
        "description": "",
        "secret": "whsec_" + "s" * 32,
        "status": "active",
        "enabled_at": now_ms,
        "created_at": now_ms,
        "updated_at": now_ms,
    }


async def _subscribed(database_url: str, data: Path, receiver: Sink) -> list[dict[str, Any]]:
    """Makes subscriptions; returns events that each of them wants, which did not happen yet."""
    async with open_service(database_url, data, workers=False) as tenant:
        services = tenant.services
        hooks = [_subscription(services, tenant.org_id, f"{receiver.url}/{number}") for number in range(SUBSCRIPTIONS)]

        def add(connection: Connection) -> None:
            connection.execute(webhooks.insert(), hooks)
            connection.execute(endpoint_queues.insert(), [{"webhook_id": hook["id"]} for hook in hooks])

        await services.database.write(add)
        return [
            outbox.event_row(
                services.ids, tenant.org_id, DEPLOYMENT_PAUSED, paused(f"dep_{number}"), at_ms=services.clock.now_ms()
            )
            for number in range(DELIVERIES // SUBSCRIPTIONS)
        ]


async def _recorded(database: Database, count: int) -> None:
    """Returns once so many deliveries are recorded as succeeded."""
    statement = select(func.count()).where(deliveries.c.status == "succeeded")
    while True:
        if await database.read(lambda connection: connection.execute(statement).scalar_one()) >= count:
            return
        await anyio.sleep(0.005)


async def _at_work(database: Database, running: Sequence[DeliveryProcess]) -> DeliveryProcess:
    """A process that sends at this moment; any, if all is sent."""
    holders = select(endpoint_queues.c.lease_owner).where(endpoint_queues.c.lease_owner.is_not(None))
    waiting = select(endpoint_queues.c.webhook_id).where(endpoint_queues.c.due_at.is_not(None))
    while True:
        owners = set(await database.read(lambda connection: connection.execute(holders).scalars().all()))
        found = [process for process in running if process.owner in owners]
        if found or not await database.read(lambda connection: connection.execute(waiting).all()):
            return (found or running)[0]
        await anyio.sleep(0.005)


async def _numbers_without_gaps(database: Database) -> int:
    """Checks the log; how many attempts were interrupted."""
    statement = select(delivery_attempts).order_by(delivery_attempts.c.delivery_id, delivery_attempts.c.number)
    attempts = await database.read(lambda connection: connection.execute(statement).all())
    counts = await database.read(
        lambda connection: {row.id: row.attempt_count for row in connection.execute(select(deliveries))}
    )
    seen = 0
    for delivery_id, one in groupby(attempts, key=lambda attempt: attempt.delivery_id):
        of_delivery = list(one)
        assert [attempt.number for attempt in of_delivery] == list(range(1, counts[delivery_id] + 1))
        assert [attempt.outcome for attempt in of_delivery[:-1]] == ["interrupted"] * (len(of_delivery) - 1)
        assert of_delivery[-1].outcome == "succeeded"
        seen += 1
    assert seen == len(counts) == DELIVERIES
    return sum(attempt.outcome == "interrupted" for attempt in attempts)


async def run(database_url: str, data: Path, engine: Engine) -> Found:
    """Deliveries with three kills in their midst, each of a process that sends."""
    processes = 1 if engine == "sqlite" else 4
    with sink() as receiver, anyio.fail_after(LIMIT_S):
        rows = await _subscribed(database_url, data / "process0", receiver)
        wanted = {(f"/{number}", row["id"]) for number in range(SUBSCRIPTIONS) for row in rows}
        with delivery_processes(processes, database_url, data, lease_ms=LEASE_MS) as running:
            async with Database.opened(database_url) as database:
                await database.write(outbox.add_events, rows)
                for kill in range(KILLS):
                    await _recorded(database, DELIVERIES * (kill + 1) // (KILLS + 2))
                    killed = await _at_work(database, running)
                    assert killed.kill() == KILLED
                    if len(running) == 1:
                        await to_thread.run_sync(killed.start)
                    else:  # another one goes on once the lease has run out
                        running.remove(killed)
                await _recorded(database, DELIVERIES)
        seen = await to_thread.run_sync(receiver.seen)
        arrived = Counter({(path, event): times for path, events in seen.items() for event, times in events.items()})
        assert set(arrived) == wanted
        assert len(wanted) == DELIVERIES
        async with Database.opened(database_url) as database:
            interrupted = await _numbers_without_gaps(database)
        return Found(arrived.total() - DELIVERIES, interrupted)


async def test_three_killed_processes_lose_no_event_and_repeat_few(
    database_url: str, tmp_path: Path, engine: Engine
) -> None:
    found = await run(database_url, tmp_path, engine)
    print(f"{engine}: {DELIVERIES} deliveries, {found}")  # noqa: T201
    assert found.repeats <= MOST_REPEATED * max(DELIVERIES, 20_000)
