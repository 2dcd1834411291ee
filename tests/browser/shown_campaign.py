"""What the pages are shown with: a service, its protocol server, and a campaign on the simulated network."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

import anyio

from callwright.contract.declaration.rows import Row
from callwright.contract.deployments.deployments import Deployment
from callwright.server.mcp.app import CallwrightServer, build
from callwright.server.mcp.session import ServerSession, SystemClock
from callwright.service.settings import ServiceSettings
from callwright.tools.runtime.tool_context import Caller
from tests.support.service import Tenant, open_service
from tests.support.tools.fakes import numbered

PROMPT = """You call patients of the practice Bright Dental on behalf of its front desk.
- Ask whether they can come on {{day}}
- Ask whether the morning or the afternoon suits them better
- Confirm that their phone number is still the right one
The practice is at 12 Harbour Street. It is open from nine to five on weekdays. A check-up takes about thirty minutes.
A check-up is covered by most insurance plans. Parking is free behind the building."""
WELCOME = "Hello {{first_name}}, this is Ada, the automated assistant of Bright Dental."
NAMES = ("Maria", "James", "Aisha", "Chen", "Olga", "Tom", "Lucia", "Kofi", "Emma", "Ravi")
DAYS = ("Tuesday", "Wednesday", "Thursday")
GOAL_MET, BUSY = "+12025550100", "+12025550101"
"""Reserved numbers of the simulated network, each with a result of its own."""


@dataclass(frozen=True)
class Servers:
    """A running service and the protocol server in front of it."""

    tenant: Tenant
    server: CallwrightServer

    async def campaign(self, name: str, *numbers: str, **fields: Any) -> Deployment:
        """A draft that calls these numbers."""
        client = self.tenant.client
        agent = await client.agents.create(
            name=f"Ada for {name}"[:100],
            voice_id="en-US-ada",
            language="en-US",
            system_prompt=PROMPT,
            welcome_message=WELCOME,
        )
        rows: list[Row] = [
            {"phone_number": number, "first_name": NAMES[index % len(NAMES)], "day": DAYS[index % len(DAYS)]}
            for index, number in enumerate(numbers)
        ]
        audience = await client.audiences.create(name=f"For {name}"[:100], rows=rows)
        number = await client.phone_numbers.rent(country="US")
        given: dict[str, Any] = {
            "agent_id": agent.id,
            "audience_id": audience.id,
            "phone_number_id": number.id,
            **fields,
        }
        return await client.deployments.create(name=name, **given)

    async def started(self, name: str, *numbers: str, **fields: Any) -> str:
        """The id of a campaign that is under way."""
        deployment = await self.campaign(name, *numbers, **fields)
        await self.tenant.client.deployments.start(id=deployment.id)
        return deployment.id

    async def finished_call(self) -> str:
        """The id of a call that reached its goal."""
        ended = await self.tenant.ended(await self.started("One call", GOAL_MET))
        calls = await self.tenant.client.calls.list(deployment_id=ended.id)
        return calls.data[0].id

    async def under_way(self, deployment_id: str, *, calls: int = 1) -> None:
        """Waits until so many people are being called."""
        with anyio.fail_after(60):
            while (await self.tenant.client.deployments.get(id=deployment_id)).stats.in_flight < calls:  # noqa: ASYNC110  # the service goes on by itself
                await anyio.sleep(0.01)


def strangers(count: int) -> list[str]:
    """Numbers without a result of their own; what becomes of them is left to the simulated network."""
    return [f"+1415{200 + index // 7_900:03d}{2_100 + index % 7_900:04d}" for index in range(count)]


@asynccontextmanager
async def open_servers(folder: Path, *, time_scale: float = inf) -> AsyncGenerator[Servers]:
    """A service whose simulated network runs this much faster than life. Open it inside the test body."""
    url = f"sqlite:///{folder / 'callwright.db'}"
    settings = ServiceSettings(data=folder, database_url=url, sim_time_scale=time_scale)
    async with open_service(url, folder, settings=settings) as tenant:

        @asynccontextmanager
        async def connect() -> AsyncGenerator[Caller]:
            yield tenant.client

        session = ServerSession(connect, ids=numbered(), clock=SystemClock(), base_url=None)
        yield Servers(tenant, build(session.opened))
