"""A full disk: who is told, what is still answered, what stops, and who lets it go on."""

import logging
import sqlite3
from pathlib import Path

import anyio
import pytest

from callwright.client.errors import ServiceProblem
from callwright.contract.deployments.deployments import Deployment
from callwright.contract.deployments.dialling import RetryPolicy
from callwright.service.platform.clock.clock import HOUR, moment
from callwright.service.platform.database.sqlite.disk_space import LEAST_FREE, SAID_EVERY_S, DiskSpace, StorageFull
from tests.service.life.mid_campaign import ANSWERS, health, in_mid_campaign, until
from tests.support.campaign_invariants import campaign_records, check_everything
from tests.support.campaigns import draft, people, settled
from tests.support.clock_set_by_test import Wall
from tests.support.database.full_disk import full
from tests.support.http.raw_requests import AsyncClient, refused
from tests.support.service import Tenant, open_service


async def found_full(tenant: Tenant) -> None:
    """Returns once the service has found its disk full."""
    with anyio.fail_after(30):
        await tenant.database.disk_space.wait_until_full()


async def room_again(tenant: Tenant) -> None:
    await until(lambda: not tenant.database.disk_space.is_full)


@pytest.mark.service(plan="starter", workers=True)
async def test_a_write_on_a_full_disk_is_refused_in_words_and_reading_goes_on(
    tenant: Tenant, http: AsyncClient
) -> None:
    before = (await http.get("/v1/audiences")).json()
    async with full(tenant.database):
        rows = people(100)
        answer = await http.post("/v1/audiences", json={"name": "No room", "rows": rows})
        found = refused(answer, 503, "storage_full")
        assert "disk" in found["message"]
        assert answer.headers["retry-after"] == "60"
        assert (await http.get("/v1/audiences")).json() == before
        with pytest.raises(ServiceProblem) as caught:
            await tenant.client.audiences.create(name="No room either", rows=rows)
        assert (caught.value.code, caught.value.status) == ("storage_full", 503)
        assert "makes room" in str(caught.value)
    await room_again(tenant)
    assert (await http.get("/v1/audiences")).json() == before
    assert (await http.post("/v1/audiences", json={"name": "No room", "rows": rows})).status_code == 201


@pytest.mark.service(workers=True)
async def test_health_names_the_disk_until_there_is_room(tenant: Tenant) -> None:
    assert await health(tenant) == (200, {"status": "ok"})
    async with full(tenant.database):
        with pytest.raises(ServiceProblem):
            await tenant.client.audiences.create(name="No room", rows=people(100))
        assert await health(tenant) == (503, {"status": "unavailable", "problems": {"storage": "disk full"}})
    await room_again(tenant)
    assert await health(tenant) == (200, {"status": "ok"})


async def test_a_running_campaign_is_shown_as_paused_is_paused_and_waits_for_a_person(
    database_url: str, tmp_path: Path
) -> None:
    async with in_mid_campaign(database_url, tmp_path) as (tenant, deployment_id):
        async with full(tenant.database):
            await found_full(tenant)
            shown = await tenant.client.deployments.get(id=deployment_id)
            assert (shown.status, shown.status_reason) == ("paused", "storage_full")
            (listed,) = (await tenant.client.deployments.list()).data
            assert (listed.status, listed.status_reason) == ("paused", "storage_full")
            assert (shown.next_dial_at, listed.next_dial_at) == (None, None)
            found = {status: await tenant.client.deployments.list(status=[status]) for status in ("active", "paused")}
            assert {status: page.pagination.total for status, page in found.items()} == {"active": 0, "paused": 1}
            assert [entry.id for entry in found["paused"].data] == [deployment_id]
            with pytest.raises(ServiceProblem, match="disk"):
                await tenant.client.deployments.resume(id=deployment_id)
            with pytest.raises(ServiceProblem, match="disk"):
                await tenant.client.deployments.cancel(id=deployment_id)
        await room_again(tenant)
        stopped = await settled(tenant, deployment_id)
        assert (stopped.status, stopped.status_reason) == ("paused", "storage_full")
        assert 3 <= stopped.stats.attempts < 30
        found = await campaign_records(tenant.database, deployment_id)
        assert [data["reason"] for event, data in found.events if event.type == "deployment.paused"] == ["storage_full"]
        await tenant.client.deployments.resume(id=deployment_id)
        ended = await tenant.ended(deployment_id)
        assert (ended.status, ended.stats.completed) == ("completed", 30)
        after = await campaign_records(tenant.database, deployment_id)
        assert {dial.times for dial in after.dials} == {1}
        dialled = {dial.call_id for dial in after.dials}
        undialled = [call for call in after.calls if call.id not in dialled]  # claimed just before the disk was full
        assert {(call.outcome, call.cost_micros) for call in undialled} <= {("failed", 0)}
        if not undialled:
            check_everything(after, RetryPolicy(), lines=3)


