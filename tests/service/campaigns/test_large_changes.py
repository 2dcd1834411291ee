"""Changes of many rows are made in pieces: what is true in between, and after a process has ended in the middle."""

from pathlib import Path

import anyio
import pytest
from anyio import to_thread
from sqlalchemy import func, select, update

from callwright.client import Client
from callwright.contract.deployments.deployments import Deployment
from callwright.contract.deployments.dialling import WEEKDAYS, CallingHours, RetryPolicy, Window
from callwright.service.dialling import changed_rules, leases
from callwright.service.platform.clock.clock import DAY
from callwright.service.platform.database.database import Database
from callwright.service.platform.database.units import PIECE_ROWS, ROWS_AT_ONCE
from callwright.service.tables.schema import audience_rows, audiences, deployment_contacts, deployments
from callwright.service.workers import large_changes
from tests.support.campaigns import audience_of, draft, make_audience, people, working
from tests.support.database.statements import recorded
from tests.support.processes.campaign import campaign_process
from tests.support.resources import refusal
from tests.support.service import Tenant, open_service

WHOLE = ROWS_AT_ONCE // PIECE_ROWS + 2
"""Pieces of full size. All but one of them are still a large change."""
MANY = WHOLE * PIECE_ROWS + PIECE_ROWS // 2
pytestmark = pytest.mark.requirement("BIG-01")


async def piece(tenant: Tenant) -> bool:
    """A process does one piece, and ends."""
    return await large_changes.work_on_some(tenant.services)


async def rest(tenant: Tenant) -> int:
    """All pieces that are left; how many."""
    pieces = 0
    while await piece(tenant):
        pieces += 1
    return pieces


async def candidates(tenant: Tenant) -> list[str]:
    """The deployments that a process would drive now."""
    given = ("wrk_1", tenant.services.clock.now_ms(), 10, frozenset[str]())
    return list(await tenant.database.read(leases.candidates, *given))


async def rows_of(tenant: Tenant, status: str) -> int:
    counted = select(func.count()).select_from(deployment_contacts).where(deployment_contacts.c.status == status)
    return await tenant.database.read(lambda connection: connection.execute(counted).scalar_one())


async def begun(tenant: Tenant) -> Deployment:
    """A campaign that was started and whose contacts are still to be added."""
    made = await draft(tenant, people(MANY))
    return await tenant.client.deployments.start(id=made.id)


async def test_nobody_is_called_before_all_contacts_of_a_large_campaign_are_added(
    database_url: str, tmp_path: Path
) -> None:
    async with open_service(database_url, tmp_path, workers=False) as tenant:
        campaign = await begun(tenant)
        assert (campaign.status, campaign.contact_changes, campaign.stats.contacts) == ("active", "adding", 0)
        assert await piece(tenant)
        between = await tenant.client.deployments.get(id=campaign.id)
        assert (between.contact_changes, between.stats.contacts, between.stats.pending) == (
            "adding",
            PIECE_ROWS,
            PIECE_ROWS,
        )
        assert await candidates(tenant) == []
        assert await rest(tenant) == WHOLE
        whole = await tenant.client.deployments.get(id=campaign.id)
        assert (whole.contact_changes, whole.stats.contacts, whole.stats.pending) == (None, MANY, MANY)
        assert await rows_of(tenant, "pending") == MANY
        assert await candidates(tenant) == [campaign.id]


async def test_people_who_are_added_meanwhile_join_once(database_url: str, tmp_path: Path) -> None:
    async with open_service(database_url, tmp_path, workers=False) as tenant:
        campaign = await begun(tenant)
        await piece(tenant)
        await tenant.client.audiences.add_rows(id=audience_of(campaign), rows=people(10, first=MANY))
        await rest(tenant)
        assert (await tenant.client.deployments.get(id=campaign.id)).stats.contacts == MANY + 10
        await tenant.client.audiences.add_rows(id=audience_of(campaign), rows=people(5, first=MANY + 10))
        assert (await tenant.client.deployments.get(id=campaign.id)).stats.contacts == MANY + 15
        assert await rows_of(tenant, "pending") == MANY + 15


