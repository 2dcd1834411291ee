"""Runs a campaign on the simulated network, on SQLite and one core: how many calls a second are made and stored.

`bench.stored_calls` says what each of them costs.
"""

import os
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from callwright.client import Client
from callwright.client.transport import ASGITransport
from callwright.contract.deployments.call_price import MICROS
from callwright.service import accounts
from callwright.service.app import Service, running
from callwright.service.settings import ServiceSettings

PROMPT = """You call customers of Bright Dental.
- Ask whether Thursday suits them
- Ask whether the morning or the afternoon suits them better
- Confirm their address
The practice is open from nine to five. A check-up takes thirty minutes."""

INTENTS = ("yes", "no", "later", "asks_first")
"""Nobody opts out: a review of many opt-outs would pause the campaign."""


DATABASE = "bench.db"
BEGINS_MS = 1_796_137_200_000
"""The moment at which the service's clock begins: a Tuesday at ten in New York, where everybody is called."""
_ROWS_OF_IMPORT = 20_000


def _csv(first: int, end: int) -> str:
    rows = (
        f"+1212{200 + index // 8_000:03d}{2_000 + index % 8_000:04d},Person {index},{INTENTS[index % len(INTENTS)]}"
        for index in range(first, end)
    )
    return "phone_number,first_name,sim.intent\n" + "\n".join(rows) + "\n"


_MOST_OF_NUMBER = 100_000
_STUCK_S = 300.0
"""Seconds without a further contact or call after which a campaign is given up."""


@asynccontextmanager
async def organization_in(folder: Path) -> AsyncGenerator[tuple[Service, Client, str]]:
    """A service on SQLite in this folder, a client of it, and the id of its organization, which has money.

    Uses one core on Linux from now on.
    """
    if sys.platform == "linux":
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    url = f"sqlite:///{folder / DATABASE}"
    async with running(ServiceSettings(data=folder, database_url=url, clock_begins_ms=BEGINS_MS)) as service:
        services = service.services
        now_ms = services.clock.now_ms()
        org = await services.database.write(accounts.create_organization, services.ids, "bench", "growth", now_ms)
        await services.database.write(accounts.fund, services.ids, org, 1_000_000 * MICROS, now_ms)
        key = await services.database.write(accounts.create_key, services.ids, org, "bench", now_ms)
        async with Client("http://bench/v1", key.secret, transport=ASGITransport(app=service.asgi)) as client:
            yield service, client, org


@asynccontextmanager
async def campaign_of(folder: Path, contacts: int) -> AsyncGenerator[tuple[Client, str]]:
    """A client of a service on SQLite in this folder, and the id of a draft deployment with so many contacts."""
    async with organization_in(folder) as (_, client, _):
        yield client, await prepared(client, contacts)


async def prepared(client: Client, contacts: int) -> str:
    """The id of a new draft deployment with so many contacts."""
    agent = await client.agents.create(
        name="bench",
        voice_id="en-US-ada",
        language="en-US",
        system_prompt=PROMPT,
        welcome_message="Hello {{first_name}}, this is Ada of Bright Dental.",
    )
    audience = await client.audiences.create(name="bench")
    for first in range(0, contacts, _ROWS_OF_IMPORT):
        text = _csv(first, min(first + _ROWS_OF_IMPORT, contacts))
        imported = await client.audiences.import_csv(id=audience.id, csv=text)
        with anyio.fail_after(300):
            while imported.completed_at is None:
                await anyio.sleep(0.05)
                imported = await client.audiences.get_import(id=audience.id, import_id=imported.id)
    numbers = [
        await client.phone_numbers.rent(country="US", max_calls_per_day=_MOST_OF_NUMBER)
        for _ in range(1 + 2 * contacts // _MOST_OF_NUMBER)
    ]
    deployment = await client.deployments.create(
        name="bench",
        agent_id=agent.id,
        audience_id=audience.id,
        phone_number_ids=[number.id for number in numbers],
        max_concurrency=100,
        calls_per_second=100,
    )
    return deployment.id


async def complete(client: Client, deployment_id: str, *, asked_every_s: float = 0.1) -> int:
    """Starts a deployment and asks until it is completed. Returns the number of its calls."""
    deployment = await client.deployments.start(id=deployment_id)
    done = 0
    with anyio.fail_after(_STUCK_S) as limit:
        while deployment.status == "active":
            await anyio.sleep(asked_every_s)
            deployment = await client.deployments.get(id=deployment_id)
            if deployment.stats.contacts + deployment.stats.attempts > done:
                done = deployment.stats.contacts + deployment.stats.attempts
                limit.deadline = anyio.current_time() + _STUCK_S
    if deployment.status != "completed":
        raise RuntimeError(f"the campaign is {deployment.status}: {deployment.status_reason}")
    return deployment.stats.attempts


async def calls_per_second(contacts: int) -> tuple[float, float, int]:
    """Runs a campaign. Returns calls a second, seconds and the number of calls."""
    with tempfile.TemporaryDirectory(prefix="callwright-bench-") as folder:
        async with campaign_of(Path(folder), contacts) as (client, deployment_id):
            begun = time.perf_counter()
            calls = await complete(client, deployment_id)
            seconds = time.perf_counter() - begun
    return calls / seconds, seconds, calls
