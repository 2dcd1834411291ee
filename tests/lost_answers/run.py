"""One run: hosts that are killed and frozen, a carrier that loses answers, and people who are to be called once."""

import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Generator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

import anyio
import httpx2 as httpx
from sqlalchemy import Connection, select

from callwright.service import accounts
from callwright.service.platform.clock.clock import SystemClock
from callwright.service.platform.database.database import Database
from callwright.service.platform.ids import Ids
from callwright.service.tables.schema import legs
from callwright.service.telephony.engine import AgentSnapshot, CallRequest
from callwright.service.telephony.legs import leg_rows
from tests.lost_answers import twilio
from tests.support.twilio.account import NUMBER

OPEN = 24
"""People who are being called at once."""
BLOW_S = 0.35
FROZEN_S = 2.2
SETTLES_S = 30.0
"""How long the hosts have to settle everything once nothing is killed any more."""


@dataclass
class Figures:
    """What came of a run."""

    people: int = 0
    kills: int = 0
    freezes: int = 0
    rung_twice: dict[str, int] = field(default_factory=dict[str, int])
    rung_though_not_dialled: list[str] = field(default_factory=list[str])
    open_legs: int = 0
    causes: Counter[str] = field(default_factory=Counter[str])

    def __str__(self) -> str:
        causes = ", ".join(f"{count} {cause}" for cause, count in sorted(self.causes.items()))
        return (
            f"{self.people} people, {self.kills} kills, {self.freezes} freezes: {len(self.rung_twice)} rung twice, "
            f"{len(self.rung_though_not_dialled)} rung though not dialled, {self.open_legs} open; {causes}"
        )


class Run:
    """Calls people on an imitated carrier until the time is over."""

    def __init__(
        self, database_url: str, chance: Random, *, hosts: int, as_a_queue: bool = False, data: Path | None = None
    ) -> None:
        """With a folder, calls go through the imitation of Twilio, and the service keeps its files there."""
        self._url, self._chance, self._hosts, self._data = database_url, chance, hosts, data
        self._words = ["queue"] if as_a_queue else []
        self._figures = Figures()
        self._attempts: dict[int, int] = {}

    async def figures(self, for_s: float) -> Figures:
        """What came of it."""
        words = ("tests.lost_answers.imitation", "7")
        if self._data is not None:
            words = ("tests.lost_answers.twilio", "7")
        async with AsyncExitStack() as beside:
            carrier = beside.enter_context(self._process(*words))
            assert carrier.stdout is not None
            url = f"http://127.0.0.1:{int(await anyio.to_thread.run_sync(carrier.stdout.readline))}"
            if self._data is not None:
                asked = twilio.asked_back(self._url, self._data, url)
                self._words = ["twilio", await beside.enter_async_context(asked)]
            async with Database.opened(self._url) as database, httpx.AsyncClient(base_url=url, trust_env=False) as http:
                await self._call(database, url, for_s)
                rung: dict[str, int] = (await http.get("/placed")).json()
                await database.read(self._count, rung)
        return self._figures

    async def _call(self, database: Database, carrier_url: str, for_s: float) -> None:
        ids = Ids(SystemClock().now_ms)
        org_id = await database.write(accounts.create_organization, ids, "called", "enterprise", SystemClock().now_ms())
        hosts = [self._host(carrier_url) for _ in range(self._hosts)]
        frozen: dict[int, float] = {}
        try:
            end_s = time.monotonic() + for_s
            while time.monotonic() < end_s:
                await database.write(self._add, org_id)
                self._blow(hosts, frozen, carrier_url)
                await anyio.sleep(BLOW_S)
            for place in frozen:
                hosts[place].send_signal(signal.SIGCONT)
            for _ in range(round(SETTLES_S / BLOW_S)):
                if not await database.read(_count_open):
                    break
                await anyio.sleep(BLOW_S)
        finally:
            for host in hosts:
                host.kill()
                host.wait(timeout=10)

    def _blow(self, hosts: list["subprocess.Popen[bytes]"], frozen: dict[int, float], carrier_url: str) -> None:
        """Kills or freezes one of the hosts, and lets those go on that were frozen long enough."""
        now_s = time.monotonic()
        for place, since_s in list(frozen.items()):
            if now_s - since_s > FROZEN_S:
                hosts[place].send_signal(signal.SIGCONT)
                del frozen[place]
        place = self._chance.randrange(len(hosts))
        if place in frozen:
            return
        if self._chance.random() < 0.5:
            hosts[place].kill()
            hosts[place].wait(timeout=10)
            hosts[place] = self._host(carrier_url)
            self._figures.kills += 1
        else:
            hosts[place].send_signal(signal.SIGSTOP)
            frozen[place] = now_s
            self._figures.freezes += 1

    def _host(self, carrier_url: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "tests.lost_answers.host", self._url, carrier_url, *self._words]
        return subprocess.Popen(command)

    @contextmanager
    def _process(self, module: str, *words: str) -> Generator["subprocess.Popen[str]"]:
        made = subprocess.Popen([sys.executable, "-m", module, *words], stdout=subprocess.PIPE, text=True)
        try:
            yield made
        finally:
            made.kill()
            made.communicate(timeout=10)

    def _add(self, connection: Connection, org_id: str) -> None:
        """Keeps so many people being called. Somebody whose call was certainly not placed is called again."""
        now_ms = SystemClock().now_ms()
        open_legs = _count_open(connection)
        again: list[int] = []
        for row in connection.execute(select(legs).where(legs.c.state == "ended")):
            person, attempt = _person_of(row.call_id)
            if attempt == self._attempts[person] and not leg_rows.result_of(row).was_dialled:
                again.append(person)
        new = range(len(self._attempts), len(self._attempts) + OPEN)
        for person in [*again, *new][: max(OPEN - open_legs, 0)]:
            self._attempts[person] = self._attempts.get(person, 0) + 1
            leg_rows.add(connection, "imitation", _request(org_id, person, self._attempts[person]), now_ms)

    def _count(self, connection: Connection, rung: dict[str, int]) -> None:
        figures = self._figures
        figures.people = len(self._attempts)
        figures.rung_twice = {to: count for to, count in rung.items() if count > 1}
        figures.open_legs = _count_open(connection)
        dialled: set[str] = set()
        for row in connection.execute(select(legs).where(legs.c.state == "ended")):
            result = leg_rows.result_of(row)
            figures.causes[result.hangup_cause if result.was_dialled else "not dialled"] += 1
            if result.was_dialled:
                dialled.add(leg_rows.request_of(row).to)
        figures.rung_though_not_dialled = [to for to in rung if to not in dialled]


def _person_of(call_id: str) -> tuple[int, int]:
    _, person, attempt = call_id.split("_")
    return int(person), int(attempt)


def _request(org_id: str, person: int, attempt: int) -> CallRequest:
    return replace(
        CallRequest(
            call_id=f"cal_{person}_{attempt}",
            org_id=org_id,
            deployment_id="dep_1",
            contact_id=f"row_{person}",
            attempt=attempt,
            to=f"+1212555{person:04d}",
            from_=NUMBER,
            agent=AgentSnapshot("agt_1", "", "", "en-US", "en-US-ada"),
            variables={},
        ),
        ring_timeout_s=1.0,
        max_duration_s=2.0,
    )


def _count_open(connection: Connection) -> int:
    return len(connection.execute(select(legs.c.call_id).where(legs.c.state != "ended")).all())
