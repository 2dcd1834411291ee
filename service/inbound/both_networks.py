"""Drives an inbound deployment of a simulated number: its simulated callers, and people who call it from a browser."""

from collections.abc import Awaitable, Callable, Sequence

import anyio

from callwright.service.inbound.live.driver import LOOK_S

Drive = Callable[[str], Awaitable[None]]
"""Drives the calls of one kind of a deployment until none is under way."""


class BothNetworks:
    """Drives the calls of two kinds of one deployment at once, until neither has any."""

    def __init__(self, kinds: Sequence[Drive]) -> None:
        self._kinds = kinds

    async def drive(self, deployment_id: str) -> None:
        """Drives the deployment until there is nothing left to do now.

        Raises:
            LeaseLost: another process took over; within an exception group.
        """
        busy = set(range(len(self._kinds)))

        async def drive_one(kind: int) -> None:
            while True:
                busy.add(kind)
                await self._kinds[kind](deployment_id)
                busy.discard(kind)
                if not busy:
                    return
                await anyio.sleep(LOOK_S)  # a call of this kind may begin while one of the other lasts
                if not busy:
                    return

        async with anyio.create_task_group() as tasks:
            for kind in range(len(self._kinds)):
                tasks.start_soon(drive_one, kind)
