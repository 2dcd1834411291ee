"""Measures how fast an uploaded list is imported, with what memory, and how long those wait who read meanwhile.

The service is the program itself. It is killed in the middle and goes on when it is started again. In the end the rows
and the report of refused rows are compared with what was generated. Beside it stand, in the same run, what nobody can
leave out: reading the bare numbers with `phonenumbers`, spread over all cores, and inserting as many rows into the same
table (on Postgres also with COPY, which can leave out no duplicates); and for those who read, processes that only use
the processors and give way as much.
"""

import os
import signal
import tempfile
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from statistics import quantiles

import anyio
from tests.support.database.postgres import Server, create_database
from tests.support.http.raw_requests import raw_client
from tests.support.processes.programs import COMMAND, STOP_S, serving_for
from tests.support.service import open_service

from bench.imports.bare import MOST, copied_alone, numbers_alone, phones, rows_alone
from bench.imports.lists import rows_of, write_list
from bench.imports.processes import busy_processes, taken_by
from callwright.client import Client
from callwright.contract.audiences import AudienceImport
from callwright.service.workers.row_readers import processes_for
from callwright.service.workers.row_reading import NICENESS

_BLOCK = 1_000_000
_PAUSE_S = 0.05
_WITHIN_S = 4 * 3_600.0
_READS = 500
"""Readings beside processes that are only busy."""
_HOST = "127.0.0.1"


@dataclass(frozen=True)
class _Begun:
    """An import whose file is uploaded."""

    api_key: str
    audience_id: str
    import_id: str


@dataclass
class _Seen:
    """What was seen while one process worked on an import."""

    done: AudienceImport
    waited_s: float
    """Until it began to take rows, or went on: for the lease of the process before, and for what is read first."""
    took_s: float
    memory_mb: float = 0.0
    own_s: float = 0.0
    children_s: dict[int, float] = field(default_factory=dict[int, float])
    reads_s: list[float] = field(default_factory=list[float])


async def _blocks(file: Path) -> AsyncGenerator[bytes]:
    async with await anyio.open_file(file, "rb") as opened:
        while block := await opened.read(_BLOCK):
            yield block


async def _begin(url: str, data: Path, file: Path) -> _Begun:
    """Uploads the list while no worker runs."""
    async with open_service(url, data, workers=False, checks_ledgers=False) as tenant:
        audience = await tenant.client.audiences.create(name="Bench", dedupe="none")
        begun = await tenant.client.audiences.import_csv(id=audience.id)
        started = time.perf_counter()
        async with raw_client(tenant, key=None) as http:
            answer = await http.put(begun.upload_url or "", content=_blocks(file))
        answer.raise_for_status()
        size = (await anyio.Path(file).stat()).st_size
        print(f"uploaded {size / 1_000_000:,.1f} MB in {time.perf_counter() - started:.2f} s")
        return _Begun(tenant.api_key, audience.id, begun.id)


async def _watched(client: Client, begun: _Begun, process: int, until: Callable[[AudienceImport], bool]) -> _Seen:
    """Reads the import again and again until something is true of it."""
    before: int | None = None
    started = first = time.perf_counter()
    waits = True
    seen: _Seen | None = None
    while True:
        asked = time.perf_counter()
        read = await client.audiences.get_import(id=begun.audience_id, import_id=begun.import_id)
        now = time.perf_counter()
        seen = seen or _Seen(read, 0.0, 0.0)
        seen.reads_s.append(now - asked)
        before = read.processed if before is None else before
        if waits and (read.processed > before or read.completed_at is not None):
            waits, first = False, now
        taken = taken_by(process)
        seen.memory_mb, seen.own_s = max(seen.memory_mb, taken.memory_mb), taken.own_s
        seen.children_s |= taken.children_s
        if until(read):
            seen.done, seen.waited_s, seen.took_s = read, first - started, now - started
            return seen
        await anyio.sleep(_PAUSE_S)


async def _reads_alone(client: Client, begun: _Begun) -> list[float]:
    times: list[float] = []
    for _ in range(_READS):
        asked = time.perf_counter()
        await client.audiences.get_import(id=begun.audience_id, import_id=begun.import_id)
        times.append(time.perf_counter() - asked)
        await anyio.sleep(_PAUSE_S)
    return times


def _p99_ms(times: list[float]) -> float:
    return quantiles(times, n=100)[98] * 1e3


