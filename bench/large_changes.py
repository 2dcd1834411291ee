"""Measures how long others wait for a write while a campaign starts or is cancelled, or a list is deleted,
all of them large, beside the same writes with nothing else to do.

The audience is written directly. Everything runs in one process, so the writes of the second organization also wait for
the processor: compare the ratio of the two.
"""

import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import anyio
from sqlalchemy import Connection, insert, update
from tests.support.campaigns import audience_of, draft, people
from tests.support.service import Tenant, open_service

from bench.million.engines import engine_of
from callwright.client import Client
from callwright.client.transport import ASGITransport
from callwright.service import accounts
from callwright.service.tables.schema import audience_rows, audiences
from callwright.service.workers.large_changes import work_on_some

_BATCH = 10_000
_BASELINE_S = 3.0
_PAUSE_S = 0.005
AIM_MS = 100


def _fill(connection: Connection, org_id: str, audience_id: str, begin: int, end: int) -> None:
    rows: list[dict[str, Any]] = [
        {
            "id": f"ctc_{position:020d}",
            "org_id": org_id,
            "audience_id": audience_id,
            "position": position,
            "phone": f"+1{2_020_000_000 + position}",
            "country": "US",
            "dedupe_key": f"+1{2_020_000_000 + position}",
            "cells": '{"first_name": "Ada"}',
            "steering": "{}",
            "created_at": 1_780_000_000_000,
        }
        for position in range(begin, end)
    ]
    connection.execute(insert(audience_rows), rows)
    counted = {"row_count": end, "valid_count": end, "countries": f'{{"US": {end}}}'}
    connection.execute(update(audiences).where(audiences.c.id == audience_id).values(counted))


async def _writes(client: Client, agent_id: str, until: Callable[[], bool]) -> list[float]:
    """The seconds of each of another organization's writes, one after the other, until something is true."""
    times: list[float] = []
    while not until():
        begun = time.perf_counter()
        await client.agents.update(id=agent_id, system_prompt=f"Say hello. {len(times)}")
        times.append(time.perf_counter() - begun)
        await anyio.sleep(_PAUSE_S)
    return times


def _p99_ms(times: list[float]) -> float:
    return quantiles(times, n=100)[98] * 1e3


async def _beside(
    name: str, client: Client, agent_id: str, baseline: list[float], work: Callable[[], Awaitable[None]]
) -> None:
    is_done = False
    times: list[float] = []

    async def write() -> None:
        times.extend(await _writes(client, agent_id, lambda: is_done))

    begun = time.perf_counter()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(write)
        await work()
        is_done = True
    took_s, p99, bare = time.perf_counter() - begun, _p99_ms(times), _p99_ms(baseline)
    print(
        f"{name:20} {took_s:6.1f} s  {len(times):6,} writes of others: p50 {median(times) * 1e3:6.1f} ms  "
        f"p99 {p99:6.1f} ms (aim {AIM_MS})  longest {max(times) * 1e3:6.1f} ms  p99 alone {bare:5.1f} ms  "
        f"ratio {p99 / bare:5.1f}"
    )


async def _run(contacts: int, folder: Path, url: str) -> None:
    async with open_service(url, folder, workers=False, extra_dollars=1_000_000, checks_ledgers=False) as tenant:
        services = tenant.services
        now_ms = services.clock.now_ms()
        given = (services.ids, "others", "enterprise", now_ms)
        other = await services.database.write(accounts.create_organization, *given)
        key = await services.database.write(accounts.create_key, services.ids, other, "bench", now_ms)
        transport = ASGITransport(app=tenant.service.asgi)
        async with Client("http://bench/v1", key.secret, transport=transport) as client:
            agent = await client.agents.create(
                name="Other", voice_id="en-US-ada", language="en-US", system_prompt="Say hello."
            )
            await _measure(tenant, client, agent.id, contacts)


async def _measure(tenant: Tenant, client: Client, agent_id: str, contacts: int) -> None:
    made = await draft(tenant, people(1))
    audience_id = audience_of(made)
    for begin in range(1, contacts, _BATCH):
        end = min(begin + _BATCH, contacts)
        await tenant.database.write(_fill, tenant.org_id, audience_id, begin, end)
    ends = time.perf_counter() + _BASELINE_S
    baseline = await _writes(client, agent_id, lambda: time.perf_counter() > ends)

    async def pieces() -> None:
        while await work_on_some(tenant.services):
            pass

    async def start() -> None:
        await tenant.client.deployments.start(id=made.id)
        await pieces()

    async def cancel() -> None:
        await tenant.client.deployments.cancel(id=made.id)
        await pieces()

    async def delete() -> None:
        await tenant.client.audiences.delete(id=audience_id)
        await pieces()

    print(f"{contacts:,} contacts")
    for name, work in (("starting", start), ("cancelling", cancel), ("deleting", delete)):
        await _beside(name, client, agent_id, baseline, work)


def main(contacts: int, engine: str) -> None:
    """Starts, cancels and deletes with so many contacts, on SQLite or Postgres."""
    with tempfile.TemporaryDirectory() as made, engine_of(engine, Path(made)) as chosen:
        folder = Path(made) / "large"
        folder.mkdir()
        anyio.run(_run, contacts, folder, chosen.database_url("large"))
