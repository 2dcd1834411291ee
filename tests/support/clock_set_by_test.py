"""The same service at a moment of the test's choosing: its clock stands until the test moves it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from time import time

from callwright.client.transport import ASGITransport, httpx
from callwright.service.app import Application, pipeline_of
from callwright.service.platform.clock.clock import SystemClock, milliseconds
from callwright.service.services import Services
from callwright.service.tables.request_limits import RequestLimits
from tests.support.service import Tenant

NOON_MS = 1_795_262_400_000
"""2026-11-21T12:00:00Z."""


def clock_at(moment: datetime) -> SystemClock:
    """A service's clock that begins at a moment."""
    return SystemClock(milliseconds(moment))


@dataclass
class Wall:
    """The machine's clock, as far ahead as somebody has set it."""

    ahead_ms: int = 0

    def __call__(self) -> float:
        return time() + self.ahead_ms / 1_000

    def clock(self) -> SystemClock:
        """A service's clock that shows it."""
        return SystemClock(wall=self)


@dataclass
class MovableClock:
    """Shows one moment until it is moved."""

    at_ms: int = NOON_MS

    def now_ms(self) -> int:
        """The moment."""
        return self.at_ms

    def running_ms(self) -> int:
        """The moment as well: what is scripted took as long as the clock was moved by."""
        return self.at_ms

    def confirmed_now_ms(self) -> int:
        """The moment as well: the script is certain of it."""
        return self.at_ms

    def move(self, by_ms: int) -> None:
        """Puts it forward."""
        self.at_ms += by_ms


@dataclass(frozen=True)
class Process:
    """One process of a service whose clock stands."""

    http: httpx.AsyncClient
    clock: MovableClock
    services: Services


@asynccontextmanager
async def process_with_fixed_clock(tenant: Tenant, *, clock: MovableClock | None = None) -> AsyncGenerator[Process]:
    """Another process on the tenant's database, with the tenant's key. It has counted nothing yet."""
    shown = clock or MovableClock()
    services = replace(tenant.services, clock=shown, limits=RequestLimits(tenant.database))
    transport = ASGITransport(app=Application(services, pipeline_of(services)))
    headers = {"Authorization": f"Bearer {tenant.api_key}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://service", headers=headers) as http:
        yield Process(http, shown, services)
