"""Four services on one Postgres, which is repeatedly killed under load.

    python -m bench.outages.killed_postgres [KILLS] [SEED]

64 connections read and create agents, campaigns run and events are delivered. The program prints acknowledged writes
that were lost, calls dialled twice, how long requests were open, the answers during outages, how soon the throughput
was back, and what was logged. It exits with 1 if a figure is out of its limit. It takes at most 60 s and 15 s a kill.
"""

import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from ipaddress import ip_network
from pathlib import Path
from random import Random, SystemRandom
from typing import Any

import anyio
import psycopg
from anyio import to_thread
from anyio.abc import TaskGroup
from tests.support.campaigns import ONCE, draft, make_agent, make_audience, people, phone, rent
from tests.support.database.postgres import Server, create_database
from tests.support.service import open_service

from bench.outages import figures
from bench.outages.figures import LIMIT_S, Outage, Verdict
from bench.outages.frozen_peers import Taker
from bench.outages.load import Caller, FinishedRequest, Load, Record, repeated
from bench.outages.several_services import Process, services
from bench.rest.rest import plain
from bench.tool_calls.over_http import request
from callwright.service.settings import ServiceSettings

HOST = "127.0.0.1"
PROCESSES = 4
CONNECTIONS = 64
"""In all."""
PEOPLE = 60
TIME_SCALE = 10
"""How many times faster than real time the simulated network runs."""
CALLS_PER_SECOND = 0.3
"""In simulated time. In real time it is three a second, so that a campaign lasts about 20 s."""
WARM_S, MEASURED_S, SETTLED_S = 4.0, 5.0, 2.0
LOAD_S, DOWN_S = (4.0, 8.0), (1.0, 3.0)
HEALTH_EVERY_S = 0.2
AT_ONCE, AT_ONCE_S = 64, 5.0
EACH_S, BESIDE_S, TIDYING_S = 15, 60, 15
"""Seconds that a run may take: for each kill, once for a run, and the part of the latter kept for closing down."""
CYCLE_S, JUDGING_S = 10.0, 3.0
"""About how long a kill with its outage takes, and the verdict. No kill is made when less time than this is left."""


@dataclass(frozen=True)
class Setup:
    """What is made before the load: a key, campaigns that are not started, and the number they call from."""

    api_key: str
    campaigns: Sequence[str]
    number: str


