"""`callwright lines` as a process of its own that carries the calls of a service, and can be killed; or its media
process alone.
"""

import os
import signal
import socket
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
from anyio import to_thread

from tests.service.telephony.media.conftest import Sounds
from tests.service.telephony.media.speech_endpoint import endpoint
from tests.service.telephony.media.twilio.twilio_calls import Calls
from tests.support.processes.programs import Process, spawned, until
from tests.support.twilio.account import NUMBER, SID, TOKEN
from tests.support.twilio.imitation import imitated_twilio
from tests.support.twilio.service import calling_through

_MEDIA = "callwright.service.telephony.media.process"


@dataclass(frozen=True)
class Carrying:
    """A process that carries calls; `port` is where their sound comes."""

    process: Process
    port: int

    def kill(self) -> None:
        """Ends it, as if its machine were gone. Its media process sees that and ends too."""
        self.process.kill()

    async def kill_media(self) -> None:
        """Ends its media process alone."""
        listed = await anyio.run_process(["ps", "-A", "-ww", "-o", "pid=,ppid=,command="], stdout=subprocess.PIPE)
        found = [line.split(None, 2) for line in listed.stdout.decode().splitlines() if _MEDIA in line]
        (pid,) = [pid for pid, parent, _ in found if int(parent) == self.process.pid]
        os.kill(int(pid), signal.SIGKILL)


@dataclass(frozen=True)
class Several:
    """A service that Twilio asks and that carries no calls, and processes on its database that carry them."""

    calls: Calls
    database_url: str
    folder: Path

    @property
    def public_url(self) -> str:
        """Where Twilio asks."""
        found = self.calls.tenant.services.settings.public_url
        assert found is not None
        return found

    @asynccontextmanager
    async def carrying(self, *, lines_url: str | None = None) -> AsyncGenerator[Carrying]:
        """A process that carries calls. `lines_url`: Twilio is told another address for their sound than its own."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port: int = free.getsockname()[1]
        home = self.folder / f"lines-{port}"
        home.mkdir()
        settings = {
            "CALLWRIGHT_DATABASE_URL": self.database_url,
            "CALLWRIGHT_DATA": str(home / "data"),
            "CALLWRIGHT_PUBLIC_URL": self.public_url,
            "CALLWRIGHT_LINES_URL": lines_url or f"http://127.0.0.1:{port}",
            "CALLWRIGHT_LINES": "1",
            "CALLWRIGHT_TWILIO_ACCOUNT_SID": SID,
            "CALLWRIGHT_TWILIO_AUTH_TOKEN": TOKEN,
            "CALLWRIGHT_TWILIO_API_BASE": self.calls.twilio.url,
            "CALLWRIGHT_STT_URL": self.calls.speech.url,
            "CALLWRIGHT_STT_MODEL": "test",
        }
        log = home / "log"
        with log.open("wb") as errors:
            with spawned(home, "lines", f"--port={port}", stderr=errors, settings=settings) as process:

                def carries() -> bool:
                    said = log.read_text(encoding="utf-8")
                    assert process.poll() is None, said
                    return "carries up to" in said

                await to_thread.run_sync(until, carries, "callwright lines carries calls")
                yield Carrying(process, port)


@asynccontextmanager
async def several_processes(database_url: str, folder: Path, sounds: Sounds) -> AsyncGenerator[Several]:
    """A service of which Twilio knows the address, on a database to which processes that carry calls may be added."""
    known = sounds.closed_set()
    async with imitated_twilio(NUMBER) as twilio, endpoint(known) as service:
        async with calling_through(twilio, database_url, folder / "service", lines=0) as tenant:
            yield Several(Calls(twilio, tenant, sounds, known, service), database_url, folder)