async def test_a_campaign_can_be_paused_resumed_and_cancelled_while_its_contacts_are_added(
    database_url: str, tmp_path: Path
) -> None:
    async with open_service(database_url, tmp_path, workers=False) as tenant:
        client: Client = tenant.client
        campaign = await begun(tenant)
        for _ in range(WHOLE - 2):
            await piece(tenant)
        await client.deployments.pause(id=campaign.id)
        await piece(tenant)
        resumed = await client.deployments.resume(id=campaign.id)
        assert (resumed.status, resumed.contact_changes) == ("active", "adding")
        assert await candidates(tenant) == []
        cancelled = await client.deployments.cancel(id=campaign.id)
        added = (WHOLE - 1) * PIECE_ROWS
        assert (cancelled.status, cancelled.contact_changes) == ("cancelled", "cancelling")
        assert (cancelled.stats.contacts, cancelled.stats.cancelled, cancelled.stats.pending) == (added, added, 0)
        await rest(tenant)
        assert await rows_of(tenant, "cancelled") == added
        assert await rows_of(tenant, "pending") == 0
        assert (await client.deployments.get(id=campaign.id)).contact_changes is None


async def test_a_large_campaign_is_cancelled_at_once_and_its_contacts_follow(database_url: str, tmp_path: Path) -> None:
    async with open_service(database_url, tmp_path, workers=False) as tenant:
        campaign = await begun(tenant)
        await rest(tenant)
        cancelled = await tenant.client.deployments.cancel(id=campaign.id)
        assert (cancelled.contact_changes, cancelled.stats.cancelled, cancelled.stats.pending) == (
            "cancelling",
            MANY,
            0,
        )
        assert await candidates(tenant) == []
        assert await piece(tenant)
        assert (await rows_of(tenant, "cancelled"), await rows_of(tenant, "pending")) == (
            PIECE_ROWS,
            MANY - PIECE_ROWS,
        )
        assert (await tenant.client.deployments.cancel(id=campaign.id)).contact_changes == "cancelling"
        waits = update(deployment_contacts).where(deployment_contacts.c.position == 0).values(status="retry_waiting")
        await tenant.database.write(lambda connection: connection.execute(waits))
        await rest(tenant)
        assert await rows_of(tenant, "cancelled") == MANY  # also who waits again behind the piece


async def test_a_large_audience_is_gone_at_once_and_its_rows_follow(database_url: str, tmp_path: Path) -> None:
    async with open_service(database_url, tmp_path, workers=False) as tenant:
        client = tenant.client
        other = await make_audience(tenant, people(3, first=MANY), "Others")
        gone = await make_audience(tenant, people(MANY), "People")
        assert (await client.audiences.import_csv(id=gone.id, csv="phone\n+12025550123\n")).status == "pending"
        await client.audiences.delete(id=gone.id)
        async with refusal(404, "not_found"):
            await client.audiences.get(id=gone.id)
        async with refusal(404, "not_found"):
            await client.audiences.add_rows(id=gone.id, rows=people(1))
        assert [one.id for one in (await client.audiences.list()).data] == [other.id]
        assert (await client.overview.get()).audiences.total == 1
        assert (await client.audiences.create(name="People", rows=people(1))).name == "People"  # the name is free
        assert await piece(tenant)
        left = select(func.count()).select_from(audience_rows).where(audience_rows.c.audience_id == gone.id)
        assert await tenant.database.read(lambda connection: connection.execute(left).scalar_one()) < MANY
        await rest(tenant)
        assert await tenant.database.read(lambda connection: connection.execute(left).scalar_one()) == 0
        kept = select(audiences.c.id).order_by(audiences.c.id)
        assert len(await tenant.database.read(lambda connection: connection.execute(kept).all())) == 2
        assert (await client.audiences.get(id=other.id)).valid_count == 3


