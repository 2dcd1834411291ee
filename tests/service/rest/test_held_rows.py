"""Writes whose rows others hold: told to come again in words, and nobody else waits. Stops wait for nobody silent."""

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest
from sqlalchemy import Connection, Table, make_url, select
from sqlalchemy.exc import DBAPIError

from callwright.service.platform.database.engines import Limits, make_engine
from callwright.service.platform.database.sqlite import group_commit
from callwright.service.tables.schema import deployments, endpoint_queues, webhooks
from tests.support.campaigns import draft, people, started
from tests.support.http.raw_requests import Response, raw_client, refused
from tests.support.service import Tenant, open_service

ON_POSTGRES = pytest.mark.parametrize("engine", ["postgres"], indirect=True)
LIMIT_S = 40


@contextmanager
def held(database_url: str, table: Table, row_id: str) -> Generator[Connection]:
    """A row that a transaction holds which says nothing more."""
    engine = make_engine(database_url)
    with engine.connect() as connection:
        assert connection.execute(select(table).where(table.c.id == row_id).with_for_update()).one()
        yield connection
        connection.invalidate()  # what it held may have been ended
    engine.dispose()


@ON_POSTGRES
@pytest.mark.requirement("ERR-95")
@pytest.mark.service(limits=Limits(lock_ms=1_500))
async def test_a_change_whose_row_is_held_is_told_to_come_again_and_other_organizations_go_on(
    tenant: Tenant, other: Tenant, database_url: str
) -> None:
    answers: list[Response] = []
    made = await draft(tenant, people(2))
    with held(database_url, deployments, made.id), anyio.fail_after(LIMIT_S):
        async with raw_client(tenant) as http, anyio.create_task_group() as tasks:

            async def rename(index: int) -> None:
                answers.append(await http.patch(f"/v1/deployments/{made.id}", json={"name": f"Name {index}"}))

            for index in range(12):
                tasks.start_soon(rename, index)
            await anyio.sleep(0.1)
            with anyio.fail_after(4):
                mine = await started(other, people(2))
                assert (await other.client.deployments.pause(id=mine.id)).status == "paused"
                assert (await tenant.client.deployments.get(id=made.id)).name == made.name
    assert len(answers) == 12
    for answer in answers:
        refused(answer, 503, "service_unavailable")
        assert answer.headers["retry-after"] == "1"


@ON_POSTGRES
@pytest.mark.requirement("STATE-31")
@pytest.mark.parametrize("action", ["pause", "cancel"])
async def test_pausing_and_cancelling_wait_for_no_silent_holder(database_url: str, tenant: Tenant, action: str) -> None:
    made = await started(tenant, people(2))
    with held(database_url, deployments, made.id) as holder, anyio.fail_after(LIMIT_S):
        async with raw_client(tenant) as http:
            with anyio.fail_after(4):
                answer = await http.post(f"/v1/deployments/{made.id}/{action}")
        assert answer.json()["data"]["status"] == {"pause": "paused", "cancel": "cancelled"}[action]
        with pytest.raises(DBAPIError):
            holder.execute(select(deployments.c.id))


@ON_POSTGRES
async def test_a_subscription_is_changed_and_deleted_although_a_silent_sender_holds_it(
    database_url: str, tenant: Tenant
) -> None:
    made = await tenant.client.webhooks.create(url="https://example.com/hook", events=["call.completed"])
    with held(database_url, webhooks, made.id), anyio.fail_after(LIMIT_S):
        changed = await tenant.client.webhooks.update(id=made.id, description="Changed")
    assert changed.description == "Changed"
    engine = make_engine(database_url)
    with engine.connect() as connection, anyio.fail_after(LIMIT_S):
        connection.execute(select(endpoint_queues).with_for_update())
        await tenant.client.webhooks.delete(id=made.id)
        connection.invalidate()
    engine.dispose()


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_a_file_into_which_another_process_writes_for_long_is_no_failure_of_the_service(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_commit, "SQLITE_WAITS_S", 0)
    async with open_service(database_url, tmp_path, workers=False) as tenant, raw_client(tenant) as http:
        other = sqlite3.connect(make_url(database_url).database or "", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        for path, body in (("audiences", {"name": "A"}), ("webhooks", {"url": "https://example.com", "events": ["*"]})):
            answer = await http.post(f"/v1/{path}", json=body)
            assert "Another process is writing" in refused(answer, 503, "service_unavailable")["message"]
            assert answer.headers["retry-after"] == "1"
        other.execute("ROLLBACK")
        other.close()
        assert (await http.post("/v1/audiences", json={"name": "A"})).status_code == 201
