"""Measures paging by cursor through a million calls on SQLite while others are written, and other orders and filters.

Times are those of whole requests: through the request pipeline, the database and back to bytes, without a network.
Processor times are printed too; they do not include waiting for a busy processor. The database is made once (about a
minute, 0.7 GB) in the given folder. The next run uses it again, with the calls that this run adds.
"""

import gc
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import quantiles

import anyio
import orjson
from anyio import to_thread
from sqlalchemy import Connection, Table, func, select

from bench.million.engines import analyze
from bench.million.people_corpus import fill_people
from bench.million.walk_corpus import CALLS, FIRST_MS, RARE, call, deployment_number, fill, moment_of, put
from callwright.client.transport import ASGITransport, httpx
from callwright.service import accounts
from callwright.service.app import Service, running
from callwright.service.platform.clock.clock import DAY, moment
from callwright.service.settings import ServiceSettings
from callwright.service.tables.schema import audience_rows, calls, organizations

PER_PAGE = 200
AIM_MS = 20
_INSERTS_A_SECOND = 20
_PAGES = 40


@asynccontextmanager
async def opened(
    folder: Path, count: int = CALLS, *, url: str | None = None, people: int = 0
) -> AsyncGenerator[tuple[Service, httpx.AsyncClient, str]]:
    """A service over so many calls, a client of it, and their organization. The database is filled if it is empty.

    It is the one of `url`, or one of SQLite in the folder. `people` are those of an audience and a campaign beside.
    """
    settings = ServiceSettings(data=folder, database_url=url or f"sqlite:///{folder}/walk.db")
    async with running(settings, workers=False) as service:
        services, now_ms = service.services, service.services.clock.now_ms()
        org = await services.database.read(lambda connection: connection.execute(select(organizations.c.id)).scalar())
        if org is None:
            org = await services.database.write(
                accounts.create_organization, services.ids, "bench", "enterprise", now_ms
            )
        key = await services.database.write(accounts.create_key, services.ids, org, "bench", now_ms)
        await _filled(service, org, count, people)
        headers = {"Authorization": f"Bearer {key.secret}"}
        transport = ASGITransport(app=service.asgi)
        async with httpx.AsyncClient(transport=transport, base_url="http://bench", headers=headers) as http:
            yield service, http, org
        await services.database.write(accounts.revoke_key, services.ids, key.id, services.clock.now_ms())


async def _filled(service: Service, org: str, wanted: int, people: int) -> None:
    database = service.services.database
    there = [(calls, wanted, fill), (audience_rows, people, fill_people)]
    for table, count, put_all in there:
        held: int = await database.read(_counted, table)
        if held >= count:
            continue
        if held:
            raise RuntimeError(f"{table.name} has {held:,} rows, not {count:,}: remove the database")
        begun = time.perf_counter()
        await put_all(database, org, count)
        await to_thread.run_sync(analyze, service.services.settings.database_url)
        print(f"{count:,} {table.name} written in {time.perf_counter() - begun:.0f} s", flush=True)


def _counted(connection: Connection, table: Table) -> int:
    return connection.execute(select(func.count()).select_from(table)).scalar_one()


@dataclass
class _Walk:
    """The ids and totals that a walk has read, and the times of its pages."""

    seen: list[str] = field(default_factory=list[str])
    times_s: list[float] = field(default_factory=list[float])
    work_s: list[float] = field(default_factory=list[float])
    totals: set[int] = field(default_factory=set[int])

    @property
    def index(self) -> int:
        """The approximate number of the call that the walk has reached."""
        return max(0, CALLS - len(self.seen))


async def _page(http: httpx.AsyncClient, walk: _Walk, query: dict[str, str], cursor: str | None) -> str | None:
    asked = {**query, "per_page": str(PER_PAGE), **({"cursor": cursor} if cursor else {})}
    begun, worked = time.perf_counter(), time.process_time()
    answer = await http.get("/v1/calls", params=asked)
    walk.times_s.append(time.perf_counter() - begun)
    walk.work_s.append(time.process_time() - worked)
    if answer.status_code != 200:
        raise RuntimeError(answer.text)
    page = orjson.loads(answer.content)
    walk.seen += [entry["id"] for entry in page["data"]]
    walk.totals.add(page["pagination"]["total"])
    return page["pagination"]["next_cursor"]


