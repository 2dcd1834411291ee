"""A service process of its own, for tests that kill it: delivers what there is on a database.

    python -m tests.support.webhooks.delivery_process DATABASE_URL DATA_FOLDER LEASE_MS

Prints the name under which it holds leases once it runs, and runs until it is killed or its standard input ends; three
minutes at most.
"""

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import anyio
from anyio import to_thread

from callwright.service import app
from callwright.service.services import Services
from callwright.service.settings import ServiceSettings
from callwright.service.webhooks.dispatcher import Dispatcher
from tests.support.processes.forked_commands import ForkedCommand

LIMIT_S = 180


class DeliveryProcess:
    """One process; after `kill` it is started again with `start`."""

    def __init__(self, database_url: str, data: Path, lease_ms: int) -> None:
        self._command = ["-m", "tests.support.webhooks.delivery_process", database_url, str(data), str(lease_ms)]
        self._process: ForkedCommand | None = None
        self.owner = ""
        """The name under which it holds leases, a new one after each start."""

    def start(self) -> None:
        """Starts it; returns once it is ready."""
        pipe = subprocess.PIPE
        self._process = ForkedCommand(self._command, env=os.environ, stdin=pipe, stdout=pipe, stderr=2)
        assert self._process.stdout is not None
        self.owner = self._process.stdout.readline().decode().strip()
        assert self.owner.startswith("wrk_")

    def kill(self) -> int:
        """SIGKILL. The exit status."""
        assert self._process is not None
        self._process.kill()
        return self._gone()

    def _gone(self) -> int:
        assert self._process is not None
        status = self._process.wait(60)
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()
        self._process = None
        return status

    def end(self) -> None:
        """Ends it whatever it does."""
        if self._process is not None:
            self.kill()


@contextmanager
def delivery_processes(count: int, database_url: str, data: Path, *, lease_ms: int) -> Generator[list[DeliveryProcess]]:
    """Processes that run. They are gone when the block ends."""
    made = [DeliveryProcess(database_url, data / f"process{number}", lease_ms) for number in range(count)]
    try:
        for process in made:
            process.start()
        yield made
    finally:
        for process in made:
            process.end()


async def main(database_url: str, data: Path, lease_ms: int) -> None:
    """Serves until the standard input ends."""
    settings = ServiceSettings(
        data=data, database_url=database_url, webhook_networks=(ip_network("127.0.0.0/8"),), delivery_lease_ms=lease_ms
    )
    owners: list[str] = []

    class Named(Dispatcher):
        def __init__(self, services: Services, *args: Any, **named: Any) -> None:
            super().__init__(services, *args, **named)
            owners.append(self._owner)

    app.Dispatcher = Named  # pyright: ignore[reportPrivateImportUsage]  # the service names no owner to anybody
    with anyio.move_on_after(LIMIT_S):
        async with app.running(settings):
            sys.stdout.write(f"{owners[0]}\n")
            sys.stdout.flush()
            await to_thread.run_sync(sys.stdin.read, abandon_on_cancel=True)


if __name__ == "__main__":
    anyio.run(
        main, sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), backend_options={"use_uvloop": sys.platform != "win32"}
    )