async def test_a_piece_of_a_large_audience_that_goes_reads_its_own_rows_alone(
    database_url: str, tmp_path: Path
) -> None:
    async with open_service(database_url, tmp_path, workers=False) as tenant:
        audience = await make_audience(tenant, people(MANY))
        await tenant.client.audiences.delete(id=audience.id)
        with recorded() as said:
            assert await piece(tenant)
        of_names = [one for one in said if one.text.startswith("SELECT") and "name_words" in one.text]
        assert len(of_names) == (0 if tenant.database.is_shared else 1)  # Postgres keeps its index of names itself
        for one in of_names:
            plan = await tenant.database.read(one.plan)
            assert ("(id=?)" in plan, "audience_id" in plan) == (True, False)


async def test_a_large_campaign_runs_to_its_end_by_itself(database_url: str, tmp_path: Path) -> None:
    async with open_service(database_url, tmp_path, workers=False) as tenant:
        made = await draft(tenant, people(MANY, sim_outcome="busy"), retry_policy={"max_attempts": 1})
        campaign = await tenant.client.deployments.start(id=made.id)
        assert campaign.contact_changes == "adding"
        async with working(tenant):
            done = await tenant.ended(campaign.id, within_s=180.0)
        assert (done.status, done.contact_changes, done.stats.attempts) == ("completed", None, MANY)


ALWAYS = CallingHours(
    timezone_mode="fixed", timezone="UTC", windows=[Window(days=list(WEEKDAYS), start="00:00", end="24:00")]
)
_K = deployment_contacts.c


async def put_off(tenant: Tenant) -> Deployment:
    """A paused campaign whose contacts are all there and were put off by a day."""
    campaign = await begun(tenant)
    await rest(tenant)
    later = update(deployment_contacts).values(next_at=_K.due_at + DAY)
    await tenant.database.write(lambda connection: connection.execute(later))
    return await tenant.client.deployments.pause(id=campaign.id)


async def still_put_off(tenant: Tenant) -> int:
    counted = select(func.count()).select_from(deployment_contacts).where(_K.next_at > _K.due_at)
    return await tenant.database.read(lambda connection: connection.execute(counted).scalar_one())


@pytest.mark.requirement("BIG-02")
async def test_contacts_of_a_large_campaign_follow_changed_hours_in_pieces_and_nobody_is_called_before(
    database_url: str, tmp_path: Path
) -> None:
    async with open_service(database_url, tmp_path, workers=False) as tenant:
        client, paused = tenant.client, await put_off(tenant)
        changed = await client.deployments.update(id=paused.id, calling_hours=ALWAYS)
        assert (changed.contact_changes, changed.stats.pending) == ("rescheduling", MANY)
        assert await piece(tenant)
        assert await still_put_off(tenant) == MANY - changed_rules.AT_ONCE
        again = await client.deployments.update(id=paused.id, retry_policy=RetryPolicy(max_attempts=2))
        assert again.contact_changes == "rescheduling"
        assert await piece(tenant)
        assert await still_put_off(tenant) == MANY - changed_rules.AT_ONCE
        resumed = await client.deployments.resume(id=paused.id)
        assert (resumed.status, resumed.contact_changes) == ("active", "rescheduling")
        assert await candidates(tenant) == []
        await rest(tenant)
        assert (await still_put_off(tenant), await rows_of(tenant, "pending")) == (0, MANY)
        assert (await client.deployments.get(id=paused.id)).contact_changes is None
        assert await candidates(tenant) == [paused.id]


