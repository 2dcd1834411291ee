"""A service that does the same at every run: its clock stands until it is moved, its ids follow from their order."""

from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import orjson
from sqlalchemy import Column, Table, select, update

from callwright.contract.attempts import AttemptOutcome
from callwright.contract.events import EventEnvelope
from callwright.contract.inbound_routing import FAILURES_UNTIL_ALERT
from callwright.service import accounts
from callwright.service.app import Application, pipeline_of
from callwright.service.platform.clock.clock import iso_milliseconds
from callwright.service.platform.database.listing import Cursors
from callwright.service.platform.ids import Ids, base62
from callwright.service.platform.wake_signal import WakeNotifier
from callwright.service.rules.plan_id import StartPlanSeal
from callwright.service.settings import ServiceSettings
from callwright.service.tables.schema import api_keys, calls, memberships, organizations, outbox, phone_numbers
from callwright.service.webhooks.dispatcher import Dispatcher
from callwright.service.workers import imports, sweeps
from callwright.service.workers.renewals import RETRIED_FOR_MS
from tests.support.calls.held_calls import held_call
from tests.support.campaigns import DeadEngine, Interrupted, driver_of, lease, leave_in_wallet
from tests.support.clock_set_by_test import MovableClock
from tests.support.service import Tenant, open_service
from tests.support.webhooks.delivering import MIDDLE, Endpoints, answer
from tests.support.webhooks.routing import GOOD, ScriptedRouting, bad, logged, told

BEGINS_MS = 1_795_532_400_000
"""2026-11-24T15:00:00Z, a Tuesday."""
STEP_MS = 10_000
BASE = "https://api.example.com"
OWNER = "wrk_examples"
ENDPOINT = "https://example.com/callwright-events"
ROUTED = {"action": "answer", "variables": {"first_name": "Maria"}}
"""What routing webhooks answer."""
_SECRET = blake2b(b"examples").digest()


class CountedIds(Ids):
    """Ids whose random part follows from how many of their type were made before."""

    def __init__(self, clock: MovableClock) -> None:
        self._made: Counter[str] = Counter()
        self._word = b""
        super().__init__(clock.now_ms, self._digits)

    def _digits(self, count: int) -> str:
        return base62(int.from_bytes(blake2b(self._word).digest()) % 62**count, count)

    def new(self, prefix: str) -> str:
        """The next id of a type."""
        self._made[prefix] += 1
        self._word = f"{prefix} {self._made[prefix]}".encode()
        return super().new(prefix)

    def several(self, prefix: str, count: int) -> list[str]:
        """The next ids of a type."""
        return [self.new(prefix) for _ in range(count)]


