"""Compares the delivery of events with a bare aiohttp loop to the same receiver, on SQLite and on Postgres.

Delivery is timed from thousands of queued events to the last recorded outcome: fan-out, leasing, signing, sending, log.
The bare loop sends equally large bodies at the same concurrency and records nothing. Both share the receiver's cores.
"""

import os
import sys
import tempfile
import time
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from statistics import median

import aiohttp
import anyio
from sqlalchemy import Connection, exists, func, insert, select
from tests.support.webhooks.endpoint_process import Sink, sink

from callwright.contract.events import DEPLOYMENT_PAUSED, DeploymentPaused
from callwright.service import accounts
from callwright.service.app import running
from callwright.service.platform.event_envelope import envelope
from callwright.service.platform.wake_signal import WakeNotifier
from callwright.service.services import Services
from callwright.service.settings import ServiceSettings
from callwright.service.tables.outbox import add_events, event_row
from callwright.service.tables.schema import deliveries, endpoint_queues, outbox, webhooks
from callwright.service.webhooks.dispatcher import Dispatcher
from callwright.service.webhooks.endpoint_queue import PENDING
from callwright.service.webhooks.sending import MOST_AT_ONCE
from callwright.service.webhooks.transport.endpoints import Endpoints

EVENTS = 10_000
OPTIONS = {"use_uvloop": sys.platform != "win32"}
HEADERS = {
    "Content-Type": "application/json",
    "User-Agent": "bench",
    "X-Service-Signature": f"t=1795262400,v1={'0' * 64}",
    "X-Service-Event-Id": "evt_0Aa1Bb2Cc3Dd4Ee5Ff6Gg7H",
    "X-Service-Delivery-Id": "dlv_0Aa1Bb2Cc3Dd4Ee5Ff6Gg7H",
}
DATA = DeploymentPaused(deployment_id="dep_0Aa1Bb2Cc3Dd4Ee5Ff6Gg7H", reason="manual", simulated=False)

UNDER_WAY = select(
    exists(select(outbox.c.id).where(outbox.c.fanned_out_at.is_(None))) | exists(select(deliveries.c.id).where(PENDING))
)


@dataclass(frozen=True)
class Speed:
    """Requests a second, and microseconds of the sender's processor time for each."""

    rate: float
    processor_us: float


class Stopwatch:
    """A stopwatch that starts when it is made."""

    def __init__(self) -> None:
        self._begun, self._processor = time.perf_counter(), time.process_time()

    def speed(self, count: int) -> Speed:
        """The speed of `count` requests since the start."""
        used = time.process_time() - self._processor
        return Speed(count / (time.perf_counter() - self._begun), used / count * 1e6)


async def bare(receiver: Sink, count: int) -> Speed:
    """Measures a loop that only sends."""
    body = envelope("evt_0", DEPLOYMENT_PAUSED.name, 1_795_262_400_000, "org_0", DATA.model_dump_json())
    left = count

    async def send(session: aiohttp.ClientSession) -> None:
        nonlocal left
        while left > 0:
            left -= 1
            async with session.post(f"{receiver.url}/bare", data=body, headers=HEADERS) as answer:
                await answer.read()

    async with aiohttp.ClientSession() as session:
        watch = Stopwatch()
        async with anyio.create_task_group() as tasks:
            for _ in range(MOST_AT_ONCE):
                tasks.start_soon(send, session)
        return watch.speed(count)


def subscribe(connection: Connection, services: Services, org_id: str, url: str) -> str:
    """Adds a subscription to every event type and returns its id."""
    now_ms = services.clock.now_ms()
    webhook_id = services.ids.new("whk")
    row = {
        "id": webhook_id,
        "org_id": org_id,
        "url": url,
        "events": '["*"]',
        "description": "",
        "secret": "whsec_" + "s" * 32,
        "status": "active",
        "enabled_at": now_ms,
        "created_at": now_ms,
        "updated_at": now_ms,
    }
    connection.execute(insert(webhooks).values(row))
    connection.execute(insert(endpoint_queues).values(webhook_id=webhook_id))
    return webhook_id