@pytest.mark.requirement("BIG-02")
async def test_suppressed_contacts_of_a_large_campaign_wait_again_each_once(database_url: str, tmp_path: Path) -> None:
    async with open_service(database_url, tmp_path, workers=False) as tenant:
        client, paused = tenant.client, await put_off(tenant)
        gone = {"status": "suppressed", "status_reason": "calling_hours", "next_at": None}
        forbidden = update(deployment_contacts).where(_K.position < 3_000).values(gone)
        states = f'{{"suppressed": 3000, "pending": {MANY - 3_000}}}'
        await tenant.database.write(lambda connection: connection.execute(forbidden))
        await tenant.database.write(lambda connection: connection.execute(update(deployments).values(states=states)))
        await client.deployments.update(id=paused.id, calling_hours=ALWAYS)
        await piece(tenant)
        between = (await client.deployments.get(id=paused.id)).stats
        assert (between.suppressed, between.pending) == (3_000 - changed_rules.AT_ONCE, MANY - 2_000)
        await rest(tenant)
        after = (await client.deployments.get(id=paused.id)).stats
        assert (after.suppressed, after.pending, await rows_of(tenant, "pending")) == (0, MANY, MANY)


@pytest.mark.requirement("BIG-02")
async def test_a_large_campaign_can_be_cancelled_while_its_contacts_follow_changed_hours(
    database_url: str, tmp_path: Path
) -> None:
    async with open_service(database_url, tmp_path, workers=False) as tenant:
        client, paused = tenant.client, await put_off(tenant)
        await client.deployments.update(id=paused.id, calling_hours=ALWAYS)
        await piece(tenant)
        cancelled = await client.deployments.cancel(id=paused.id)
        assert (cancelled.contact_changes, cancelled.stats.cancelled) == ("cancelling", MANY)
        await rest(tenant)
        assert (await rows_of(tenant, "cancelled"), await rows_of(tenant, "pending")) == (MANY, 0)
        assert (await client.deployments.get(id=paused.id)).contact_changes is None


@pytest.mark.requirement("BIG-02")
async def test_hours_that_change_while_contacts_are_added_hold_before_anybody_is_called(
    database_url: str, tmp_path: Path
) -> None:
    async with open_service(database_url, tmp_path, workers=False) as tenant:
        client, campaign = tenant.client, await begun(tenant)
        await piece(tenant)
        await client.deployments.pause(id=campaign.id)
        changed = await client.deployments.update(id=campaign.id, calling_hours=ALWAYS)
        assert changed.contact_changes == "adding"
        for _ in range(WHOLE):
            await piece(tenant)
        assert (await client.deployments.get(id=campaign.id)).contact_changes == "rescheduling"
        await rest(tenant)
        done = await client.deployments.get(id=campaign.id)
        assert (done.contact_changes, done.stats.pending) == (None, MANY)


async def test_a_change_whose_process_is_killed_is_finished_by_the_next_one(database_url: str, tmp_path: Path) -> None:
    contacts = select(func.count()).select_from(deployment_contacts)
    change = select(deployments.c.contact_changes)
    many = 5 * ROWS_AT_ONCE

    async def found(database: Database) -> tuple[int, str | None]:
        return await database.read(
            lambda connection: (connection.execute(contacts).scalar_one(), connection.execute(change).scalar_one())
        )

    with anyio.fail_after(150):
        async with open_service(database_url, tmp_path, workers=False) as tenant:
            made = await draft(tenant, people(many), calls_per_second=0.1)
            await tenant.client.deployments.start(id=made.id)
        async with Database.opened(database_url) as database:
            async with campaign_process(database_url, tmp_path) as process:
                while True:
                    if (await found(database))[0]:
                        break
                    await anyio.sleep(0.001)
                process.kill()
                assert await to_thread.run_sync(process.wait, 30) == -9
            added, doing = await found(database)
            assert (0 < added < many, doing) == (True, "adding")
            async with campaign_process(database_url, tmp_path):
                while True:
                    if (await found(database))[1] is None:
                        break
                    await anyio.sleep(0.01)
                assert (await found(database))[0] == many
