"""A service process of its own, for tests that kill it: drives what there is on a database until nothing is left.

    python -m tests.support.processes.campaign DATABASE_URL DATA_FOLDER LEASE_MS LIMIT_S

Prints `ready` once it runs. Ends by itself when every deployment has stopped, and after so many seconds whatever
happens.
"""

import os
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from anyio import to_thread
from sqlalchemy import Connection, func, or_, select

from callwright.service.app import running
from callwright.service.settings import ServiceSettings
from callwright.service.tables.schema import deployments
from tests.support.processes.forked_commands import ForkedCommand

LIMIT_S = 120
_LEFT = select(func.count()).where(or_(deployments.c.status == "active", deployments.c.in_flight > 0))


@asynccontextmanager
async def campaign_process(
    database_url: str, data: Path, *, lease_ms: int = 1_500, limit_s: int = LIMIT_S
) -> AsyncGenerator[ForkedCommand]:
    """The process, running and ready. It is gone when the block ends."""
    command = ["-m", "tests.support.processes.campaign", database_url, str(data), str(lease_ms), str(limit_s)]
    process = ForkedCommand(command, env=os.environ, stdout=subprocess.PIPE, stderr=2)
    assert process.stdout is not None
    try:
        assert await to_thread.run_sync(process.stdout.readline) == b"ready\n"
        yield process
    finally:
        process.kill()
        process.wait(60)
        process.stdout.close()


def _left(connection: Connection) -> int:
    return connection.execute(_LEFT).scalar_one()


async def main(database_url: str, data: Path, lease_ms: int, limit_s: int) -> None:
    """Serves until no deployment needs a driver any more."""
    settings = ServiceSettings(data=data, database_url=database_url, deployment_lease_ms=lease_ms)
    with anyio.fail_after(limit_s):
        async with running(settings) as service:
            sys.stdout.write("ready\n")
            sys.stdout.flush()
            while True:
                if not await service.services.database.read(_left):
                    return
                await anyio.sleep(0.02)


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
