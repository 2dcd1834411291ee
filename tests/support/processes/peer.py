"""A whole service process of its own, for tests and trials that freeze it or cut its network.

    python -m tests.support.processes.peer DATABASE_URL DATA_FOLDER LEASE_MS NETWORK

It begins once a line comes on its standard input, prints the names under which it holds leases, and runs until it is
killed or its input ends; forty minutes at most.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import anyio
from anyio import to_thread

from callwright.service import app
from callwright.service.settings import ServiceSettings
from callwright.service.webhooks.dispatcher import Dispatcher
from callwright.service.workers.supervisor import Supervisor

ROOT = Path(__file__).parents[3]
LIMIT_S = 2_400


class Peer:
    """One process. `name` is what its connections to Postgres are called."""

    def __init__(
        self,
        database_url: str,
        data: Path,
        name: str,
        *,
        lease_ms: int,
        network: str = "127.0.0.0/8",
        before: Sequence[str] = (),
    ) -> None:
        self.name = name
        self.owners: set[str] = set()
        """The names under which it holds leases."""
        url = f"{database_url}{'&' if '?' in database_url else '?'}application_name={name}"
        command = [sys.executable, "-m", "tests.support.processes.peer", url, str(data), str(lease_ms), network]
        self._process = subprocess.Popen(
            [*before, *command], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def begin(self) -> None:
        """Has it begin; returns once it serves."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        self.owners = set(json.loads(self._process.stdout.readline()))

    def freeze(self) -> None:
        """Stops it where it is."""
        os.kill(self.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, self.pid, os.WSTOPPED | os.WNOWAIT)

    def thaw(self) -> None:
        """Lets it go on."""
        os.kill(self.pid, signal.SIGCONT)

    def end(self) -> None:
        """Ends it whatever it does."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait(60)
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            stream.close()


async def main(database_url: str, data: Path, lease_ms: int, network: str) -> None:
    """Serves until the standard input ends."""
    settings = ServiceSettings(
        data=data,
        database_url=database_url,
        webhook_networks=(ip_network(network),),
        deployment_lease_ms=lease_ms,
        delivery_lease_ms=lease_ms,
    )
    owners: list[str] = []

    class NamedSupervisor(Supervisor):
        def __init__(self, *args: Any, **named: Any) -> None:
            super().__init__(*args, **named)
            owners.append(self._owner)

    class NamedDispatcher(Dispatcher):
        def __init__(self, *args: Any, **named: Any) -> None:
            super().__init__(*args, **named)
            owners.append(self._owner)

    # The service names no owner to anybody.
    app.Supervisor = NamedSupervisor  # pyright: ignore[reportPrivateImportUsage]  # as above
    app.Dispatcher = NamedDispatcher  # pyright: ignore[reportPrivateImportUsage]  # as above
    sys.stdin.readline()
    with anyio.move_on_after(LIMIT_S):
        async with app.running(settings):
            sys.stdout.write(json.dumps(owners) + "\n")
            sys.stdout.flush()
            await to_thread.run_sync(sys.stdin.read, abandon_on_cancel=True)


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
