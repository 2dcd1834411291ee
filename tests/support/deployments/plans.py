"""Plans for tests: of now, in the future, and where telephones would really ring."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from sqlalchemy import update

from callwright.client import Client
from callwright.client.transport import ASGITransport
from callwright.service.app import Application, pipeline_of
from callwright.service.tables.schema import deployments
from tests.support.service import BASE_URL, Tenant


@dataclass(frozen=True)
class FixedClock:
    """Shows one moment."""

    at_ms: int

    def now_ms(self) -> int:
        return self.at_ms

    def running_ms(self) -> int:
        return self.at_ms

    def confirmed_now_ms(self) -> int:
        return self.at_ms


@asynccontextmanager
async def in_future(tenant: Tenant, ahead_ms: int) -> AsyncGenerator[Client]:
    """A client of the same service as it will be later."""
    ahead = replace(tenant.services, clock=FixedClock(tenant.services.clock.now_ms() + ahead_ms))
    later = Application(ahead, pipeline_of(ahead))
    async with Client(BASE_URL, tenant.api_key, transport=ASGITransport(app=later)) as client:
        yield client


async def plan_of(tenant: Tenant, deployment_id: str) -> str:
    """The plan of a preview of now."""
    return (await tenant.client.deployments.preview(id=deployment_id)).plan_id


async def make_real(tenant: Tenant, deployment_id: str) -> None:
    """What a carrier will do: lets the deployment's telephones really ring."""
    statement = update(deployments).where(deployments.c.id == deployment_id).values(simulated=False)
    await tenant.database.write(lambda connection: connection.execute(statement).rowcount)


async def nobody_is_called(tenant: Tenant, deployment_id: str, status: str = "draft") -> bool:
    """Whether the deployment has no contacts and no calls, and is where it was."""
    contacts = await tenant.client.deployments.list_contacts(id=deployment_id)
    calls = await tenant.client.calls.list(deployment_id=deployment_id)
    found = await tenant.client.deployments.get(id=deployment_id)
    return (found.status, found.plan_id, contacts.data, calls.data) == (status, None, [], [])