@dataclass
class Trial:
    """The state of a trial."""

    server: Server
    setup: Setup
    addresses: Sequence[str]
    chance: Random
    token: str
    until_s: float
    """The deadline of the trial."""
    record: Record = field(default_factory=Record)
    outages: list[Outage] = field(default_factory=list[Outage])
    health: list[tuple[FinishedRequest, int]] = field(default_factory=list[tuple[FinishedRequest, int]])
    """Answers of the health check, each with the index of its outage."""
    before: int = 0
    after: int = 0
    left_open: int = 0
    longest_s: float = 0.0
    measured_until_s: float = 0.0
    done_by_last_start: tuple[int, int] = (0, 0)
    """How many dials and deliveries there were at the last start of the server."""

    async def run(self, kills: int, plain_url: str) -> None:
        """Starts the load, kills the server repeatedly, and ends the load."""
        load = Load(self.record, self.setup.api_key, self.token, self.chance)
        async with anyio.create_task_group() as tasks:
            for index in range(CONNECTIONS):
                tasks.start_soon(load.go_round, self.addresses[index % len(self.addresses)])
            tasks.start_soon(self._run_campaigns)
            await anyio.sleep(WARM_S)
            self.before = await self._measured()
            after_s = SETTLED_S + MEASURED_S + AT_ONCE_S + JUDGING_S
            for number in range(kills):
                if time.monotonic() + CYCLE_S + after_s > self.until_s:
                    break
                await anyio.sleep(self.chance.uniform(*LOAD_S))
                await self._kill(number, tasks)
                seen = self.outages[-1]
                print(f"kill {number + 1}: down {seen.up_s - seen.killed_s:.1f} s", file=sys.stderr, flush=True)
            self.done_by_last_start = await to_thread.run_sync(done, plain_url, abandon_on_cancel=True)
            await anyio.sleep(SETTLED_S)
            self.after = await self._measured()
            self.measured_until_s = time.monotonic()
            self.record.is_done = True
            left_s = self.until_s - AT_ONCE_S - JUDGING_S - time.monotonic()
            with anyio.move_on_after(min(LIMIT_S, left_s)):
                await self._answered()
            self.left_open, self.longest_s = len(self.record.open), self.record.longest_s()
            tasks.cancel_scope.cancel()

    async def _answered(self) -> None:
        while True:
            if not self.record.open and not self.record.unanswered:
                return
            await anyio.sleep(0.05)

    async def _measured(self) -> int:
        begin_s = time.monotonic()
        await anyio.sleep(MEASURED_S)
        return self.record.good(begin_s, begin_s + MEASURED_S)

    async def _kill(self, number: int, tasks: TaskGroup) -> None:
        killed_s = time.monotonic()
        await to_thread.run_sync(self.server.kill, abandon_on_cancel=True)
        down_s = time.monotonic()
        async with anyio.create_task_group() as looks:
            looks.start_soon(self._look_at_health, number, tasks)
            await anyio.sleep(self.chance.uniform(*DOWN_S))
            looks.cancel_scope.cancel()
        started_s = time.monotonic()
        await to_thread.run_sync(self.server.start_again, abandon_on_cancel=True)
        self.outages.append(Outage(killed_s, down_s, started_s, time.monotonic()))

    async def _look_at_health(self, number: int, tasks: TaskGroup) -> None:
        while True:
            for address in self.addresses:
                tasks.start_soon(self._ask_health, address, number)
            await anyio.sleep(HEALTH_EVERY_S)

    async def _ask_health(self, address: str, number: int) -> None:
        caller = Caller(address, Record())
        self.health.append((await caller.ask("health", request(address, "", "/healthz", b"", {})), number))
        await caller.close()

    async def _run_campaigns(self) -> None:
        for index, campaign in enumerate(self.setup.campaigns):
            address = self.addresses[index % len(self.addresses)]
            caller = Caller(address, self.record)
            path, key = f"/v1/deployments/{campaign}", {"Idempotency-Key": f"{self.token}-start-{index}"}
            start = request(address, self.setup.api_key, f"{path}/start", b"{}", key)
            look = request(address, self.setup.api_key, path, b"", {})
            await repeated(lambda caller=caller, start=start: caller.ask("start", start), self.chance)
            while not self.record.is_done:
                await anyio.sleep(0.5)
                found = await caller.ask("GET", look)
                if found.status == 200 and json.loads(found.body)["data"]["status"] not in ("scheduled", "active"):
                    break
            await caller.close()
            if self.record.is_done:
                return

    async def at_once(self, address: str) -> tuple[int, float]:
        """How many of `AT_ONCE` simultaneous requests a process answers in time, and the seconds of the slowest."""
        record = Record()

        async def read(index: int) -> None:
            caller = Caller(address, record)
            path = f"/v1/agents?per_page=200&page={1 + index % 8}"
            await caller.ask("GET", request(address, self.setup.api_key, path, b"", {}))
            await caller.close()

        with anyio.move_on_after(AT_ONCE_S) as limit:
            async with anyio.create_task_group() as tasks:
                for index in range(AT_ONCE):
                    tasks.start_soon(read, index)
        slowest_s = AT_ONCE_S if limit.cancelled_caught else record.longest_s()
        return sum(one.status == 200 for one in record.over), slowest_s


def rows(plain_url: str, query: Any, *given: Any) -> list[tuple[Any, ...]]:
    """The rows that a query returns."""
    with psycopg.connect(plain_url, autocommit=True, connect_timeout=10) as connection:
        return connection.execute(query, given).fetchall()


def done(plain_url: str) -> tuple[int, int]:
    """How many calls were dialled and how many deliveries arrived."""
    found = rows(
        plain_url,
        "SELECT (SELECT count(*) FROM simulated_dials), count(*) FROM deliveries WHERE status = 'succeeded'",
    )[0]
    return found[0], found[1]


async def _set_up(url: str, folder: Path, taker: ThreadingHTTPServer, campaigns: int) -> Setup:
    settings = ServiceSettings(data=folder, database_url=url, webhook_networks=(ip_network("127.0.0.0/8"),))
    async with open_service(url, folder, workers=False, extra_dollars=100_000, settings=settings) as tenant:
        agent, number = await make_agent(tenant, "Caller"), await rent(tenant)
        audience = await make_audience(tenant, people(PEOPLE))
        for index in range(2):
            await tenant.client.webhooks.create(url=f"http://{HOST}:{taker.server_port}/{index}", events=["*"])
        made = [
            await draft(
                tenant,
                [],
                f"Campaign {index}",
                agent_id=agent.id,
                audience_id=audience.id,
                phone_number_ids=[number.id],
                max_concurrency=20,
                calls_per_second=CALLS_PER_SECOND,
                retry_policy=ONCE,
            )
            for index in range(campaigns)
        ]
        return Setup(tenant.api_key, [each.id for each in made], number.number)


def _dialled(verdict: Verdict, trial: Trial, plain_url: str) -> None:
    again = rows(plain_url, "SELECT count(*) FROM simulated_dials WHERE times > 1")[0][0]
    same = rows(
        plain_url,
        "SELECT count(*) FROM (SELECT 1 FROM calls GROUP BY deployment_id, contact_id, attempt_number"
        " HAVING count(*) > 1) AS twice",
    )[0][0]
    dials, arrived = done(plain_url)
    dials_since, arrived_since = dials - trial.done_by_last_start[0], arrived - trial.done_by_last_start[1]
    verdict.report(f"dialled twice: {again + same} of {dials}", holds=dials > 0 and again + same == 0)
    verdict.report(
        f"after the last start: {dials_since} dialled, {arrived_since} deliveries arrived (at least 1 of each)",
        holds=dials_since > 0 and arrived_since > 0,
    )


