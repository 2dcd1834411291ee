"""Campaigns for tests: made and started through the typed client, with numbers and outcomes chosen on purpose.

The simulated network does what a contact's `sim.*` cells say, so that a test knows every outcome beforehand.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from math import inf
from typing import Any

import anyio
import pytest
from sqlalchemy import Row, select, update

from callwright.contract.agents.agents import Agent
from callwright.contract.audiences import Audience
from callwright.contract.calls.calls import Call
from callwright.contract.deployments.deployments import Deployment
from callwright.contract.deployments.dialling import Compliance, RetryPolicy
from callwright.contract.phone_numbers import PhoneNumber
from callwright.service.dialling import leases
from callwright.service.dialling.claims import Claimed, Draft
from callwright.service.dialling.queue import Rules
from callwright.service.dialling.rounds.driver_writes import DriverWrites
from callwright.service.dialling.rounds.runner import Runner
from callwright.service.dialling.schedule import Schedule
from callwright.service.platform.wake_signal import WakeNotifier
from callwright.service.tables.ledger import Movement, book, wallet_of
from callwright.service.tables.schema import deployments, phone_numbers
from callwright.service.telephony.engine import CallRequest
from callwright.service.telephony.registry import EngineFactory
from callwright.service.telephony.simulated.engine import SimulatedEngine
from callwright.service.workers.supervisor import Supervisor
from tests.support.service import Tenant

PROMPT = (
    "You call {{first_name}} for the Lakeside clinic.\n"
    "- Ask whether the appointment on Tuesday suits.\n"
    "- Ask whether they need a parking space.\n"
    "The clinic is at 5 Main Street. It opens at eight."
)
WELCOME = "Hello {{first_name}}, this is Ada, an automated assistant of the Lakeside clinic."
ONCE = RetryPolicy(max_attempts=1)
PLAIN = Compliance(ai_disclosure=False)
"""A greeting of only its own words."""
FAST = {"max_concurrency": 10, "calls_per_second": 10.0}


def phone(index: int, area: str = "415") -> str:
    """A valid North American number; another index is another number. Up to 79,999 of an area."""
    return f"+1{area}55{index:05d}"


def people(count: int, *, first: int = 0, area: str = "415", **cells: str) -> list[dict[str, Any]]:
    """Rows of that many people with numbers of their own. Cells are named with `_` for the dot: `sim_outcome`."""
    given = {name.replace("sim_", "sim."): value for name, value in cells.items()}
    return [
        {"phone_number": phone(index, area), "first_name": f"Person {index}", **given}
        for index in range(first, first + count)
    ]


async def make_agent(tenant: Tenant, name: str = "Ada", **fields: Any) -> Agent:
    """An agent whose words use the column `first_name`."""
    given: dict[str, Any] = {
        "voice_id": "en-US-ada",
        "language": "en-US",
        "system_prompt": PROMPT,
        "welcome_message": WELCOME,
        **fields,
    }
    return await tenant.client.agents.create(name=name, **given)


async def make_audience(
    tenant: Tenant, rows: Sequence[dict[str, Any]], name: str = "People", **fields: Any
) -> Audience:
    """An audience of any size."""
    made = await tenant.client.audiences.create(name=name, rows=list(rows[:1_000]), **fields)
    for begin in range(1_000, len(rows), 1_000):
        await tenant.client.audiences.add_rows(id=made.id, rows=list(rows[begin : begin + 1_000]))
    return await tenant.client.audiences.get(id=made.id)


def audience_of(campaign: Deployment) -> str:
    """The id of a campaign's audience."""
    assert campaign.audience_id is not None
    return campaign.audience_id


async def rent(tenant: Tenant, area: str | None = None) -> PhoneNumber:
    """A number to call from."""
    if area is None:
        return await tenant.client.phone_numbers.rent(country="US")
    return await tenant.client.phone_numbers.rent(country="US", area_code=area)


