"""Sweeps at a later moment."""

from dataclasses import replace

from callwright.service.platform.clock.clock import DAY
from callwright.service.workers import sweeps
from tests.support.deployments.plans import FixedClock
from tests.support.service import Tenant


async def sweep_after(tenant: Tenant, days: float) -> None:
    """A sweep as it will be so many days from now."""
    await sweeps.run(replace(tenant.services, clock=FixedClock(tenant.services.clock.now_ms() + round(days * DAY))))
