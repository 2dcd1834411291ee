"""A running service for tests, and the typed client over ASGI.

Open it inside the test body: `async with open_service(database_url, tmp_path) as tenant:`.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import anyio

from callwright.client import Client
from callwright.client.transport import ASGITransport
from callwright.contract.deployments.call_price import MICROS
from callwright.contract.deployments.deployments import Deployment
from callwright.service import accounts
from callwright.service.app import Service, running
from callwright.service.platform.clock.clock import SystemClock
from callwright.service.platform.database.database import Database
from callwright.service.platform.database.engines import Limits
from callwright.service.services import Services
from callwright.service.settings import ServiceSettings
from tests.support.calls.counted_calls import check_counts
from tests.support.ledger_check import check_ledgers

BASE_URL = "http://service/v1"
OWNED = ("+12125550191", "+12125550192", "+12125550193")
"""Numbers that are owned at the SIP trunk."""


@dataclass(frozen=True)
class Tenant:
    """A service with an organization, a key of it, and a client that uses the key."""

    service: Service
    org_id: str
    api_key: str
    client: Client

    @asynccontextmanager
    async def another_organization(self, *, plan: str = "enterprise") -> AsyncGenerator["Tenant"]:
        """A second organization of the same service, with a client of its own."""
        async with _open_tenant(self.service, f"org {self.service.services.ids.new('tst')}", plan, 0) as tenant:
            yield tenant

    @property
    def services(self) -> Services:
        """What the service is made of."""
        return self.service.services

    @property
    def database(self) -> Database:
        """The database of the service."""
        return self.services.database

    async def new_key(self, name: str) -> accounts.NewKey:
        """A further API key of the organization."""
        services = self.services
        given = (services.ids, self.org_id, name, services.clock.now_ms())
        return await services.database.write(accounts.create_key, *given)

    async def ended(self, deployment_id: str, *, within_s: float = 60.0) -> Deployment:
        """The deployment once it is no longer scheduled or active."""
        with anyio.fail_after(within_s):
            while True:
                deployment = await self.client.deployments.get(id=deployment_id)
                if deployment.status not in ("scheduled", "active"):
                    return deployment
                await anyio.sleep(0.01)


@asynccontextmanager
async def _open_tenant(service: Service, name: str, plan: str, extra_dollars: int) -> AsyncGenerator[Tenant]:
    services = service.services
    now_ms = services.clock.now_ms()
    org_id = await services.database.write(accounts.create_organization, services.ids, name, plan, now_ms)
    if extra_dollars:
        await services.database.write(accounts.fund, services.ids, org_id, extra_dollars * MICROS, now_ms)
    key = await services.database.write(accounts.create_key, services.ids, org_id, "tests", now_ms)
    async with Client(BASE_URL, key.secret, transport=ASGITransport(app=service.asgi)) as client:
        yield Tenant(service, org_id, key.secret, client)


@asynccontextmanager
async def open_service(
    database_url: str,
    data: Path,
    *,
    plan: str = "enterprise",
    extra_dollars: int = 0,
    workers: bool = True,
    settings: ServiceSettings | None = None,
    clock: SystemClock | None = None,
    limits: Limits | None = None,
    checks_ledgers: bool = True,
) -> AsyncGenerator[Tenant]:
    """A running service on the database, with one organization. The schema is there already or is made.

    Unless the block fails, the ledger of every organization adds up at its end, and its calls are counted as they are
    stored; `checks_ledgers` is false for a test that leaves no database to read, or writes amounts without booking
    them.
    """
    made = settings or ServiceSettings(data=data, database_url=database_url)
    lines = replace(made.lines, sip_numbers=made.lines.sip_numbers or OWNED)
    made = replace(made, data=data, database_url=database_url, lines=lines)
    async with running(made, workers=workers, clock=clock, limits=limits) as service:
        service.services.own_address.bound = BASE_URL.removesuffix("/v1")
        async with _open_tenant(service, "tests", plan, extra_dollars) as tenant:
            yield tenant
            if checks_ledgers:
                await check_ledgers(service.services.database)
                await check_counts(service.services.database)
