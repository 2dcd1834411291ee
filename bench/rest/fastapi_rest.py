"""The baseline of `beside_fastapi.py`: two operations on agents, written the usual way with FastAPI and SQLAlchemy.

Arguments: a port and the URL of a database that callwright has migrated and that has an organization with a key. Writes
are as durable as the database's server makes them: SQLite syncs each commit, Postgres follows its settings.
"""

import hashlib
import json
import sys
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Annotated, Any
from uuid import uuid4

import uvicorn
from fastapi import Depends, FastAPI, HTTPException
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, StringConstraints
from sqlalchemy import bindparam, event, insert, make_url, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from callwright.service.tables.schema import agents, api_keys, audit_log, organizations

CONNECTIONS = 8
"""All stay open. On two cores, 8 serve more requests than the 15 that SQLAlchemy's pool opens at most by default."""
SQLITE_WAITS_S = 30
"""How long a connection waits for another one that writes."""
PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON")

FIND_KEY = (
    select(api_keys.c.id, api_keys.c.org_id, organizations.c.plan)
    .join(organizations, organizations.c.id == api_keys.c.org_id)
    .where(api_keys.c.hash == bindparam("hash"), api_keys.c.revoked_at.is_(None))
)
FIND = select(agents).where(agents.c.id == bindparam("id"), agents.c.org_id == bindparam("org"))
NAMED = select(agents.c.id).where(agents.c.org_id == bindparam("org"), agents.c.name == bindparam("name"))
ADD, ADD_ENTRY = insert(agents), insert(audit_log)

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
Bearer = Annotated[HTTPAuthorizationCredentials, Depends(HTTPBearer())]


class NewAgent(BaseModel):
    """What a POST takes."""

    name: Name
    voice_id: Name
    language: Annotated[str, StringConstraints(min_length=2, max_length=40)]
    system_prompt: Annotated[str, StringConstraints(min_length=1, max_length=32_768)]
    welcome_message: Annotated[str, StringConstraints(max_length=2_000)] = ""
    metadata: dict[str, str] = {}


class Agent(NewAgent):
    """An agent as callers see it."""

    id: str
    created_at: datetime
    updated_at: datetime
    created_by_key_id: str | None


class Answer(BaseModel):
    """The body of every answer."""

    data: Agent


def engine_of(url: str) -> AsyncEngine:
    """An engine with asyncpg or aiosqlite. On SQLite a transaction begins before the first INSERT, as the driver has
    it.

    Looking up the key outside a transaction takes half as long there, and blocks no writer.
    """
    made = make_url(url)
    if made.get_backend_name() == "postgresql":
        return create_async_engine(made.set(drivername="postgresql+asyncpg"), pool_size=CONNECTIONS, max_overflow=0)
    engine = create_async_engine(
        made.set(drivername="sqlite+aiosqlite"),
        pool_size=CONNECTIONS,
        max_overflow=0,
        connect_args={"timeout": SQLITE_WAITS_S},
    )

    def on_connect(connection: Any, _: Any) -> None:
        for pragma in PRAGMAS:
            connection.execute(f"PRAGMA {pragma}").close()

    event.listen(engine.sync_engine, "connect", on_connect)
    return engine


async def key_of(connection: AsyncConnection, secret: str) -> Any:
    """The row of the key and its organization. Raises HTTPException 401 if there is none."""
    found = await connection.execute(FIND_KEY, {"hash": hashlib.sha256(secret.encode()).hexdigest()})
    if (key := found.one_or_none()) is None:
        raise HTTPException(401, "The API key is unknown or revoked.")
    return key


def shown(row: Mapping[Any, Any]) -> Answer:
    """A row as callers see it."""
    moments = {name: datetime.fromtimestamp(row[name] / 1000, UTC) for name in ("created_at", "updated_at")}
    return Answer(data=Agent.model_validate({**row, **moments, "metadata": json.loads(row["metadata"])}))


def application(url: str) -> FastAPI:
    """The application on this database."""
    engine = engine_of(url)
    # The statements of a read need no common snapshot. On SQLite, reads begin no transaction anyway.
    reading = engine.execution_options(isolation_level="AUTOCOMMIT") if engine.name == "postgresql" else engine

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncGenerator[None]:
        yield
        await engine.dispose()

    app = FastAPI(lifespan=lifespan)

    @app.get("/v1/agents/{agent_id}")
    async def get_agent(agent_id: str, bearer: Bearer) -> Answer:
        async with reading.connect() as connection:
            key = await key_of(connection, bearer.credentials)
            found = await connection.execute(FIND, {"id": agent_id, "org": key.org_id})
            row = found.mappings().one_or_none()
        if row is None:
            raise HTTPException(404, "There is no such agent.")
        return shown(row)

    @app.post("/v1/agents", status_code=201)
    async def create_agent(asked: NewAgent, bearer: Bearer) -> Answer:
        now_ms = time.time_ns() // 1_000_000
        taken = HTTPException(409, "Another agent has this name.")
        async with engine.connect() as connection:
            key = await key_of(connection, bearer.credentials)
            if (await connection.execute(NAMED, {"org": key.org_id, "name": asked.name})).first() is not None:
                raise taken
            row = {
                **asked.model_dump(),
                "id": f"agt_{uuid4().hex}",
                "org_id": key.org_id,
                "metadata": json.dumps(asked.metadata),
                "created_at": now_ms,
                "updated_at": now_ms,
                "created_by_key_id": key.id,
            }
            entry = {
                "id": f"aud_{uuid4().hex}",
                "org_id": key.org_id,
                "at": now_ms,
                "actor": key.id,
                "action": "create_agent",
                "subject": row["id"],
                "changes": json.dumps({name: {"after": value} for name, value in asked.model_dump().items()}),
            }
            try:
                await connection.execute(ADD, row)
            except IntegrityError:  # somebody else took the name since it was looked up
                raise taken from None
            await connection.execute(ADD_ENTRY, entry)
            await connection.commit()
        return shown(row)

    return app


if __name__ == "__main__":
    fast = sys.platform != "win32"
    uvicorn.run(
        application(sys.argv[2]),
        port=int(sys.argv[1]),
        loop="uvloop" if fast else "auto",
        http="httptools" if fast else "auto",
        log_level="error",
        access_log=False,
    )
