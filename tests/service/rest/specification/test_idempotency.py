"""Idempotency keys where it is hard: many at once, a process that dies, methods that know no keys."""

from pathlib import Path
from typing import Any

import anyio
import pytest
from sqlalchemy import select

from callwright.service import app
from callwright.service.tables.schema import audit_log
from tests.support import resources
from tests.support.database.databases import Engine
from tests.support.http.raw_requests import AsyncClient, Response, raw_client, refused
from tests.support.processes.claiming import BODY, ONCE, claiming_process
from tests.support.service import Tenant, open_service
from tests.support.tasks import all_at_once

KILLED = -9


async def audited(tenant: Tenant, action: str) -> list[Any]:
    """The subjects of the audit entries of an action."""
    mine = (audit_log.c.org_id == tenant.org_id) & (audit_log.c.action == action)
    statement = select(audit_log.c.subject).where(mine)
    return await tenant.database.read(lambda connection: list(connection.execute(statement).scalars()))


@pytest.mark.requirement("IDEM-02", "IDEM-07", "IDEM-16")
async def test_two_hundred_creations_at_once_make_one_resource_and_one_audit_entry(
    tenant: Tenant, http: AsyncClient
) -> None:
    answers: list[Response] = []

    async def create() -> None:
        answers.append(await http.post("/v1/audiences", json=BODY, headers=ONCE))

    await all_at_once(200, create, within_s=60)
    (made,) = (await http.get("/v1/audiences")).json()["data"]
    assert await audited(tenant, "create_audience") == [made["id"]]
    assert [answer.status_code for answer in answers] == [201] * 200
    assert {answer.content for answer in answers} == {answers[0].content}
    assert {answer.json()["data"]["id"] for answer in answers} == {made["id"]}
    assert [answer.headers.get("idempotent-replayed") for answer in answers].count(None) == 1


@pytest.mark.requirement("IDEM-08", "IDEM-15")
async def test_a_process_that_is_killed_before_its_answer_leaves_the_key_free(
    database_url: str, tmp_path: Path, tenant: Tenant, http: AsyncClient
) -> None:
    with anyio.fail_after(90):
        async with claiming_process(database_url, tmp_path / "other", tenant.api_key) as process:
            assert (await http.get("/v1/audiences")).json()["data"] == []
            process.kill()
            assert await process.wait() == KILLED
        again = await http.post("/v1/audiences", json=BODY, headers=ONCE)
        assert (again.status_code, again.headers.get("idempotent-replayed")) == (201, None)
        replayed = await http.post("/v1/audiences", json=BODY, headers=ONCE)
    assert replayed.content == again.content
    assert [entry["id"] for entry in (await http.get("/v1/audiences")).json()["data"]] == [again.json()["data"]["id"]]
    assert len(await audited(tenant, "create_audience")) == 1


@pytest.mark.requirement("IDEM-07", "ERR-82")
async def test_a_key_that_another_process_holds_is_waited_for_or_refused_for_now(
    engine: Engine, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite has one writer, for whom the next one waits. Postgres has many, who wait a bounded time for one key."""
    monkeypatch.setattr(app, "LOCK_LIMIT_MS", 100)
    answers: list[Response] = []
    async with open_service(database_url, tmp_path, workers=False) as tenant, raw_client(tenant) as http:

        async def create() -> None:
            answers.append(await http.post("/v1/audiences", json=BODY, headers=ONCE))

        with anyio.fail_after(90):
            async with claiming_process(database_url, tmp_path / "other", tenant.api_key) as process:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(create)
                    if engine == "postgres":
                        while not answers:  # noqa: ASYNC110  # the other process still holds the key
                            await anyio.sleep(0.01)
                        refused(answers[0], 409, "idempotency_in_progress")
                        assert answers[0].headers["retry-after"] == "1"
                        answers.clear()
                    process.kill()
                    await process.wait()
                    if engine == "postgres":
                        await create()
        assert [answer.status_code for answer in answers] == [201]
        assert (await http.get("/v1/audiences")).json()["pagination"]["total"] == 1


@pytest.mark.requirement("IDEM-12")
async def test_without_a_key_every_creation_counts(http: AsyncClient) -> None:
    answers = [await http.post("/v1/phone_numbers", json={"country": "US"}) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [201] * 3
    assert (await http.get("/v1/phone_numbers")).json()["pagination"]["total"] == 3
    assert not any("idempotent-replayed" in answer.headers for answer in answers)


@pytest.mark.requirement("IDEM-13")
async def test_the_header_means_nothing_to_get_and_delete(tenant: Tenant, http: AsyncClient) -> None:
    first, second = await resources.agent(tenant, "First"), await resources.agent(tenant, "Second")
    for headers in (ONCE, {"Idempotency-Key": "of no good form"}):
        assert (await http.get("/v1/agents", headers=headers)).json()["pagination"]["total"] == 2
    await resources.agent(tenant, "Third")
    assert (await http.get("/v1/agents", headers=ONCE)).json()["pagination"]["total"] == 3
    for made in (first, second):
        answer = await http.delete(f"/v1/agents/{made.id}", headers=ONCE)
        assert (answer.status_code, answer.headers.get("idempotent-replayed")) == (204, None)
    assert (await http.delete(f"/v1/agents/{first.id}", headers=ONCE)).status_code == 404
    assert (await http.get("/v1/agents")).json()["pagination"]["total"] == 1
