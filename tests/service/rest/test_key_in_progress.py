"""A request whose idempotency key another transaction holds: it waits, and after a while is told to come again."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

import anyio
import pytest
from anyio import to_thread
from sqlalchemy import Connection, select, text

from callwright.client import Client
from callwright.client.transport import ASGITransport
from callwright.service.platform.database.engines import Limits, make_engine
from callwright.service.rest import idempotency
from callwright.service.rest.idempotency import StoredAnswer
from callwright.service.tables.schema import api_keys
from tests.support.database.databases import Engine
from tests.support.http.raw_requests import AsyncClient, Response, refused
from tests.support.service import BASE_URL, Tenant

ONCE = {"Idempotency-Key": "once"}
BODY = b'{"name":"Patients"}'
LIMIT_S = 60
_WAITING = text("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()")


@dataclass(frozen=True)
class Holder:
    """An open transaction that has claimed the key for the request and makes what it asks for."""

    connection: Connection
    org_id: str
    key_id: str

    async def dies(self) -> None:
        await to_thread.run_sync(self.connection.rollback)

    async def answers(self, body: bytes) -> None:
        """Its answer is kept with the key."""
        stored = StoredAnswer(201, body)
        store = partial(idempotency.store, personal=False)
        await to_thread.run_sync(store, self.connection, self.org_id, self.key_id, "once", stored)
        await to_thread.run_sync(self.connection.commit)


@asynccontextmanager
async def held(tenant: Tenant) -> AsyncGenerator[Holder]:
    """The key, held until the holder ends or the block does."""
    services, mine = tenant.services, select(api_keys.c.id).where(api_keys.c.org_id == tenant.org_id)
    key_id: str = await services.database.read(lambda connection: connection.execute(mine).scalar_one())
    engine = make_engine(services.database.url, writer=True)
    fingerprint = idempotency.request_fingerprint("POST", "/audiences", BODY)

    def begin() -> Connection:
        connection = engine.connect()
        idempotency.claim(connection, tenant.org_id, key_id, "once", fingerprint, services.clock.now_ms(), 0)
        return connection

    connection = await to_thread.run_sync(begin)
    try:
        yield Holder(connection, tenant.org_id, key_id)
    finally:
        await to_thread.run_sync(connection.close)
        engine.dispose()


async def waited_for(tenant: Tenant) -> None:
    """Returns once somebody waits for the key. SQLite does not tell; there one writer waits for the other anyway."""
    if not tenant.database.is_shared:
        return
    reads = tenant.database.read
    while not await reads(lambda connection: connection.execute(_WAITING).scalar()):  # noqa: ASYNC110  # elsewhere
        await anyio.sleep(0.01)


@pytest.mark.requirement("IDEM-07", "ERR-82")
@pytest.mark.service(limits=Limits(lock_ms=100))
async def test_the_client_comes_again_by_itself_when_its_key_is_in_progress(engine: Engine, tenant: Tenant) -> None:
    pauses: list[float] = []
    made: list[str] = []
    async with held(tenant) as holder:

        async def pause(wait_s: float) -> None:
            pauses.append(wait_s)
            if len(pauses) == 2:
                await holder.dies()

        transport = ASGITransport(app=tenant.service.asgi)
        async with Client(BASE_URL, tenant.api_key, transport=transport, sleep=pause) as client:

            async def create() -> None:
                made.append((await client.idempotent("once").audiences.create(name="Patients")).id)

            with anyio.fail_after(LIMIT_S):
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(create)
                    if engine == "sqlite":
                        await holder.dies()
                await create()
        assert len(pauses) == (2 if engine == "postgres" else 0)
        assert all(1 <= wait_s < 2 for wait_s in pauses)  # what the service asks for, and a little by chance
        assert made[0] == made[1]
        assert [entry.id async for entry in tenant.client.audiences.list()] == made[:1]


@pytest.mark.requirement("IDEM-02", "IDEM-07")
@pytest.mark.service(limits=Limits(lock_ms=60_000))
async def test_who_waits_for_a_key_gets_the_answer_of_the_one_that_held_it(tenant: Tenant, http: AsyncClient) -> None:
    kept = b'{"data":{"id":"aud_of_the_first"}}'
    answers: list[Response] = []

    async def create() -> None:
        answers.append(await http.post("/v1/audiences", content=BODY, headers=ONCE))

    with anyio.fail_after(LIMIT_S):
        async with held(tenant) as holder, anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(create)
            await waited_for(tenant)
            await holder.answers(kept)
    assert [(answer.status_code, answer.content) for answer in answers] == [(201, kept)] * 3
    assert [answer.headers["idempotent-replayed"] for answer in answers] == ["true"] * 3


@pytest.mark.requirement("IDEM-05", "IDEM-07")
@pytest.mark.service(limits=Limits(lock_ms=2_500))
async def test_another_body_with_a_key_in_progress_keeps_nothing(
    engine: Engine, tenant: Tenant, http: AsyncClient
) -> None:
    answers: list[Response] = []

    async def create() -> None:
        answers.append(await http.post("/v1/audiences", content=b'{"name":"Others"}', headers=ONCE))

    with anyio.fail_after(LIMIT_S):
        async with held(tenant) as holder, anyio.create_task_group() as tasks:
            if engine == "postgres":
                await create()
                refused(answers.pop(), 409, "idempotency_in_progress")
            tasks.start_soon(create)
            await waited_for(tenant)
            await holder.answers(b'{"data":{"id":"aud_of_the_first"}}')
    refused(answers[0], 422, "idempotency_key_reused", "Idempotency-Key")
    assert (await http.get("/v1/audiences")).json()["data"] == []