async def _trial(folder: Path, kills: int, chance: Random, until_s: float, verdict: Verdict) -> None:
    with ExitStack() as stack:
        settings = {"synchronous_commit": "on"}  # an acknowledged commit has been written out of the killed process
        server = Server(folder / "postgres", listens=HOST, trusts="127.0.0.0/8", settings=settings)
        stack.callback(server.stop)
        taker = ThreadingHTTPServer((HOST, 0), Taker)
        stack.callback(taker.server_close)
        threading.Thread(target=taker.serve_forever, daemon=True).start()
        stack.callback(taker.shutdown)
        plain_url = plain(create_database(server.url, "trial"))
        # The services connect over the network; this program connects directly.
        url = f"postgresql+psycopg://postgres@{HOST}:{server.port}/trial"
        setup = await _set_up(url, folder / "own", taker, kills + 3)
        processes = stack.enter_context(services(url, folder, PROCESSES, TIME_SCALE))
        addresses = [await to_thread.run_sync(each.address, abandon_on_cancel=True) for each in processes]
        token = f"outage{chance.randrange(16**8):08x}"
        trial = Trial(server, setup, addresses, chance, token, until_s)
        await trial.run(kills, plain_url)
        verdict.report(f"kills made: {len(trial.outages)} of {kills}", holds=len(trial.outages) == kills)
        if not trial.outages:
            return
        answered = await _all_at_once(trial, processes)
        ended = sum(not each.is_running for each in processes)
        await to_thread.run_sync(_judge, verdict, trial, plain_url, abandon_on_cancel=True)
        figures.places(verdict, trial.before, trial.after, answered, AT_ONCE)
        verdict.report(f"processes that ended by themselves: {ended} of {PROCESSES}", holds=ended == 0)
        secrets = (token, phone(0)[1:10], setup.number.lstrip("+"), "Person ", "[parameters:", setup.api_key)
        logs = {each.name: list(each.lines) for each in processes}
        figures.logged(verdict, logs, trial.outages[0].killed_s, secrets)


def _judge(verdict: Verdict, trial: Trial, plain_url: str) -> None:
    found = rows(plain_url, "SELECT id, name FROM agents WHERE starts_with(name, %s)", trial.token)
    figures.stored(verdict, trial.record, [(row[0], row[1]) for row in found])
    figures.statuses(verdict, trial.record)
    _dialled(verdict, trial, plain_url)
    figures.longest(verdict, trial.record, trial.longest_s, trial.left_open)
    figures.health(verdict, [(asked, trial.outages[number]) for asked, number in trial.health])
    figures.back(verdict, trial.record, trial.outages, trial.measured_until_s)


async def _all_at_once(trial: Trial, processes: Sequence[Process]) -> dict[str, tuple[int, float]]:
    answered: dict[str, tuple[int, float]] = {}

    async def one(process: Process, address: str) -> None:
        answered[process.name] = await trial.at_once(address)

    async with anyio.create_task_group() as tasks:
        for process, address in zip(processes, trial.addresses, strict=True):
            tasks.start_soon(one, process, address)
    return dict(sorted(answered.items()))


def machine_load() -> float:
    """The load average of the last minute. Throughput says little on a machine that is busy with other work."""
    return os.getloadavg()[0]


def main(kills: int, seed: int) -> None:
    """Runs the trial and exits with status 0, or 1 if a figure is out of its limit or the time is over."""
    print(f"{kills} kills, seed {seed}", flush=True)
    busy = machine_load()
    verdict, until_s = Verdict(), time.monotonic() + kills * EACH_S + BESIDE_S - TIDYING_S

    async def bounded(folder: Path) -> None:
        with anyio.move_on_after(until_s - time.monotonic()) as limit:
            await _trial(folder, kills, Random(seed), until_s, verdict)
        if limit.cancelled_caught:
            verdict.report("the trial did not end in its time", holds=False)

    with tempfile.TemporaryDirectory(prefix="callwright-trial-") as folder:
        os.chmod(folder, 0o711)  # Postgres runs as another user there
        anyio.run(bounded, Path(folder))
    print(f"load of the machine: {busy:.1f} before, {machine_load():.1f} after")
    raise SystemExit(0 if verdict.holds else 1)


if __name__ == "__main__":
    main(
        int(sys.argv[1]) if len(sys.argv) > 1 else 25,
        int(sys.argv[2]) if len(sys.argv) > 2 else SystemRandom().randrange(10**6),
    )