async def _imported(url: str, data: Path, begun: _Begun, rows: int) -> None:
    flags = ("--host", _HOST, "--database", url)
    with serving_for(_WITHIN_S, data.parent, data, *flags, command=COMMAND) as served:
        async with Client(served.base_url, begun.api_key) as client:
            half = await _watched(client, begun, served.process.pid, lambda read: 2 * read.processed >= rows)
        os.kill(served.process.pid, signal.SIGKILL)
        served.process.wait(STOP_S)
    print(f"killed after {half.done.processed:,} rows, {half.took_s:.1f} s")
    with serving_for(_WITHIN_S, data.parent, data, *flags, command=COMMAND) as served:
        async with Client(served.base_url, begun.api_key) as client:
            rest = await _watched(client, begun, served.process.pid, lambda read: read.completed_at is not None)
            print(f"went on after {rest.waited_s:.1f} s, of which a lease may be most")
            with busy_processes(processes_for(rows), NICENESS):
                alone = await _reads_alone(client, begun)
            await _compare(client, url, begun, rest.done, rows)
    took_s = half.took_s + rest.took_s - rest.waited_s
    own_s = half.own_s + rest.own_s
    children_s = sum(half.children_s.values()) + sum(rest.children_s.values())
    print(
        f"{rest.done.status}: {rows:,} rows in {took_s:.1f} s, {took_s / rows * 1e6:.1f} µs a row; of processors "
        f"{own_s / rows * 1e6:.1f} µs in the process that serves (its starts and {len(half.reads_s + rest.reads_s):,} "
        f"readings with it), {children_s / rows * 1e6:.1f} µs in those that read"
    )
    print(f"peak memory of all its processes {max(half.memory_mb, rest.memory_mb):,.0f} MB (aim under 500)")
    p99, bare = _p99_ms(half.reads_s + rest.reads_s), _p99_ms(alone)
    print(f"p99 of reading meanwhile {p99:.1f} ms, beside busy processes {bare:.1f} ms: ratio {p99 / bare:.1f} (aim 2)")
    numbers = [row.phone for row in islice(rows_of(rows), MOST) if row.phone]
    copied_us = None if url.startswith("sqlite") else await anyio.to_thread.run_sync(copied_alone, url) * 1e6
    numbers_us = await anyio.to_thread.run_sync(numbers_alone, numbers) * 1e6
    rows_us = await anyio.to_thread.run_sync(rows_alone, url) * 1e6
    took_us = took_s / rows * 1e6
    print(
        f"bare numbers on {os.cpu_count()} cores {numbers_us:.1f} µs, bare inserting {rows_us:.1f} µs a row: ratio to "
        f"the larger {took_us / max(numbers_us, rows_us):.2f} (aim 1.5)"
    )
    if copied_us is not None:
        print(f"bare COPY {copied_us:.1f} µs a row: ratio {took_us / copied_us:.2f}")


async def _compare(client: Client, url: str, begun: _Begun, done: AudienceImport, rows: int) -> None:
    """Raises SystemExit where a row is lost, doubled or refused for another reason."""
    expected = [(number, number + 1, row.code) for number, row in enumerate(rows_of(rows), 1) if row.code]
    listed = client.audiences.list_import_errors(id=begun.audience_id, import_id=begun.import_id)
    refused = sorted([(one.row_number, one.line, one.code) async for one in listed])
    if refused != expected:
        raise SystemExit(f"{len(refused):,} rows are refused, of which not all are the {len(expected):,} bad ones")
    stored = await anyio.to_thread.run_sync(phones, url)
    if stored != [row.phone for row in rows_of(rows) if row.phone] or done.added != len(stored):
        raise SystemExit("the rows in the database are not those of the list")
    print(f"{len(stored):,} rows are stored in their order, {len(refused):,} are refused with their lines and reasons")


def main(rows: int, engine: str) -> None:
    """Measures and prints. `engine` is sqlite or postgres."""
    with tempfile.TemporaryDirectory(prefix="callwright-bench-") as made, ExitStack() as stack:
        folder = Path(made)
        data = folder / "data"
        data.mkdir()
        url = f"sqlite:///{data}/callwright.db"
        if engine == "postgres":
            folder.chmod(0o755)  # its server runs as another user
            server = Server(folder / "postgres", listens=_HOST, trusts="127.0.0.0/8")
            stack.callback(server.stop)
            create_database(server.url, "bench")
            url = f"postgresql+psycopg://postgres@{_HOST}:{server.port}/bench"
        file = folder / "people.csv"
        write_list(file, rows)
        begun = anyio.run(_begin, url, data, file)
        anyio.run(_imported, url, data, begun, rows)