async def draft(tenant: Tenant, rows: Sequence[dict[str, Any]], name: str = "Campaign", **fields: Any) -> Deployment:
    """A draft that calls these people, with an agent, an audience and a number of its own unless they are given."""
    given: dict[str, Any] = {**FAST, **fields}
    if "agent_id" not in given:
        given["agent_id"] = (await make_agent(tenant, f"{name}'s agent")).id
    if "audience_id" not in given:
        given["audience_id"] = (await make_audience(tenant, rows, f"{name}'s people")).id
    if "phone_number_ids" not in given:
        given["phone_number_ids"] = [(await rent(tenant)).id]
    return await tenant.client.deployments.create(name=name, **given)


async def started(tenant: Tenant, rows: Sequence[dict[str, Any]], name: str = "Campaign", **fields: Any) -> Deployment:
    """A campaign that was started; its draft is as `draft` makes it."""
    made = await draft(tenant, rows, name, **fields)
    return await tenant.client.deployments.start(id=made.id)


async def run(tenant: Tenant, rows: Sequence[dict[str, Any]], name: str = "Campaign", **fields: Any) -> Deployment:
    """The campaign once it has stopped by itself."""
    return await tenant.ended((await started(tenant, rows, name, **fields)).id)


async def calls_of(tenant: Tenant, deployment_id: str) -> list[Call]:
    """All calls of a deployment, the first one first."""
    found = [call async for call in tenant.client.calls.list(deployment_id=deployment_id, per_page=200)]
    return sorted(found, key=lambda call: (call.created_at, call.id))


async def only_call(tenant: Tenant, deployment_id: str) -> Call | None:
    """The first call of the deployment, if it was made yet."""
    page = await tenant.client.calls.list(deployment_id=deployment_id)
    return page.data[0] if page.data else None


async def call_in(tenant: Tenant, deployment_id: str, *, status: str, within_s: float = 20.0) -> Call:
    """The only call of the deployment once it has the status."""
    with anyio.fail_after(within_s):
        while True:
            call = await only_call(tenant, deployment_id)
            if call is not None and call.status == status:
                return call
            await anyio.sleep(0.005)


async def progressed(tenant: Tenant, deployment_id: str, *, attempts: int, within_s: float = 30.0) -> None:
    """Returns once the deployment has made so many calls."""
    with anyio.fail_after(within_s):
        while True:
            if (await tenant.client.deployments.get(id=deployment_id)).stats.attempts >= attempts:
                return
            await anyio.sleep(0.005)


async def settled(tenant: Tenant, deployment_id: str, *, within_s: float = 30.0) -> Deployment:
    """The deployment once nobody drives it any more."""
    owner = select(deployments.c.lease_owner, deployments.c.in_flight).where(deployments.c.id == deployment_id)
    with anyio.fail_after(within_s):
        while True:
            row = await tenant.database.read(lambda connection: connection.execute(owner).one())
            if row.lease_owner is None and not row.in_flight:
                return await tenant.client.deployments.get(id=deployment_id)
            await anyio.sleep(0.005)


