"""Measures searches in the transcripts of a million calls on SQLite, as complete requests of the typed client.

The database is made once (a few minutes, 6 GB) in the given folder, and the next run uses it again.
"""

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import quantiles
from typing import Any

from sqlalchemy import func, select

from bench.million.search_corpus import CALLS_A_DEPLOYMENT, Vocabulary, deployment_id, fill
from callwright.client import Client
from callwright.client.transport import ASGITransport
from callwright.service import accounts
from callwright.service.app import Service, running
from callwright.service.settings import ServiceSettings
from callwright.service.tables.schema import calls, organizations

CALLS = 1_000_000
_ROUNDS = 40
_WARM_UP = 4
_COMMON = ("thank", "hello", "goodbye", "assistant", "reference", "time", "calling", "automated")
_PHRASES = ('"too expensive"', '"thank you for your time"', '"your reference is"', '"take me off"', '"speaking who"')

Query = dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """A kind of query. `make` returns the arguments of one. `pages` pages are read, and the last one is timed."""

    name: str
    make: Callable[[Random, list[str]], Query]
    pages: int = 1


@dataclass(frozen=True)
class Timing:
    """Wall time and processor time of an answer. The processor time does not include waiting for a busy processor."""

    wall_s: float
    work_s: float


def _filtered(chance: Random, _: list[str]) -> Query:
    deployment = deployment_id(chance.randrange(CALLS // CALLS_A_DEPLOYMENT))
    return {"query": chance.choice(("expensive", "thursday", *_COMMON)), "deployment_id": deployment}


KINDS = (
    Kind("rare word", lambda chance, _: {"query": f"{chance.randrange(300_000):06d}"}),
    Kind("word of one call in a thousand", lambda chance, words: {"query": chance.choice(words)}),
    Kind("word of one call in fifty", lambda _, __: {"query": "expensive"}),
    Kind("common word", lambda chance, _: {"query": chance.choice(_COMMON)}),
    Kind("phrase", lambda chance, _: {"query": chance.choice(_PHRASES)}),
    Kind("word, one deployment", _filtered),
    Kind("two words", lambda chance, words: {"query": f"{chance.choice(words)} {chance.choice(_COMMON)}"}),
    Kind("word, one speaker", lambda chance, words: {"query": chance.choice(words), "speaker": "agent"}),
    Kind("common word, second page", lambda chance, _: {"query": chance.choice(_COMMON)}, pages=2),
)


@asynccontextmanager
async def _opened(folder: Path) -> AsyncGenerator[tuple[Service, Client, str]]:
    settings = ServiceSettings(data=folder, database_url=f"sqlite:///{folder}/search.db")
    async with running(settings, workers=False) as service:
        services, now_ms = service.services, service.services.clock.now_ms()
        org = await services.database.read(lambda connection: connection.execute(select(organizations.c.id)).scalar())
        if org is None:
            org = await services.database.write(accounts.create_organization, services.ids, "bench", "growth", now_ms)
        key = await services.database.write(accounts.create_key, services.ids, org, "bench", now_ms)
        async with Client("http://bench/v1", key.secret, transport=ASGITransport(app=service.asgi)) as client:
            yield service, client, org


async def _filled(service: Service, org: str) -> None:
    count = select(func.count()).select_from(calls)
    there: int = await service.services.database.read(lambda connection: connection.execute(count).scalar_one())
    if there == CALLS:
        return
    if there:
        raise RuntimeError(f"the database holds {there:,} calls, not {CALLS:,}: remove the folder")
    begun = time.perf_counter()
    await fill(service.services.database, org, CALLS)
    print(f"{CALLS:,} calls written in {time.perf_counter() - begun:.0f} s")


async def _timed(client: Client, query: Query, pages: int) -> Timing:
    """The time of the last of `pages` pages."""
    cursor: str | None = None
    taken = Timing(0.0, 0.0)
    for _ in range(pages):
        given: Query = {**query, "cursor": cursor} if cursor else query
        begun, worked = time.perf_counter(), time.process_time()
        page = await client.transcripts.search(**given)
        taken = Timing(time.perf_counter() - begun, time.process_time() - worked)
        cursor = page.pagination.next_cursor
    return taken


def _spread(name: str, times: list[Timing]) -> None:
    cuts = quantiles([one.wall_s for one in times], n=100, method="inclusive")
    work = quantiles([one.work_s for one in times], n=100, method="inclusive")
    wall = f"p50 {cuts[49] * 1e3:8.1f}  p95 {cuts[94] * 1e3:8.1f}  p99 {cuts[98] * 1e3:8.1f} ms"
    print(f"{name:34} {wall}  of it work p50 {work[49] * 1e3:8.1f}  p95 {work[94] * 1e3:8.1f} ms")


async def search_million(folder: Path) -> None:
    """Fills the database if it is empty, warms it up, and prints percentiles of the times."""
    chance = Random(7)
    words = Vocabulary(Random(1)).made[150:400]
    async with _opened(folder) as (service, client, org):
        await _filled(service, org)
        every: list[Timing] = []
        for kind in KINDS:
            times = [await _timed(client, kind.make(chance, words), kind.pages) for _ in range(_WARM_UP + _ROUNDS)]
            _spread(kind.name, times[_WARM_UP:])
            every += times[_WARM_UP:]
        _spread("all of them (aim: p95 below 50)", every)
