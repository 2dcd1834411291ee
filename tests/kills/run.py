"""One run: processes drive the campaigns of a database, and are killed at random and replaced until all is over."""

import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from random import Random

import anyio
from anyio import to_thread
from sqlalchemy import Connection, func, select, update

from callwright.service.platform.database.database import Database
from callwright.service.tables.schema import deployments
from tests.kills.violations import Figures, judged
from tests.support.processes.campaign import campaign_process
from tests.support.processes.forked_commands import ForkedCommand

LIMIT_S = 600
LOOK_S = 0.005
LEASE_MS = 5_000
"""A process on a busy machine may be silent for so long, and a killed one is followed after so long."""
KILLED = -9
LATEST_S = 0.3
"""A process is killed at most so long after the attempt that was drawn for it."""
_ATTEMPTS = select(func.sum(deployments.c.attempts))


class KilledRun:
    """The processes of one run. `kills` counts those that were killed."""

    def __init__(self, database_url: str, folder: Path, chance: Random, *, processes: int) -> None:
        self.kills = 0
        self._url, self._folder, self._chance = database_url, folder, chance
        self._slots = range(processes)
        self._running: dict[int, ForkedCommand] = {}

    async def figures(self, kills: int) -> Figures:
        """Runs the campaigns to their end, with so many kills, and says what they did."""
        async with Database.opened(self._url) as database:
            contacts = await database.write(_seeded, str(self._chance.random()))
            moments = sorted(self._chance.randrange(contacts) for _ in range(kills))
            with anyio.fail_after(LIMIT_S):
                async with anyio.create_task_group() as killing:
                    killing.start_soon(self._kill, database, moments)
                    async with anyio.create_task_group() as driving:
                        for slot in self._slots:
                            driving.start_soon(self._keep_running, slot)
                    killing.cancel_scope.cancel()
            return await database.read(judged)

    async def _keep_running(self, slot: int) -> None:
        status = KILLED
        while status == KILLED:
            data = self._folder / str(slot)
            async with campaign_process(self._url, data, lease_ms=LEASE_MS, limit_s=LIMIT_S) as process:
                self._running[slot] = process
                status = await to_thread.run_sync(process.wait, LIMIT_S)
                del self._running[slot]
        assert status == 0, f"a process ended by itself with status {status}"

    async def _kill(self, database: Database, moments: Sequence[int]) -> None:
        for attempts in moments:
            while True:
                if await database.read(_attempts) >= attempts:
                    break
                await anyio.sleep(LOOK_S)
            await anyio.sleep(self._chance.uniform(0, LATEST_S))
            while True:
                if self._running:
                    break
                await anyio.sleep(LOOK_S)
            with suppress(ProcessLookupError):
                os.kill(self._running[self._chance.choice(sorted(self._running))].pid, signal.SIGKILL)
                self.kills += 1


def _attempts(connection: Connection) -> int:
    return connection.execute(_ATTEMPTS).scalar_one()


def _seeded(connection: Connection, seed: str) -> int:
    """Has the simulated network behave by this seed; returns how many contacts the campaigns have."""
    connection.execute(update(deployments).values(seed=seed))
    return int(connection.execute(select(func.sum(deployments.c.contacts))).scalar_one())
