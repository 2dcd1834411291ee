"""SIGKILL in mid-campaign: everybody is called, nobody twice, and the money is right."""

from pathlib import Path
from random import Random
from typing import Any

import anyio
import pytest
from anyio import to_thread
from sqlalchemy import func, select

from callwright.contract.deployments.dialling import RetryPolicy
from callwright.service.platform.database.database import Database
from callwright.service.tables.schema import calls, simulated_dials, transcripts
from tests.kills.campaigns import start_campaigns
from tests.kills.run import KilledRun
from tests.support.campaign_invariants import (
    campaign_records,
    check_counters,
    check_dialled_once,
    check_everything,
    check_money,
    check_policy,
    check_records,
)
from tests.support.campaigns import draft, make_audience, people, started
from tests.support.processes.campaign import campaign_process
from tests.support.service import open_service

LIMIT_S = 90
PEOPLE = 120
KILLED = -9


async def grown(database: Database, table: Any, rows: int) -> None:
    """Returns once the table has so many rows."""
    statement = select(func.count()).select_from(table)
    while True:
        if await database.read(lambda connection: connection.execute(statement).scalar_one()) >= rows:
            return
        await anyio.sleep(0.002)


async def test_a_campaign_that_is_killed_three_times_calls_everybody_and_nobody_twice(
    database_url: str, tmp_path: Path
) -> None:
    with anyio.fail_after(LIMIT_S):
        async with open_service(database_url, tmp_path, workers=False) as tenant:
            made = await started(tenant, people(PEOPLE), max_concurrency=4)
        async with Database.opened(database_url) as database:
            for table, rows in ((calls, 20), (simulated_dials, 55), (transcripts, 70)):
                async with campaign_process(database_url, tmp_path) as process:
                    await grown(database, table, rows)
                    process.kill()
                    assert await to_thread.run_sync(process.wait, 120) == KILLED
                    assert (await campaign_records(database, made.id)).deployment.status == "active"
            async with campaign_process(database_url, tmp_path) as process:
                assert await to_thread.run_sync(process.wait, 120) == 0
            found = await campaign_records(database, made.id)
        assert found.deployment.status == "completed"
        assert len(found.contacts) == PEOPLE
        assert {contact.status for contact in found.contacts} <= {"completed", "exhausted", "suppressed"}
        assert len({call.driver for call in found.calls}) == 4
        check_everything(found, RetryPolicy(), lines=4)


@pytest.mark.usefixtures("shipped_law")
async def test_campaigns_that_share_people_and_numbers_keep_the_law_while_their_processes_are_killed(
    database_url: str, tmp_path: Path
) -> None:
    processes = 1 if database_url.startswith("sqlite") else 4
    await start_campaigns(database_url, tmp_path / "made", 300)
    run = KilledRun(database_url, tmp_path, Random(3), processes=processes)
    figures = await run.figures(kills=3)
    assert figures.holds, figures.violations
    assert run.kills, "every kill came after the end"
    assert figures.contacts == 360


@pytest.mark.requirement("STATE-27")
@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
async def test_another_process_takes_over_the_campaigns_of_a_killed_one(database_url: str, tmp_path: Path) -> None:
    with anyio.fail_after(LIMIT_S):
        async with open_service(database_url, tmp_path, workers=False) as tenant:
            database = tenant.database
            audience = await make_audience(tenant, people(60))
            made = [await draft(tenant, [], name, audience_id=audience.id, max_concurrency=2) for name in "ABCD"]
            for one in made:
                await tenant.client.deployments.start(id=one.id)
            async with campaign_process(database_url, tmp_path / "first") as first:
                await grown(database, calls, 30)
                async with campaign_process(database_url, tmp_path / "second") as second:
                    await grown(database, calls, 60)
                    first.kill()
                    assert await to_thread.run_sync(first.wait, 120) == KILLED
                    assert await to_thread.run_sync(second.wait, 120) == 0
            drivers: set[str] = set()
            for one in made:
                found = await campaign_records(database, one.id)
                assert (found.deployment.status, len(found.contacts)) == ("completed", 60)
                check_dialled_once(found)
                check_policy(found, RetryPolicy())
                check_counters(found)
                check_money(found)
                check_records(found)
                drivers |= {call.driver for call in found.calls}
            assert len(drivers) == 2
