"""Units of work in threads: all but the brief ones."""

import time
from collections.abc import Callable
from math import inf
from typing import TypeVar

import anyio
from anyio import to_thread

from callwright.service.platform.database.postgres.time_limits import limited

T = TypeVar("T")

FOR_READS_ALONE = 2
"""Places that writes may not take: writes may wait for locks, and reads must not wait behind them."""


class ThreadUnits:
    """Runs at most `places` units at a time. A unit, including its wait for a place, ends at its deadline."""

    def __init__(self, places: int) -> None:
        self._places = anyio.CapacityLimiter(places)
        self._for_writes = anyio.CapacityLimiter(places - FOR_READS_ALONE)
        self._placed = anyio.CapacityLimiter(inf)
        """For units that have a place already."""

    async def run(self, work: Callable[[], T], until: float) -> T:
        """Runs a unit of work.

        Raises:
            TimeoutError: there was no place before the deadline `until`, a time of `time.monotonic`.
        """
        with anyio.fail_after(until - time.monotonic()):
            await self._places.acquire_on_behalf_of(place := object())
        try:
            with limited(until - time.monotonic()):
                return await to_thread.run_sync(work, limiter=self._placed)
        finally:
            self._places.release_on_behalf_of(place)

    async def run_write(self, work: Callable[[], T], until: float) -> T:
        """The same for a unit of work that may wait for locks."""
        with anyio.fail_after(until - time.monotonic()):
            await self._for_writes.acquire_on_behalf_of(place := object())
        try:
            return await self.run(work, until)
        finally:
            self._for_writes.release_on_behalf_of(place)

    async def wait_for_all(self) -> None:
        """Returns once no unit runs. After that no other unit can run."""
        for places in (self._for_writes, self._places):  # once every place is taken here, no unit runs
            for _ in range(int(places.total_tokens)):
                await places.acquire_on_behalf_of(object())