@asynccontextmanager
async def working(tenant: Tenant) -> AsyncGenerator[None]:
    """Workers for a service that was opened without."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(Supervisor(tenant.services, WakeNotifier()).run)
        yield
        tasks.cancel_scope.cancel()


async def ended_by_workers(tenant: Tenant, deployment_id: str) -> Deployment:
    """The deployment once workers have brought it to its end, for a service that was opened without."""
    async with working(tenant):
        return await tenant.ended(deployment_id)


async def called_by_campaigns(tenant: Tenant, rows: Sequence[dict[str, Any]], campaigns: int) -> None:
    """Has so many campaigns call these people, one after the other, for a service that was opened without workers."""
    for index in range(campaigns):
        await ended_by_workers(tenant, (await started(tenant, rows, f"Campaign {index}")).id)


@dataclass(frozen=True, kw_only=True)
class CountedRounds(DriverWrites):
    """The writes of a runner, of which it is counted how many rounds claimed or deferred somebody."""

    rounds: list[Claimed] = field(default_factory=list[Claimed])

    async def claim(
        self,
        rules: Rules,
        drafts: Sequence[Draft],
        schedule: Schedule,
        contacts: Mapping[str, Row[Any]],
        *,
        jumps: bool = False,
    ) -> Claimed:
        claimed = await super().claim(rules, drafts, schedule, contacts, jumps=jumps)
        self.rounds.append(claimed)
        return claimed


def driver_of(
    tenant: Tenant, owner: str = "wrk_test", *, engine: EngineFactory = SimulatedEngine, rounds: int | None = None
) -> Runner:
    """A runner of one's own in virtual time, for a service that was opened without workers.

    With `rounds` it ends after so many.
    """
    services = tenant.services
    writes = CountedRounds(
        database=services.database, clock=services.clock, ids=services.ids, owner=owner, lease_ms=60_000
    )
    ends = bool if rounds is None else lambda: len(writes.rounds) >= rounds
    return Runner(writes, time_scale=inf, ends=ends, engines={"simulated": engine})


async def leave_in_wallet(tenant: Tenant, micros: int) -> None:
    """Takes all but so much out of the wallet."""
    services = tenant.services
    wallet = await services.database.read(wallet_of, tenant.org_id)
    taken = Movement("adjustment", micros - wallet.balance_micros, "organization", tenant.org_id, "taken by a test")
    await services.database.write(book, services.ids, tenant.org_id, [taken], now_ms=services.clock.now_ms())


class Interrupted(Exception):
    """A driver of a test stops here, as if its process had been killed."""


class DeadEngine(SimulatedEngine):
    """A network that is never reached: its calls are claimed, and then the driver dies."""

    async def dial(self, dialled: Sequence[tuple[CallRequest, int]]) -> None:
        raise Interrupted


async def lease(tenant: Tenant, deployment_id: str, owner: str) -> None:
    """Leases a deployment to a driver for a minute."""
    now_ms = tenant.services.clock.now_ms()
    assert await tenant.database.write(leases.take, [deployment_id], owner, now_ms, now_ms + 60_000)


async def claim_and_die(tenant: Tenant, deployment_id: str, owner: str = "wrk_test") -> None:
    """Has a driver claim a round of calls and stop before it dials them; the lease stays where it is."""
    await lease(tenant, deployment_id, owner)
    with pytest.raises(Interrupted):
        await driver_of(tenant, owner, engine=DeadEngine).drive(deployment_id)


async def suspend_numbers(tenant: Tenant) -> None:
    """Takes every number of the service out of use."""
    await tenant.database.write(
        lambda connection: connection.execute(update(phone_numbers).values(status="suspended")).rowcount
    )


async def expire_leases(tenant: Tenant) -> None:
    """Lets every lease run out."""
    await tenant.database.write(
        lambda connection: connection.execute(update(deployments).values(lease_until=0)).rowcount
    )


class Forgetful(SimulatedEngine):
    """A network that makes its calls, and then the driver dies before it can write down what happened."""

    async def dial(self, dialled: Sequence[tuple[CallRequest, int]]) -> None:
        await super().dial(dialled)
        raise Interrupted


async def after_rounds(tenant: Tenant, rows: Sequence[dict[str, Any]], rounds: int = 1, **fields: Any) -> Deployment:
    """A campaign that was driven for some rounds and then paused."""
    made = await started(tenant, rows, **fields)
    await lease(tenant, made.id, "wrk_test")
    await driver_of(tenant, rounds=rounds).drive(made.id)
    await expire_leases(tenant)
    return await tenant.client.deployments.pause(id=made.id)


async def dial_and_die(tenant: Tenant, deployment_id: str, owner: str = "wrk_test") -> None:
    """Has a driver dial a round of calls and stop before it records them; the lease stays where it is."""
    await lease(tenant, deployment_id, owner)
    with pytest.raises(Interrupted):
        await driver_of(tenant, owner, engine=Forgetful).drive(deployment_id)
