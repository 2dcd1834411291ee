"""A service in the middle of a campaign, for tests of what happens to it there."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from callwright.service.settings import ServiceSettings
from tests.support.campaigns import people, progressed, started
from tests.support.http.raw_requests import raw_client
from tests.support.service import Tenant, open_service

ANSWERS: dict[str, Any] = {"sim_outcome": "answered", "sim_intent": "yes"}


@asynccontextmanager
async def in_mid_campaign(database_url: str, folder: Path) -> AsyncGenerator[tuple[Tenant, str]]:
    """A service with a campaign that has made some of its calls."""
    settings = ServiceSettings(data=folder, database_url=database_url, sim_time_scale=60.0, deployment_lease_ms=1_000)
    # Its database is taken away meanwhile, so that the ledger cannot be read in the end.
    async with open_service(database_url, folder, settings=settings, checks_ledgers=False) as tenant:
        made = await started(tenant, people(30, **ANSWERS), max_concurrency=3)
        await progressed(tenant, made.id, attempts=3)
        yield tenant, made.id


async def health(tenant: Tenant) -> tuple[int, object]:
    async with raw_client(tenant, key=None) as http:
        answer = await http.get("/healthz")
        return answer.status_code, answer.json()


async def until(met: Callable[[], bool]) -> None:
    """Looks again and again until a condition is met."""
    with anyio.fail_after(30):
        while True:
            if met():
                return
            await anyio.sleep(0.01)