def arrived(connection: Connection) -> int:
    """How many deliveries are recorded as succeeded."""
    return connection.execute(select(func.count()).where(deliveries.c.status == "succeeded")).scalar_one()


def is_under_way(connection: Connection) -> bool:
    """Whether an event is not fanned out or a delivery has no outcome."""
    return connection.execute(UNDER_WAY).scalar_one()


async def ours(folder: str, database_url: str, receiver: Sink, count: int) -> Speed:
    """Measures delivery from queued events to recorded outcomes."""
    opened = (ip_network("127.0.0.0/8"),)
    settings = ServiceSettings(data=Path(folder), database_url=database_url, webhook_networks=opened)
    async with running(settings, workers=False) as service:
        services = service.services
        database = services.database
        name = f"bench {services.ids.new('tst')}"
        org_id = await database.write(
            accounts.create_organization, services.ids, name, "growth", services.clock.now_ms()
        )
        await anyio.sleep(0.002)
        await database.write(subscribe, services, org_id, f"{receiver.url}/ours")
        before = await database.read(arrived)
        async with Endpoints(opened=settings.webhook_networks) as endpoints:
            dispatcher = Dispatcher(services, WakeNotifier(), endpoints)
            await dispatcher.work_until_idle()  # warm
            rows = [
                event_row(services.ids, org_id, DEPLOYMENT_PAUSED, DATA, at_ms=services.clock.now_ms())
                for _ in range(count)
            ]
            await database.write(add_events, rows)
            watch, speeds = Stopwatch(), list[Speed]()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(dispatcher.run)
                while await database.read(is_under_way):  # noqa: ASYNC110  # there is no event to wait for
                    await anyio.sleep(0.025)
                speeds.append(watch.speed(count))
                tasks.cancel_scope.cancel()
        made = await database.read(arrived) - before
        if made != count:
            raise RuntimeError(f"{made} of {count} events arrived")
        return speeds[0]


def compare(engine: str, folder: str, database_url: str, rounds: int, count: int) -> None:
    """Measures one engine in turns with the bare loop, and prints the medians."""
    with sink() as receiver:
        anyio.run(bare, receiver, 1_000, backend_options=OPTIONS)  # warm
        pairs = [
            (
                anyio.run(ours, folder, database_url, receiver, count, backend_options=OPTIONS),
                anyio.run(bare, receiver, count, backend_options=OPTIONS),
            )
            for _ in range(rounds)
        ]
    own, other = (median(pair[which].rate for pair in pairs) for which in (0, 1))
    own_us, other_us = (median(pair[which].processor_us for pair in pairs) for which in (0, 1))
    ratio = median(one.rate / two.rate for one, two in pairs)
    print(f"{f'events delivered, {engine}':34} {own:8,.0f} /s  bare {other:8,.0f} /s  ratio {ratio:5.2f}  (aim 0.40)")
    print(f"{'':34} processor {own_us:.0f} us a delivery, bare {other_us:.0f} us")


def main(rounds: int = 3, count: int = EVENTS) -> None:
    """Measures both engines."""
    with tempfile.TemporaryDirectory(prefix="callwright-bench-") as folder:
        compare("SQLite", folder, f"sqlite:///{folder}/bench.db", rounds, count)
    from tests.support.database.databases import RunDatabases
    from tests.support.database.run_folder import RunFolder

    run_folder = RunFolder()
    try:
        databases = RunDatabases(run_folder.path)
        with tempfile.TemporaryDirectory(prefix="callwright-bench-") as folder:
            compare("Postgres", folder, databases.postgres("bench", migrated=True), rounds, count)
    finally:
        run_folder.close()


if __name__ == "__main__":
    main(int(os.environ.get("ROUNDS", "3")), int(os.environ.get("EVENTS", str(EVENTS))))