@dataclass(frozen=True)
class RepeatableService:
    """The service, and the hands that move what would move by itself."""

    tenant: Tenant
    clock: MovableClock

    async def run_imports(self) -> None:
        """Imports what was uploaded."""
        while await imports.work_on_one(self.tenant.services, OWNER):
            pass

    async def run_campaign(self, deployment_id: str) -> None:
        """Calls everybody of a deployment that was started, in its own time."""
        await lease(self.tenant, deployment_id, OWNER)
        await driver_of(self.tenant, OWNER).drive(deployment_id)

    async def leave_a_call_open(self, deployment_id: str) -> str:
        """Calls somebody, who answers and talks on; gives the call's id."""
        await lease(self.tenant, deployment_id, OWNER)
        try:
            await driver_of(self.tenant, OWNER, engine=DeadEngine).drive(deployment_id)
        except Interrupted:
            return await self.tenant.database.write(_answer_the_open_call)
        raise AssertionError("nobody was called")

    async def leave_a_call_unconfirmed(self, deployment_id: str) -> str:
        """A call of which nobody knows whether it rang; gives its id."""
        return await held_call(self.tenant, deployment_id)

    async def deliver(self, outcome: AttemptOutcome, status: int, says: str) -> None:
        """Sends what waits to be sent, to endpoints that all answer alike."""
        endpoints = Endpoints(self.clock)
        endpoints.answers[ENDPOINT] = lambda _: answer(outcome, status, says)
        services = self.tenant.services
        await Dispatcher(services, WakeNotifier(), endpoints, chance=lambda: MIDDLE).work_until_idle()

    async def lose_the_routing(self, number_id: str) -> None:
        """The routing webhook of a number answers no caller for a while, and then the next one."""
        await logged(self.tenant, number_id, *[bad()] * FAILURES_UNTIL_ALERT, GOOD)

    async def empty_the_wallet(self) -> None:
        """Takes all money out of it."""
        await leave_in_wallet(self.tenant, 0)

    async def set_wallet_status(self, status: accounts.WalletStatus) -> None:
        """Freezes the wallet, or lets it pay again."""
        services = self.tenant.services
        given = (services.ids, self.tenant.org_id, status, self.clock.now_ms())
        await services.database.write(accounts.set_wallet_status, *given)

    async def lose_the_numbers(self) -> None:
        """Another month of every number falls due, which nothing is left to pay."""
        due = {"renews_at": self.clock.now_ms(), "past_due_since": self.clock.now_ms() - RETRIED_FOR_MS}
        await self._change(phone_numbers, phone_numbers.c.org_id, **due, renewal_retry_at=self.clock.now_ms())
        await sweeps.run(self.tenant.services)

    async def cap_spending(self) -> None:
        """Lets the key commit no money."""
        await self._change(api_keys, api_keys.c.org_id, spending_cap_micros=0)

    async def uncap_spending(self) -> None:
        """Takes that back."""
        await self._change(api_keys, api_keys.c.org_id, spending_cap_micros=None)

    async def lose_the_creator(self) -> None:
        """The user who made the key leaves the organization."""
        await self._change(memberships, memberships.c.org_id, left_at=self.clock.now_ms())

    async def use_up_the_day(self) -> None:
        """Allows fewer requests a day than were made already."""
        await self._change(organizations, organizations.c.id, requests_per_day=1)

    async def _change(self, table: Table, org_id: Column[Any], **values: Any) -> None:
        statement = update(table).where(org_id == self.tenant.org_id).values(**values)
        await self.tenant.database.write(lambda connection: connection.execute(statement).rowcount)

    async def events(self) -> dict[str, dict[str, Any]]:
        """What a subscriber would have been sent: of each type the first event that has a value in every field."""
        rows = select(outbox).where(outbox.c.org_id == self.tenant.org_id).order_by(outbox.c.created_at, outbox.c.id)
        found: dict[str, dict[str, Any]] = {}
        complete: set[str] = set()
        for row in await self.tenant.database.read(lambda connection: connection.execute(rows).all()):
            event = EventEnvelope(
                id=row.id,
                type=row.type,
                created_at=iso_milliseconds(row.created_at),
                org_id=row.org_id,
                data=orjson.loads(row.data),
            )
            whole = None not in event.data.values()
            if (whole and row.type not in complete) or row.type not in found:
                found[row.type] = event.model_dump(mode="json")
            if whole:
                complete.add(row.type)
        return found


def _answer_the_open_call(connection: Any) -> str:
    call = connection.execute(select(calls).where(calls.c.ended_at.is_(None))).one()
    at_ms = call.created_at
    stages = {"started_at": at_ms + 400, "ringing_at": at_ms + 1_200, "answered_at": at_ms + 6_500}
    connection.execute(update(calls).where(calls.c.id == call.id).values(status="in_progress", **stages))
    return call.id


@asynccontextmanager
async def open_repeatable_service(database_url: str, folder: Path) -> AsyncGenerator[RepeatableService]:
    """A fresh service on a database that is empty, with an organization on the plan Growth."""
    settings = ServiceSettings(data=folder, database_url=database_url, public_url=BASE)
    async with open_service(database_url, folder, workers=False, settings=settings) as running:
        clock = MovableClock(BEGINS_MS)
        services = replace(
            running.service.services,
            clock=clock,
            ids=CountedIds(clock),
            cursors=Cursors(_SECRET),
            start_plan_seal=StartPlanSeal(_SECRET),
            routing_endpoints=ScriptedRouting(lambda _: told(ROUTED)),
        )
        pipeline = pipeline_of(services)
        still = replace(running.service, services=services, asgi=Application(services, pipeline), pipeline=pipeline)
        async with replace(running, service=still).another_organization(plan="growth") as tenant:
            yield RepeatableService(tenant, clock)