async def test_a_campaign_whose_moment_comes_on_a_full_disk_waits_for_a_person_and_a_later_one_stays_scheduled(
    database_url: str, tmp_path: Path
) -> None:
    wall = Wall()
    async with open_service(database_url, tmp_path, clock=wall.clock()) as tenant:

        async def told(made: Deployment) -> tuple[str, str | None]:
            shown = await tenant.client.deployments.get(id=made.id)
            found = await tenant.client.deployments.list(status=[shown.status])
            (listed,) = [one for one in found.data if one.id == made.id]
            assert (listed.status, listed.status_reason) == (shown.status, shown.status_reason)
            return shown.status, shown.status_reason

        now_ms = wall.clock().now_ms()
        due = await draft(tenant, people(3, **ANSWERS), name="Due", start_at=moment(now_ms + HOUR))
        later = await draft(tenant, people(3, first=3), name="Later", start_at=moment(now_ms + 3 * HOUR))
        for made in (due, later):
            assert (await tenant.client.deployments.start(id=made.id)).status == "scheduled"
        async with full(tenant.database):
            with pytest.raises(ServiceProblem):
                await tenant.client.audiences.create(name="No room", rows=people(100))
            wall.ahead_ms += 2 * HOUR
            assert await told(due) == ("paused", "storage_full")
            assert await told(later) == ("scheduled", None)
        await room_again(tenant)
        assert await told(due) == ("paused", "storage_full")
        assert await told(later) == ("scheduled", None)
        found = await campaign_records(tenant.database, due.id)
        assert [data["reason"] for event, data in found.events if event.type == "deployment.paused"] == ["storage_full"]
        assert not found.dials
        await tenant.client.deployments.resume(id=due.id)
        assert (await tenant.ended(due.id)).stats.completed == 3


async def test_the_log_says_it_once_however_much_fails(
    database_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with in_mid_campaign(database_url, tmp_path) as (tenant, _):
        caplog.clear()
        filling = ["ERROR", "WARNING"] if not tenant.database.is_shared else []
        async with full(tenant.database):
            await found_full(tenant)
            for _ in range(20):
                with pytest.raises(ServiceProblem):
                    await tenant.client.audiences.create(name="No room", rows=people(100))
            await until(lambda: tenant.database.disk_space.refused >= 25)  # those that nobody has asked for
            assert [record.levelname for record in caplog.records] == [*filling, "ERROR"]
            assert "disk" in caplog.text
        await room_again(tenant)
        assert [record.levelname for record in caplog.records] == [*filling, "ERROR", "WARNING"]


def test_the_log_says_it_again_after_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    now = [0.0]
    disk_space = DiskSpace(None, monotonic=lambda: now[0])
    with caplog.at_level(logging.INFO):
        for at, said in ((0.0, 1), (1.0, 1), (SAID_EVERY_S - 0.1, 1), (SAID_EVERY_S, 2), (SAID_EVERY_S + 1, 2)):
            now[0] = at
            with pytest.raises(StorageFull):
                disk_space.check(no_room())
            assert len(caplog.records) == said


def no_room() -> Exception:
    """What SQLite raises."""
    with sqlite3.connect(":memory:") as connection:
        connection.execute("PRAGMA max_page_count = 1")
        try:
            connection.execute("CREATE TABLE t (x)")
        except sqlite3.Error as error:
            return error
    raise AssertionError("there was room")


async def test_health_looks_at_what_is_free_where_nothing_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_service(f"sqlite:///{tmp_path / 'callwright.db'}", tmp_path) as tenant:
        free = [LEAST_FREE]

        def told(_: Path) -> int:
            return free[0]

        monkeypatch.setattr("callwright.service.platform.database.sqlite.disk_space.free_bytes", told)
        assert (await health(tenant))[0] == 200
        free[0] -= 1
        assert (await health(tenant))[0] == 503
