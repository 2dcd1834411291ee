"""How long the event loop's thread works for a request: its processor time, which nothing else on the machine adds to.

Requests are sent by another thread over a real socket, so that reading HTTP counts and sending it does not.
"""

import gc
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from itertools import count
from pathlib import Path

import orjson
from anyio import to_thread

from callwright.server.mcp.app import tune_garbage_collector
from tests.large_inputs.cases import AUDIENCE, ENTRIES, FRESH, Case
from tests.support.mcp.over_http import INITIALIZE, OLDER, Served, open_served

MOST_TIMES = 20.0
"""The loop's thread may work so many times as long as `orjson.loads` of the same bytes."""
MOST_GROWTH = 2.3
"""So many times as long for twice as much; more where reading alone takes more, because large things miss the cache."""
FLOOR_S = 0.05
"""What takes no longer is quick enough, however little was sent: a request costs a few milliseconds in any case, and
several times as many on a machine whose cores and caches others use."""
MOST_ANSWER = 64_000
"""Bytes of an answer."""
RUNS = 6
ROUNDS = 25
"""Comparisons of half with all: another process that uses the caches too slows the larger one down more, at times."""
WAIT_S = 60.0


@dataclass(frozen=True)
class Measured:
    """What a request has cost, and its answer."""

    loop_s: float
    status: int
    answer: bytes


class Meter:
    """Sends requests to a served service and measures the thread of the event loop, in which it has to be used."""

    def __init__(self, served: Served, session: str, audience: str) -> None:
        self._served, self._session, self._audience = served, session, audience
        self._names = count()

    async def measured(self, case: Case, entries: int) -> Measured:
        """One request."""
        sent = self._placed(case.sent(entries))
        gc.collect()
        gc.disable()  # it comes at steps, so that one entry more may cost a pass over everything
        try:
            before = time.thread_time()
            status, answer = await to_thread.run_sync(self._answer, case, sent)
            return Measured(time.thread_time() - before, status, answer)
        finally:
            gc.enable()

    def _placed(self, sent: bytes) -> bytes:
        named = sent.replace(AUDIENCE.encode(), self._audience.encode())
        return named.replace(FRESH.encode(), f"name {next(self._names)}".encode())

    async def answered(self, case: Case, entries: int) -> tuple[int, bytes]:
        """The status and the body of an answer, unmeasured."""
        return await to_thread.run_sync(self._answer, case, self._placed(case.sent(entries)))

    def _answer(self, case: Case, sent: bytes) -> tuple[int, bytes]:
        headers = {"Authorization": f"Bearer {self._served.tenant.api_key}", "Content-Type": "application/json"}
        headers |= case.headers
        if case.is_older:
            headers["Mcp-Session-Id"] = self._session
        path = case.path if case.body is not None else f"{case.path}?{sent.decode()}"
        connection = HTTPConnection(self._served.root.removeprefix("http://"), timeout=WAIT_S)
        try:
            connection.request(
                case.method, path.replace(AUDIENCE, self._audience), sent if case.body is not None else None, headers
            )
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    async def faults(self, case: Case) -> list[str]:
        """What is wrong with how a case is answered."""
        return await faults_of(case, self.measured, parsing_s)


async def faults_of(
    case: Case, measured: Callable[[Case, int], Awaitable[Measured]], reading: Callable[[bytes], float]
) -> list[str]:
    """What is wrong with how a case is answered. What is too slow is tried again: the least time of each size counts.

    Reading alone is measured again each time as well. A busy machine that slows it down once, for half of the input,
    would else let more than twice the time for twice the input look like a fault.
    """
    found = await measured(case, ENTRIES)
    least_s = found.loop_s
    said = [f"{case.name}: {words}" for words in _wrong(case, found)]
    if least_s <= FLOOR_S:
        return said
    reading_s = reading(case.sent(ENTRIES))
    most_s = max(FLOOR_S, MOST_TIMES * reading_s)
    for _ in range(RUNS):
        if least_s <= most_s:
            break
        least_s = min(least_s, (await measured(case, ENTRIES)).loop_s)
    if least_s > most_s:
        said.append(f"{case.name}: {1000 * least_s:.1f} ms of the loop's thread, {1000 * most_s:.1f} ms allowed")
    if least_s <= MOST_GROWTH * FLOOR_S:
        return said
    half_s = half_reading_s = float("inf")
    for _ in range(ROUNDS):
        half_s = min(half_s, (await measured(case, ENTRIES // 2)).loop_s)
        half_reading_s = min(half_reading_s, reading(case.sent(ENTRIES // 2)))
        least_s = min(least_s, (await measured(case, ENTRIES)).loop_s)
        reading_s = min(reading_s, reading(case.sent(ENTRIES)))
        growth = MOST_GROWTH * max(1.0, reading_s / half_reading_s / 2)
        if least_s <= growth * max(FLOOR_S, half_s):
            return said
    said.append(f"{case.name}: {1000 * half_s:.1f} ms for half of it, {1000 * least_s:.1f} ms for all")
    return said


def _wrong(case: Case, found: Measured) -> list[str]:
    wrong: list[str] = []
    if case.succeeds and (found.status >= 400 or b'"isError":true' in found.answer):
        wrong.append(f"answered {found.status} {found.answer[:200].decode()}")
    if len(found.answer) >= MOST_ANSWER:
        wrong.append(f"an answer of {len(found.answer)} bytes")
    if found.status >= 500 or found.status == 429:
        wrong.append(f"answered {found.status}")
    return wrong


def parsing_s(sent: bytes) -> float:
    """Processor time of `orjson.loads` of the same bytes; of a query, as a text."""
    text = sent if sent[:1] in (b"{", b"[", b'"') else orjson.dumps(sent.decode())
    least = float("inf")
    gc.disable()
    try:
        for _ in range(3):
            before = time.thread_time()
            orjson.loads(text)
            least = min(least, time.thread_time() - before)
    finally:
        gc.enable()
    return least


@asynccontextmanager
async def meter(database_url: str, data: Path) -> AsyncGenerator[Meter]:
    """A meter of a service that serves REST and MCP, with a session of the older protocol. All is imported by then."""
    async with open_served(database_url, data, workers=False) as served:
        async with served.raw_client() as http:
            opened = await http.post("/mcp", json=INITIALIZE, headers=OLDER)
        audience = await served.tenant.client.audiences.create(name="People")
        thresholds = gc.get_threshold()
        tune_garbage_collector()  # as `callwright serve` does
        try:
            yield Meter(served, opened.headers["mcp-session-id"], audience.id)
        finally:
            gc.unfreeze()
            gc.set_threshold(*thresholds)
