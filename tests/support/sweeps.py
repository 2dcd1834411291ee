"""Sweeps at a later moment."""

from dataclasses import replace

from callwright.service.platform.clock.clock import DAY
from callwright.service.workers import sweeps
from tests.support.plans import StandingClock
from tests.support.service import Door


async def sweep_after(door: Door, days: float) -> None:
    """A sweep as it will be so many days from now."""
    services = door.service.services
    await sweeps.run(replace(services, clock=StandingClock(services.clock.now_ms() + round(days * DAY))))
