"""One of the services that carry out the same steps, with a clock and ids that are the same on both."""

from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import anyio
from pydantic import BaseModel
from sqlalchemy import Connection, Table, select

from callwright.client import Client, Retries, ServiceProblem
from callwright.client.transport import ASGITransport
from callwright.service import accounts
from callwright.service.app import Application, Service, pipeline_of, running
from callwright.service.dialling import leases
from callwright.service.dialling.leases import LeaseLost
from callwright.service.platform.clock.clock import SystemClock
from callwright.service.platform.database.engines import Limits
from callwright.service.platform.ids import Ids, base62
from callwright.service.settings import ServiceSettings
from callwright.service.tables.ledger import check
from callwright.service.tables.schema import (
    calls,
    deployment_contacts,
    deployments,
    do_not_call,
    metadata,
    simulated_dials,
    wallets,
)
from callwright.service.telephony.engine import CallRequest, EngineParts
from callwright.service.telephony.registry import EngineFactory
from callwright.service.telephony.simulated.engine import SimulatedEngine
from tests.support.campaigns import DeadEngine, Forgetful, Interrupted, driver_of, expire_leases
from tests.support.database.indexed_words import indexed
from tests.support.service import BASE_URL, Tenant

BEGIN_MS = round(datetime(2027, 3, 10, 15, tzinfo=UTC).timestamp() * 1_000)
"""A Wednesday, four days before the clocks change in North America."""
STEP_LIMIT_S = 60.0
UNAVAILABLE = 503
"""The status of a request whose transaction was undone because the database did not answer."""
ATTEMPTS = 5
"""How often a request is sent while the database does not answer."""
_PATIENT = Limits(idle_ms=60_000, statement_ms=60_000, lock_ms=60_000)
"""A busy machine must not end a transaction on one side alone: the sides would have other ids from there on."""
Death = Literal["before_dialling", "after_dialling", "overtaken"]
_SEEN = (calls, simulated_dials, deployments, deployment_contacts, wallets, do_not_call)
"""What is read after every step."""
_OWN = ("lease_owner", "lease_until", "hash", "identity", "fingerprint", "plan_id", "marks")
"""Columns that differ between two services: leases by the database's clock, and secrets."""
_LEFT_OUT = (
    *("alembic_version", "service_state", "request_days", "request_levels", "idempotency_keys"),
    "transcript_words",  # read apart
)

Rows = dict[str, list[dict[str, Any]]]
"""Rows by the name of their table."""


@dataclass
class ScriptedTime:
    """The time of both services. It stands still within a step."""

    now_ms: int = BEGIN_MS
    passed_s: float = 0.0
    """Seconds that have passed, however the clock was set."""

    def clock(self) -> SystemClock:
        """A clock that shows it."""
        return SystemClock(wall=lambda: self.now_ms / 1_000, running=lambda: self.passed_s)

    def jump(self, seconds: float) -> None:
        """Sets the clock forwards or backwards; a minute passes in any case."""
        self.now_ms += round(seconds * 1_000)
        self.passed_s += 60.0


@dataclass
class CountedChance:
    """Digits for ids that are counted instead of drawn: of one moment the later id is the larger one."""

    made: int = 0

    def digits(self, length: int) -> str:
        """The next number in so many digits."""
        self.made += 1
        return base62(self.made, length)


class Overtaken(SimulatedEngine):
    """A network that a driver reaches only after another one has taken its deployment over."""

    def __init__(self, parts: EngineParts, side: "Side", deployment_id: str) -> None:
        super().__init__(parts)
        self._side, self._deployment_id = side, deployment_id

    async def dial(self, dialled: Sequence[tuple[CallRequest, int]]) -> None:
        await self._side.drive(self._deployment_id, "wrk_other", rounds=1)
        await super().dial(dialled)