async def _writing(service: Service, org: str, walk: _Walk, chance: Random) -> None:
    """Writes calls newer than all, older than all, and of the same time as the walk's position, until cancelled."""
    number = 0
    while True:
        for at_ms in (service.services.clock.now_ms(), moment_of(walk.index), FIRST_MS - 1 - number):
            row = call(service.services.ids.new("cal"), org, 2 * CALLS + number, at_ms, chance)
            row |= {"deployment_id": None, "attempt_number": number + 1}
            await service.services.database.write(put, [row])
            number += 1
            await anyio.sleep(1 / _INSERTS_A_SECOND)


def _spread(name: str, walk: _Walk, note: str) -> None:
    line = f"{name:42} first page {walk.times_s[0] * 1e3:7.1f} ms"
    if len(walk.times_s) > 2:
        cuts = quantiles(walk.times_s[1:], n=100, method="inclusive")
        work = quantiles(walk.work_s[1:], n=100, method="inclusive")
        line += f"  then p50 {cuts[49] * 1e3:7.1f}  p95 {cuts[94] * 1e3:7.1f}  p99 {cuts[98] * 1e3:7.1f} ms"
        line += f"  of it work p50 {work[49] * 1e3:7.1f}  p95 {work[94] * 1e3:7.1f} ms"
    print(f"{line}  {note}", flush=True)


async def _whole_walk(service: Service, http: httpx.AsyncClient, org: str) -> None:
    everything = select(calls.c.id)
    at_start = await service.services.database.read(lambda connection: connection.execute(everything).scalars().all())
    walk, cursor, begun = _Walk(), None, time.perf_counter()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_writing, service, org, walk, Random(2))
        while True:
            cursor = await _page(http, walk, {}, cursor)
            if cursor is None:
                break
        tasks.cancel_scope.cancel()
    if len(set(walk.seen)) != len(walk.seen) or set(at_start) - set(walk.seen) or walk.totals != {len(at_start)}:
        raise RuntimeError("the walk repeated or missed a call that was there at its start")
    new, lasted_s = len(walk.seen) - len(at_start), time.perf_counter() - begun
    note = f"(aim: p95 below {AIM_MS}), {len(at_start):,} calls once each and {new} new ones in {lasted_s:.0f} s"
    _spread("walk, newest first", walk, note)


def _kinds() -> Generator[tuple[str, dict[str, str]]]:
    for sort in ("created_at", "-created_at,duration_seconds", "-ended_at", "-duration_seconds"):
        yield f"sort={sort}", {"sort": sort}
    day = moment_of(CALLS // 2)
    filters = {
        "status": "completed",
        "status ": "failed",
        "outcome": "answered",
        "outcome ": "answered,no_answer",
        "outcome  ": RARE,
        "deployment_id": f"dep_{deployment_number(CALLS // 2):024d}",
        "deployment_id ": f"dep_{deployment_number(CALLS // 2):024d},dep_{1:024d}",
        "agent_id": f"agt_{3:024d}",
        "to": f"+1202{2_000_777}",
        "created_from": moment(day).isoformat(),
    }
    for name, value in filters.items():
        yield f"filter[{name.strip()}]={value[:26]}", {f"filter[{name.strip()}]": value}
    span = {"filter[created_from]": moment(day).isoformat(), "filter[created_before]": moment(day + DAY).isoformat()}
    yield "one day", span
    yield "one day, answered", {**span, "filter[outcome]": "answered"}


async def walk_million(folder: Path) -> None:
    """Fills the database if it is empty, walks over it, and prints percentiles of the times."""
    async with opened(folder) as (service, http, org):
        for _ in range(3):
            await _page(http, _Walk(), {}, None)
        gc.freeze()  # as the program does once it is built
        await _whole_walk(service, http, org)
        for name, query in _kinds():
            walk, cursor = _Walk(), None
            for _ in range(_PAGES + 1):
                cursor = await _page(http, walk, query, cursor)
                if cursor is None:
                    break
            (total,) = walk.totals
            _spread(name, walk, f"total {total:,}")
