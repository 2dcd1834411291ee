"""Prices that Twilio tells after the calls, booked by processes that are killed between the question and the commit."""

import os
import signal
import time
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import anyio
from anyio import to_thread
from sqlalchemy import Connection, func, select
from starlette.applications import Starlette
from starlette.types import Receive, Scope, Send

from callwright.server.embedded.embedded import listener_on, listening
from callwright.service.platform.database.database import Database
from callwright.service.tables.schema import audit_log, calls, deployments, transactions
from tests.support.processes.charging import awaited, charging_process
from tests.support.processes.forked_commands import ForkedCommand
from tests.support.twilio.imitation import PlacedCall, Twilio

KILLED = -9
LATEST_S = 0.12
"""A process is killed at most so long after its first question."""
ANSWERS_WITHIN_S = 0.03
LISTED_MICROS = 12_000
"""What the price list has for the minute at the carrier, which a call was charged first."""
_LEAST_MICROS = 2_000


@dataclass
class Charged:
    """What a run has done: kills, how often Twilio was asked of each call, and what changed otherwise than once."""

    calls: int = 0
    kills: int = 0
    asked: Counter[str] = field(default_factory=Counter[str])
    wrong: list[str] = field(default_factory=list[str])

    def __str__(self) -> str:
        again = sum(1 for count in self.asked.values() if count > 1)
        return f"{self.calls} calls, {self.kills} kills, {again} asked for again; {len(self.wrong)} wrong"


class KilledCharging:
    """Books the prices of the calls that a database awaits charges of."""

    def __init__(self, database_url: str, folder: Path, chance: Random, *, processes: int) -> None:
        self._url, self._folder, self._chance, self._processes = database_url, folder, chance, processes
        self._figures = Charged()
        self._twilio = Twilio()
        self._asked = anyio.Event()
        self._running: dict[int, ForkedCommand] = {}

    async def figures(self, kills: int) -> Charged:
        """Has all of it booked, with so many kills, and says what came of it."""
        async with Database.opened(self._url) as database, self._rated() as api_base:
            before = await database.read(_costs)
            self._figures.calls = len(before)
            for at, (call_id, _) in enumerate(sorted(before.items())):
                self._rate(f"CA{at + 1}", call_id)
            async with anyio.create_task_group() as killing:
                killing.start_soon(self._kill, kills)
                async with anyio.create_task_group() as booking:
                    for slot in range(self._processes):
                        booking.start_soon(self._keep_running, slot, api_base)
                killing.cancel_scope.cancel()
            await database.read(self._judge, before)
        return self._figures

    def _rate(self, sid: str, call_id: str) -> None:
        """Twilio knows the price of a call. Which of the calls has this sid does not matter: each has its price."""
        price = _LEAST_MICROS + 10 * len(self._twilio.calls)
        self._twilio.calls.append(PlacedCall(sid, {"To": [""], "From": [""]}, time.time(), "completed"))
        self._twilio.prices[sid] = f"-{price / 1_000_000:.6f}"

    @asynccontextmanager
    async def _rated(self) -> AsyncGenerator[str]:
        """The API of Twilio, which takes its time to answer; its address."""
        with listener_on() as listener:
            async with listening(_Slow(self._twilio.application(), self), listener) as url:
                yield url.removesuffix("/v1")

    async def answers(self, sid: str) -> None:
        """Notes a question, and returns when it is to be answered."""
        self._figures.asked[sid] += 1
        self._asked.set()
        await anyio.sleep(self._chance.uniform(0, ANSWERS_WITHIN_S))

    async def _keep_running(self, slot: int, api_base: str) -> None:
        status = KILLED
        while status == KILLED:
            async with charging_process(self._url, self._folder / str(slot), api_base) as process:
                self._running[slot] = process
                status = await to_thread.run_sync(process.wait, 60)
                del self._running[slot]
        assert status == 0, f"a process ended by itself with status {status}"

    async def _kill(self, kills: int) -> None:
        for _ in range(kills):
            self._asked = anyio.Event()
            await self._asked.wait()
            await anyio.sleep(self._chance.uniform(0, LATEST_S))
            if not self._running:
                continue
            with suppress(ProcessLookupError):
                os.kill(self._running[self._chance.choice(sorted(self._running))].pid, signal.SIGKILL)
                self._figures.kills += 1

    def _judge(self, connection: Connection, before: dict[str, int]) -> None:
        """Looks at each call, the ledger, the campaign and the audit."""
        wrong, after = self._figures.wrong, _costs(connection)
        told = sorted(round(-float(price) * 1_000_000) for price in self._twilio.prices.values())
        settled = sorted(after[call_id] - cost + LISTED_MICROS for call_id, cost in before.items())
        if settled != told:
            wrong.append(f"calls have {settled[:5]} and Twilio told {told[:5]}")
        booked = _booked(connection)
        for call_id, cost in before.items():
            if booked.get(call_id) != [cost - after[call_id]]:
                wrong.append(f"{call_id} changed by {after[call_id] - cost} and was booked {booked.get(call_id)}")
        entries = select(func.count()).where(audit_log.c.action == "call.cost_settled")
        if (found := connection.execute(entries).scalar_one()) != len(before):
            wrong.append(f"{found} entries of the audit for {len(before)} calls")
        spent = connection.execute(select(func.sum(deployments.c.spend_micros))).scalar_one()
        if spent != sum(after.values()):
            wrong.append(f"campaigns have spent {spent} and calls cost {sum(after.values())}")
        if left := awaited(connection):
            wrong.append(f"{left} are still awaited")


class _Slow:
    """The API, whose questions for calls are noted and answered after a while."""

    def __init__(self, application: Starlette, run: KilledCharging) -> None:
        self._application, self._run = application, run

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._run.answers(scope["path"].rpartition("/")[2].removesuffix(".json"))
        await self._application(scope, receive, send)


def _costs(connection: Connection) -> dict[str, int]:
    return {row.id: row.cost_micros for row in connection.execute(select(calls.c.id, calls.c.cost_micros))}


def _booked(connection: Connection) -> dict[str, list[int]]:
    """The adjustments of each call."""
    found: dict[str, list[int]] = {}
    adjustments = select(transactions.c.reference_id, transactions.c.amount_micros)
    for row in connection.execute(adjustments.where(transactions.c.type == "adjustment")):
        found.setdefault(row.reference_id, []).append(row.amount_micros)
    return found
