"""The claim decides by what is so at its moment, not by what was so when it was looked whom to call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row

from callwright.contract.declaration.words import Spend
from callwright.service.dialling.claims import Allowance, Claimed, Draft, allowance
from callwright.service.dialling.driver_writes import DriverWrites
from callwright.service.dialling.queue import FIND, Rules
from callwright.service.dialling.runner import Runner
from callwright.service.dialling.schedule import Schedule
from callwright.service.platform.money import PRICES, money
from tests.support.campaign_invariants import campaign_records
from tests.support.campaigns import (
    claim_and_die,
    draft,
    driver_of,
    lease,
    leave_in_wallet,
    people,
)
from tests.support.service import Tenant, open_service


@dataclass(frozen=True, kw_only=True)
class PausingWrites(DriverWrites):
    """The writes of a runner whose campaign is paused after the look whom to call, and before the claim."""

    tenant: Tenant

    async def claim(
        self, rules: Rules, drafts: Sequence[Draft], schedule: Schedule, contacts: Mapping[str, Row[Any]]
    ) -> Claimed:
        await self.tenant.client.deployments.pause(id=rules.row.id)
        return await super().claim(rules, drafts, schedule, contacts)


async def test_nobody_is_claimed_once_the_campaign_is_paused(database_url: str, tmp_path: Path) -> None:
    async with open_service(database_url, tmp_path, workers=False) as tenant:
        made = await draft(tenant, people(5))
        await tenant.client.deployments.start(id=made.id)
        await lease(tenant, made.id, "wrk_test")
        parts = tenant.service.services
        writes = PausingWrites(
            database=parts.database, clock=parts.clock, ids=parts.ids, owner="wrk_test", lease_ms=60_000, tenant=tenant
        )
        await Runner(writes, time_scale=inf).drive(made.id)
        found = await campaign_records(parts.database, made.id)
        assert (found.deployment.status, found.calls, found.dials) == ("paused", [], [])


async def test_a_number_in_a_call_of_another_campaign_is_not_claimed(database_url: str, tmp_path: Path) -> None:
    async with open_service(database_url, tmp_path, workers=False) as tenant:
        calling, waiting = await draft(tenant, people(3)), await draft(tenant, people(3), "Other")
        for made in (calling, waiting):
            await tenant.client.deployments.start(id=made.id)
        await claim_and_die(tenant, calling.id)
        await lease(tenant, waiting.id, "wrk_other")
        database = tenant.service.services.database
        await driver_of(tenant, "wrk_other", rounds=1).drive(waiting.id)
        found = await campaign_records(database, waiting.id)
        assert (found.deployment.in_flight, found.calls, found.dials) == (0, [], [])
        assert {contact.status for contact in found.contacts} == {"pending"}


async def test_what_is_held_back_for_calls_under_way_covers_no_other_call(database_url: str, tmp_path: Path) -> None:
    call = PRICES.reservation()
    async with open_service(database_url, tmp_path, workers=False) as tenant:
        made = await draft(tenant, people(10), max_concurrency=20)
        await tenant.client.deployments.start(id=made.id)
        await claim_and_die(tenant, made.id)

        def allowed(connection: Connection) -> Allowance:
            return allowance(connection, connection.execute(FIND, {"id": made.id}).one())

        database = tenant.service.services.database
        assert await database.read(allowed) == Allowance(10)
        await tenant.client.deployments.update(id=made.id, budget_cap=Spend(amount=money(13 * call).amount))
        assert await database.read(allowed) == Allowance(3)
        await leave_in_wallet(tenant, 12 * call)
        assert await database.read(allowed) == Allowance(2)