@dataclass(frozen=True)
class Side:
    """A service with an organization, and what the steps do there. Every answer is data that can be compared."""

    name: str
    tenant: Tenant
    chance: CountedChance

    async def ask(self, request: Callable[[Client], Awaitable[BaseModel | None]]) -> Any:
        """The answer to a request, or the problem.

        A busy machine may end a connection to the database: what was undone for that is asked again with the same ids.
        """
        made = self.chance.made
        for attempt in range(ATTEMPTS):
            try:
                answer = await request(self.tenant.client)
            except ServiceProblem as problem:
                if problem.status == UNAVAILABLE and attempt + 1 < ATTEMPTS:
                    self.chance.made = made
                    continue
                return {"problem": problem.code, "status": problem.status, "field": problem.field, "said": str(problem)}
            return None if answer is None else answer.model_dump(mode="json", exclude={"plan_id"})
        raise AssertionError

    async def drive(
        self, deployment_id: str, owner: str, *, rounds: int, death: Death | None = None
    ) -> Literal["ended", "died", "lost", "nothing_to_do"]:
        """Has a driver take over a deployment for some rounds, and perhaps die in the first one."""
        await expire_leases(self.tenant)
        now_ms = self.tenant.services.clock.now_ms()
        if not await self.tenant.database.write(leases.take, [deployment_id], owner, now_ms, now_ms + 60_000):
            return "nothing_to_do"
        engine: EngineFactory = SimulatedEngine
        if death is not None:
            engine = {"before_dialling": DeadEngine, "after_dialling": Forgetful}.get(death) or (
                lambda parts: Overtaken(parts, self, deployment_id)
            )
        try:
            with anyio.fail_after(STEP_LIMIT_S):
                await driver_of(self.tenant, owner, engine=engine, rounds=rounds).drive(deployment_id)
        except Interrupted:
            return "died"
        except LeaseLost:
            return "lost"
        return "ended"

    async def seen(self) -> Rows:
        """The rows by which every step is judged."""
        return await self.tenant.database.read(_rows, _SEEN)

    async def everything(self) -> Mapping[str, Counter[str]]:
        """All rows of all tables, without those that differ between two services."""
        tables = [table for table in metadata.sorted_tables if table.name not in _LEFT_OUT]
        found = await self.tenant.database.read(_rows, tables)
        words = await self.tenant.database.read(indexed)
        spoken = Counter(str((row.call_id, row.words)) for row in words)
        return {name: Counter(str(row) for row in rows) for name, rows in found.items()} | {"spoken": spoken}

    async def ledger_problems(self) -> list[str]:
        """What does not add up in the ledger."""
        return await self.tenant.database.read(check, self.tenant.org_id)


def _rows(connection: Connection, tables: Sequence[Table]) -> Rows:
    return {
        table.name: [
            dict(row)
            for row in connection.execute(
                select(*(column for column in table.columns if column.name not in _OWN)).order_by(*table.primary_key)
            ).mappings()
        ]
        for table in tables
    }


@asynccontextmanager
async def opened(name: str, database_url: str, data: Path, time: ScriptedTime) -> AsyncGenerator[Side]:
    """A service on a migrated database without data, which no worker drives."""
    clock = time.clock()
    settings = ServiceSettings(data=data, database_url=database_url)
    async with running(settings, workers=False, clock=clock, limits=_PATIENT) as made:
        chance = CountedChance()
        services = replace(made.services, ids=Ids(clock.now_ms, chance.digits))
        services.own_address.bound = BASE_URL.removesuffix("/v1")
        pipeline = pipeline_of(services)
        service = Service(services, Application(services, pipeline), pipeline)
        ids, database, now_ms = services.ids, services.database, clock.now_ms()
        org_id = await database.write(accounts.create_organization, ids, "played", "enterprise", now_ms)
        key = await database.write(accounts.create_key, ids, org_id, "tests", now_ms)
        once = Retries(attempts=1)
        async with Client(BASE_URL, key.secret, transport=ASGITransport(app=service.asgi), retries=once) as client:
            yield Side(name, Tenant(service, org_id, key.secret, client), chance)
