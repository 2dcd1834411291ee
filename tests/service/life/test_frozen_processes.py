"""A process that is stopped while it holds locks on Postgres: another one goes on, and nothing is dialled twice.

It is stopped again and again until a lock is seen to be held, so that each test is about the point it names.
"""

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from anyio import to_thread
from sqlalchemy import Connection, Update, func, select, text, update

from callwright.contract.deployments.deployments import Deployment
from callwright.service.platform.database.units import brief
from callwright.service.tables.schema import calls, deployments, endpoint_queues, simulated_dials, webhooks
from tests.support.campaign_invariants import campaign_records, check_counters, check_dialled_once, check_money
from tests.support.campaigns import people, started
from tests.support.processes.peer import Peer
from tests.support.service import Tenant, open_service
from tests.support.webhooks.endpoint_process import sink

pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)
LIMIT_S = 180
LEASE_MS = 2_000
POLL_S = 0.5
SLACK_S = 3.0
"""For a machine that is busy with other tests."""
TAKEN_OVER_S = (LEASE_MS + LEASE_MS) / 1_000 + POLL_S + SLACK_S
"""The lease, the time for which a transaction may be silent, and one look for work."""
_HOLDS = text(
    """SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = :name
    AND backend_xid IS NOT NULL AND query ILIKE :query
    AND (state LIKE 'idle in transaction%' OR (state = 'active' AND wait_event_type = 'Client'))"""
)
POINTS = {"claim": "INSERT INTO calls%", "finish": "%transcript%"}


@asynccontextmanager
async def two_peers(database_url: str, data: Path) -> AsyncGenerator[tuple[Peer, Peer]]:
    """Two processes that serve. They are gone when the block ends, stopped or not."""
    names = ("callwright-one", "callwright-two")
    peers = [Peer(database_url, data / name, name, lease_ms=LEASE_MS) for name in names]
    try:
        for peer in peers:
            await to_thread.run_sync(peer.begin)
        yield peers[0], peers[1]
    finally:
        for peer in peers:
            peer.end()


async def driver(tenant: Tenant, deployment_id: str, peers: tuple[Peer, Peer]) -> tuple[Peer, Peer]:
    """The process that drives the deployment, and the other one."""
    owner = select(deployments.c.lease_owner).where(deployments.c.id == deployment_id)
    while True:
        held = await tenant.database.read(lambda connection: connection.execute(owner).scalar_one())
        for peer, other in (peers, peers[::-1]):
            if held in peer.owners:
                return peer, other
        await anyio.sleep(0.005)


async def frozen_at(tenant: Tenant, peer: Peer, query: str) -> None:
    """Stops the process between two statements of a transaction whose last statement was this one."""
    given = {"name": peer.name, "query": query}
    while True:
        peer.freeze()
        await anyio.sleep(0.02)  # what it sent has arrived
        held = await tenant.database.read(brief(lambda connection: connection.execute(_HOLDS, given).scalar_one()))
        if held:
            return
        peer.thaw()
        await anyio.sleep(0.003)


async def long_campaign(tenant: Tenant, count: int = 150) -> Deployment:
    """A campaign that has work for a while: its rounds are small."""
    return await started(tenant, people(count), max_concurrency=2)


async def check_once(tenant: Tenant, deployment_id: str) -> None:
    """Nobody was called twice, and the books are right."""
    found = await campaign_records(tenant.database, deployment_id)
    check_dialled_once(found)
    check_counters(found)
    check_money(found)


def _run(connection: Connection, statement: Update) -> None:
    connection.execute(statement)


@pytest.mark.requirement("STATE-27")
@pytest.mark.parametrize("point", ["claim", pytest.param("finish", marks=pytest.mark.long)])
async def test_a_driver_that_freezes_inside_a_transaction_is_replaced(
    database_url: str, tmp_path: Path, point: str
) -> None:
    with anyio.fail_after(LIMIT_S):
        async with (
            open_service(database_url, tmp_path, workers=False) as tenant,
            two_peers(database_url, tmp_path) as two,
        ):
            made = await long_campaign(tenant)
            frozen, _ = await driver(tenant, made.id, two)
            await frozen_at(tenant, frozen, POINTS[point])
            at = time.monotonic()
            while True:
                held, _ = await driver(tenant, made.id, two)
                if held is not frozen:
                    break
                assert time.monotonic() - at < TAKEN_OVER_S, "nobody took over"
                await anyio.sleep(0.02)
            await anyio.sleep(0.3)
            frozen.thaw()  # in the midst of the other one's work
            ended = await tenant.ended(made.id)
            await anyio.sleep(0.5)
            assert ended.status == "completed"
            await check_once(tenant, made.id)


