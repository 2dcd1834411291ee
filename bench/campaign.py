"""Measures how many simulated calls a second are made and stored, with all related rows, on SQLite and one core."""

import os
import sys
import tempfile
import time
from pathlib import Path

import anyio

from callwright.client import Client
from callwright.client.transport import ASGITransport
from callwright.contract.deployments.call_price import MICROS
from callwright.service import accounts
from callwright.service.app import running
from callwright.service.settings import ServiceSettings

PROMPT = """You call customers of Bright Dental.
- Ask whether Thursday suits them
- Ask whether the morning or the afternoon suits them better
- Confirm their address
The practice is open from nine to five. A check-up takes thirty minutes."""

INTENTS = ("yes", "no", "later", "asks_first")
"""Nobody opts out: a review of many opt-outs would pause the campaign."""


def _csv(contacts: int) -> str:
    rows = (
        f"+1212{200 + index // 8_000:03d}{2_000 + index % 8_000:04d},Person {index},{INTENTS[index % len(INTENTS)]}"
        for index in range(contacts)
    )
    return "phone_number,first_name,sim.intent\n" + "\n".join(rows) + "\n"


async def calls_per_second(contacts: int) -> tuple[float, float, int]:
    """Runs a campaign. Returns calls a second, seconds and the number of calls. Uses one core on Linux."""
    if sys.platform == "linux":
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory(prefix="callwright-bench-") as folder:
        settings = ServiceSettings(data=Path(folder), database_url=f"sqlite:///{folder}/bench.db")
        async with running(settings) as service:
            services = service.services
            now_ms = services.clock.now_ms()
            org = await services.database.write(accounts.create_organization, services.ids, "bench", "growth", now_ms)
            await services.database.write(accounts.fund, services.ids, org, 10_000 * MICROS, now_ms)
            key = await services.database.write(accounts.create_key, services.ids, org, "bench", now_ms)
            async with Client("http://bench/v1", key.secret, transport=ASGITransport(app=service.asgi)) as client:
                return await _run(client, contacts)


async def _run(client: Client, contacts: int) -> tuple[float, float, int]:
    agent = await client.agents.create(
        name="bench",
        voice_id="en-US-ada",
        language="en-US",
        system_prompt=PROMPT,
        welcome_message="Hello {{first_name}}, this is Ada of Bright Dental.",
    )
    audience = await client.audiences.create(name="bench")
    imported = await client.audiences.import_csv(id=audience.id, csv=_csv(contacts))
    with anyio.fail_after(300):
        while imported.completed_at is None:
            await anyio.sleep(0.05)
            imported = await client.audiences.get_import(id=audience.id, import_id=imported.id)
    number = await client.phone_numbers.rent(country="US")
    deployment = await client.deployments.create(
        name="bench",
        agent_id=agent.id,
        audience_id=audience.id,
        phone_number_id=number.id,
        max_concurrency=100,
        calls_per_second=100,
    )
    begun = time.perf_counter()
    deployment = await client.deployments.start(id=deployment.id)
    with anyio.fail_after(600):
        while deployment.status == "active":
            await anyio.sleep(0.1)
            deployment = await client.deployments.get(id=deployment.id)
    seconds = time.perf_counter() - begun
    if deployment.status != "completed":
        raise RuntimeError(f"the campaign is {deployment.status}: {deployment.status_reason}")
    return deployment.stats.attempts / seconds, seconds, deployment.stats.attempts
