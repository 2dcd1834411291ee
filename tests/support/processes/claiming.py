"""A process that is in the middle of a creation with an idempotency key until it is killed.

    python -m tests.support.processes.claiming DATABASE_URL DATA_FOLDER API_KEY

Prints `made` when the key is claimed and the audience made, and never commits. Ends by itself after a minute.
"""

import subprocess
import sys
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import Process

from callwright.client.transport import ASGITransport, httpx
from callwright.service.app import running
from callwright.service.handlers.request_context import HANDLERS
from callwright.service.settings import ServiceSettings

ROOT = Path(__file__).parents[3]
BODY = {"name": "Patients"}
ONCE = {"Idempotency-Key": "once"}
LIMIT_S = 60


@asynccontextmanager
async def claiming_process(database_url: str, data: Path, api_key: str) -> AsyncGenerator[Process]:
    """The process in the middle of its request. It is gone when the block ends."""
    command = [sys.executable, "-m", "tests.support.processes.claiming", database_url, str(data), api_key]
    process = await anyio.open_process(command, cwd=ROOT, stdin=subprocess.DEVNULL, stderr=None)
    try:
        assert process.stdout is not None
        with anyio.fail_after(LIMIT_S):
            assert await process.stdout.receive() == b"made\n"
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        with anyio.CancelScope(shield=True):
            await process.wait()
            await process.aclose()


async def main(database_url: str, data: Path, api_key: str) -> None:
    """Makes an audience and stays where it is."""
    create = HANDLERS["create_audience"]

    def stops(asked: Any, work: Any) -> Any:
        made = create(asked, work)
        sys.stdout.write("made\n")
        sys.stdout.flush()
        threading.Event().wait(LIMIT_S)
        return made

    HANDLERS["create_audience"] = stops
    settings = ServiceSettings(data=data, database_url=database_url)
    async with running(settings, workers=False) as service:
        transport = ASGITransport(app=service.asgi)
        headers = {"Authorization": f"Bearer {api_key}", **ONCE}
        async with httpx.AsyncClient(transport=transport, base_url="http://service", headers=headers) as http:
            await http.post("/v1/audiences", json=BODY)


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], Path(sys.argv[2]), sys.argv[3])