@pytest.mark.requirement("STATE-31")
async def test_a_campaign_is_paused_at_once_although_its_driver_has_frozen_and_no_call_follows(
    database_url: str, tmp_path: Path
) -> None:
    database_rows = {table.name: select(func.count()).select_from(table) for table in (calls, simulated_dials)}
    with anyio.fail_after(LIMIT_S):
        async with (
            open_service(database_url, tmp_path, workers=False) as tenant,
            two_peers(database_url, tmp_path) as two,
        ):

            async def counted() -> dict[str, int]:
                return await tenant.database.read(
                    lambda connection: {
                        name: connection.execute(count).scalar_one() for name, count in database_rows.items()
                    }
                )

            made = await long_campaign(tenant)
            frozen, _ = await driver(tenant, made.id, two)
            await frozen_at(tenant, frozen, POINTS["claim"])
            with anyio.fail_after(4):
                assert (await tenant.client.deployments.pause(id=made.id)).status == "paused"
            before = await counted()
            frozen.thaw()
            await anyio.sleep(3)
            after = await counted()
            assert after["calls"] == before["calls"]
            assert after["simulated_dials"] == after["calls"]
            assert (await tenant.client.deployments.get(id=made.id)).status == "paused"
            await tenant.client.deployments.resume(id=made.id)
            assert (await tenant.ended(made.id)).status == "completed"
            await check_once(tenant, made.id)


async def test_a_sender_that_freezes_inside_a_transaction_keeps_no_events_from_anybody(
    database_url: str, tmp_path: Path
) -> None:
    with sink() as receiver, anyio.fail_after(LIMIT_S):
        async with open_service(database_url, tmp_path, workers=False) as tenant:
            services = tenant.services
            hooks = [
                await tenant.client.webhooks.create(url=f"https://example.com/{number}", events=["*"])
                for number in range(3)
            ]
            for number, hook in enumerate(hooks):
                moved = update(webhooks).where(webhooks.c.id == hook.id).values(url=f"{receiver.url}/{number}")
                await services.database.write(_run, moved)
            async with two_peers(database_url, tmp_path) as two:
                campaign = await long_campaign(tenant, 100)
                senders = select(endpoint_queues.c.lease_owner).where(endpoint_queues.c.lease_owner.is_not(None))
                frozen: Peer | None = None
                while frozen is None:
                    held = set(
                        await services.database.read(lambda connection: connection.execute(senders).scalars().all())
                    )
                    frozen = next((peer for peer in two if peer.owners & held), None)
                await frozen_at(tenant, frozen, "%webhook%")
                owned = endpoint_queues.c.lease_owner.in_(frozen.owners)
                at = time.monotonic()
                while await services.database.read(
                    lambda connection: connection.execute(select(endpoint_queues.c.webhook_id).where(owned)).first()
                ):
                    assert time.monotonic() - at < TAKEN_OVER_S, "nobody took over"
                    await anyio.sleep(0.02)
                changed = await tenant.client.webhooks.update(id=hooks[0].id, description="Changed")
                assert changed.description == "Changed"
                assert (await tenant.ended(campaign.id)).status == "completed"
                waits = text(
                    "SELECT (SELECT count(*) FROM outbox WHERE fanned_out_at IS NULL)"
                    " + (SELECT count(*) FROM deliveries WHERE status = 'pending')"
                )
                while await services.database.read(lambda connection: connection.execute(waits).scalar_one()):  # noqa: ASYNC110  # elsewhere
                    await anyio.sleep(0.05)
                frozen.thaw()
            seen = await to_thread.run_sync(receiver.seen)
            assert {len(seen[f"/{number}"]) for number in range(3)} == {len(seen["/0"])}
            await check_once(tenant, campaign.id)
