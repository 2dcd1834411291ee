"""Measures how long first attempts to good endpoints wait when, of fifty, one is dead and one takes five seconds.

Events happen all the time, and each goes to all fifty. The dead endpoint accepts connections and never answers; the
slow one answers just within the deadline. Times come from the log: from the event to the start of its first attempt.
"""

import socket
import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from ipaddress import ip_network
from pathlib import Path
from statistics import quantiles

import anyio
from anyio.abc import SocketStream
from sqlalchemy import Connection, select
from tests.support.webhooks.endpoint_process import sink

from bench.webhooks.deliveries import DATA, subscribe
from callwright.contract.events import DEPLOYMENT_PAUSED
from callwright.service import accounts
from callwright.service.app import running
from callwright.service.settings import ServiceSettings
from callwright.service.tables.outbox import add_events, event_row
from callwright.service.tables.schema import deliveries, delivery_attempts, outbox

ENDPOINTS = 50
SECONDS = 30
EVENTS_A_SECOND = 5
SLOW_S = 4.8
OPTIONS = {"use_uvloop": sys.platform != "win32"}


async def _slow(stream: SocketStream) -> None:
    async with stream:
        try:
            while await stream.receive():
                await anyio.sleep(SLOW_S)
                await stream.send(b"HTTP/1.1 204 No Content\r\n\r\n")
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            return


@asynccontextmanager
async def slow_endpoint() -> AsyncGenerator[str]:
    """An endpoint that answers after almost five seconds."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, _slow)
        yield f"http://127.0.0.1:{listener.extra(anyio.abc.SocketAttribute.local_port)}/slow"
        tasks.cancel_scope.cancel()


def waits(connection: Connection) -> list[tuple[str, int]]:
    """The subscription of each first attempt, and milliseconds from the event to it."""
    found = connection.execute(
        select(deliveries.c.webhook_id, delivery_attempts.c.started_at - outbox.c.created_at)
        .join(delivery_attempts, delivery_attempts.c.delivery_id == deliveries.c.id)
        .join(outbox, outbox.c.id == deliveries.c.event_id)
        .where(delivery_attempts.c.number == 1)
    )
    return [(webhook_id, waited) for webhook_id, waited in found]


async def measure(folder: str, database_url: str, engine: str) -> None:
    """Measures one engine and prints the result."""
    settings = ServiceSettings(
        data=Path(folder), database_url=database_url, webhook_networks=(ip_network("127.0.0.0/8"),)
    )
    with sink() as receiver, socket.create_server(("127.0.0.1", 0), backlog=1_000) as dead:
        async with slow_endpoint() as slow_url, running(settings) as service:
            services, database = service.services, service.services.database
            org_id = await database.write(
                accounts.create_organization, services.ids, "bench", "growth", services.clock.now_ms()
            )
            urls = [f"http://127.0.0.1:{dead.getsockname()[1]}/dead", slow_url]
            urls += [f"{receiver.url}/{number}" for number in range(ENDPOINTS - len(urls))]
            hooks = [await database.write(subscribe, services, org_id, url) for url in urls]
            await anyio.sleep(0.1)
            for _ in range(SECONDS * EVENTS_A_SECOND):
                row = event_row(services.ids, org_id, DEPLOYMENT_PAUSED, DATA, at_ms=services.clock.now_ms())
                await database.write(add_events, [row])
                await anyio.sleep(1 / EVENTS_A_SECOND)
            await anyio.sleep(8)
            found = await database.read(waits)
    good = sorted(waited for webhook_id, waited in found if webhook_id not in hooks[:2])
    wanted = SECONDS * EVENTS_A_SECOND * (ENDPOINTS - 2)
    if len(good) != wanted:
        raise RuntimeError(f"{len(good)} of {wanted} first attempts were made")
    cuts = quantiles(good, n=100)
    print(
        f"{f'{len(hooks) - 2} good of {len(hooks)}, {engine}':34} event to first attempt: p50 {cuts[49]:.0f} ms  "
        f"p99 {cuts[98]:.0f} ms  most {good[-1]} ms  (aim: p99 below 1000), {len(good):,} deliveries"
    )


def main() -> None:
    """Measures both engines."""
    with tempfile.TemporaryDirectory(prefix="callwright-bench-") as folder:
        anyio.run(measure, folder, f"sqlite:///{folder}/bench.db", "SQLite", backend_options=OPTIONS)
    from tests.support.database.databases import RunDatabases
    from tests.support.database.run_folder import RunFolder

    run_folder = RunFolder()
    try:
        url = RunDatabases(run_folder.path).postgres("bench", migrated=True)
        with tempfile.TemporaryDirectory(prefix="callwright-bench-") as folder:
            anyio.run(measure, folder, url, "Postgres", backend_options=OPTIONS)
    finally:
        run_folder.close()


if __name__ == "__main__":
    main()
