"""Measures a campaign with many live viewers of its page, beside the same campaign that nobody looks at.

The viewers are a process of their own, on another core, and look over HTTP. Runs with and without them take turns.
"""

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import anyio
from anyio import to_thread

from bench.campaign import complete, organization_in, prepared
from callwright.server.embedded.embedded import listener_on, listening
from callwright.service import accounts
from callwright.service.accounts import sessions
from callwright.service.app import Service

VIEWERS = 200
CONTACTS = 20_000
_SAMPLED_EVERY_S = 0.5
_MB = 1_000_000


@dataclass(frozen=True)
class Run:
    """Calls a second, and megabytes of memory before the campaign and at most during it."""

    rate: float
    before_mb: float
    peak_mb: float
    pieces: int


def _memory_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / _MB


async def _login_code(service: Service, org: str) -> str:
    services = service.services
    now_ms = services.clock.now_ms()
    given = (services.ids, org, "viewer@example.com", now_ms)
    user = await services.database.write(lambda connection: accounts.add_member(connection, *given, role="owner"))
    return await services.database.write(sessions.make_login_link, org, user, now_ms)


def _opened(root: str, code: str, deployment_id: str, count: int) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "bench.dashboard.viewing", root, code, f"/campaigns/{deployment_id}/live"]
    process = subprocess.Popen([*command, str(count)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    if sys.platform == "linux":
        os.sched_setaffinity(process.pid, {max(range(os.cpu_count() or 1))})
    assert process.stdout is not None
    if process.stdout.readline().strip() != "ready":
        raise RuntimeError("the viewers did not see the campaign")
    return process


async def _run(contacts: int, viewers: int) -> Run:
    rate, pieces, memory = 0.0, 0, list[float]()

    async def sample() -> None:
        while True:
            memory.append(_memory_mb())
            await anyio.sleep(_SAMPLED_EVERY_S)

    with tempfile.TemporaryDirectory(prefix="callwright-bench-") as folder, listener_on() as listener:
        async with organization_in(Path(folder)) as (service, client, org):
            deployment_id = await prepared(client, contacts)
            async with listening(service.asgi, listener) as base_url, anyio.create_task_group() as tasks:
                process, root = None, base_url.removesuffix("/v1")
                if viewers:
                    code = await _login_code(service, org)
                    process = await to_thread.run_sync(_opened, root, code, deployment_id, viewers)
                tasks.start_soon(sample)
                begun = time.perf_counter()
                calls = await complete(client, deployment_id)
                rate = calls / (time.perf_counter() - begun)
                if process is not None:
                    said, _ = await to_thread.run_sync(process.communicate)
                    pieces = int(said.split()[0])
                tasks.cancel_scope.cancel()
    return Run(rate, memory[0], max(memory), pieces)


def main(rounds: int, contacts: int = CONTACTS) -> None:
    """Prints both, and the ratio of their rates."""
    pairs = [(anyio.run(_run, contacts, VIEWERS), anyio.run(_run, contacts, 0)) for _ in range(rounds)]
    for name, runs in ((f"{VIEWERS} viewers", [a for a, _ in pairs]), ("no viewer", [b for _, b in pairs])):
        before, peak = median(run.before_mb for run in runs), median(run.peak_mb for run in runs)
        rate, pieces = median(run.rate for run in runs), sum(run.pieces for run in runs)
        print(
            f"{name:14} {rate:8,.0f} calls a second  {before:5.0f} MB before, {peak:5.0f} MB at most  {pieces} boards"
        )
    ratio = median(a.rate / b.rate for a, b in pairs)
    print(f"rate with viewers beside without: {ratio:.2f} (aim ≥ 0.90)")
