"""Bare Starlette applications, the baselines of `rest.py`: one answers with a constant, one reads and inserts a row.

Arguments: a port and, for the row, the database's URL.
"""

import itertools
import json
import sys
import threading
from typing import Any

import psycopg
import uvicorn
from anyio import to_thread
from psycopg import sql
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

AGENT: dict[str, Any] = {
    "id": "agt_0Aa1Bb2Cc3Dd4Ee5Ff6Gg7H",
    "created_at": "2026-11-21T09:30:00Z",
    "updated_at": "2026-11-21T09:30:00Z",
    "created_by_key_id": "key_0Aa1Bb2Cc3Dd4Ee5Ff6Gg7H",
    "name": "Bench",
    "voice_id": "en-US-ada",
    "language": "en-US",
    "system_prompt": "Say hello.",
    "welcome_message": "",
    "variables": [],
    "warnings": [],
    "metadata": {},
}


FIELDS = {"voice_id": "en-US-ada", "language": "en-US", "system_prompt": "Say hello."}


def row_of(number: int) -> dict[str, object]:
    """The row that a POST adds to an organization that exists."""
    made = {"org_id": "org_bare", "welcome_message": "", "created_at": 1, "updated_at": 1, "metadata": "{}"}
    return {**FIELDS, **made, "id": f"agt_{number:024}", "name": f"Bare {number}", "created_by_key_id": "key_bare"}


ADD_ORGANIZATION = (
    "INSERT INTO organizations (id, name, plan, created_at) VALUES ('org_bare', 'bare', 'pro', 1) "
    "ON CONFLICT DO NOTHING"
)
COLUMNS = tuple(row_of(0))
ADD_ON_POSTGRES = sql.SQL("INSERT INTO agents ({}) VALUES ({})").format(
    sql.SQL(", ").join(sql.Identifier(name) for name in COLUMNS),
    sql.SQL(", ").join(sql.Placeholder(name) for name in COLUMNS),
)


async def constant(_: Request) -> JSONResponse:
    """One resource, always the same."""
    return JSONResponse({"data": AGENT})


class Rows:
    """Reads and inserts rows of Postgres with a connection for each thread."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._here = threading.local()
        self._numbers = itertools.count(10**12)

    def read(self, row_id: str) -> dict[str, Any]:
        """One row by its id."""
        statement = "SELECT name, system_prompt FROM agents WHERE id = %s"
        found: Any = self._connection().execute(statement, (row_id,)).fetchone()
        return {**AGENT, "id": row_id, "name": found[0], "system_prompt": found[1]}

    def add(self, body: bytes) -> None:
        """Inserts a row with the name that the body gives."""
        row = row_of(next(self._numbers))
        self._connection().execute(ADD_ON_POSTGRES, {**row, "name": json.loads(body)["name"]})

    def _connection(self) -> psycopg.Connection[Any]:
        if not hasattr(self._here, "connection"):
            self._here.connection = psycopg.connect(self._url, autocommit=True)
            self._here.connection.execute(ADD_ORGANIZATION)
        return self._here.connection

    async def made(self, request: Request) -> JSONResponse:
        """Adds a row."""
        body = await request.body()
        await to_thread.run_sync(self.add, body)
        return JSONResponse({"data": AGENT}, 201)

    async def answer(self, request: Request) -> JSONResponse:
        """The row that the path names."""
        return JSONResponse({"data": await to_thread.run_sync(self.read, request.path_params["id"])})


if __name__ == "__main__":
    routes = [Route("/v1/agents/{id}", constant)]
    if len(sys.argv) > 2:
        rows = Rows(sys.argv[2])
        routes = [Route("/v1/agents/{id}", rows.answer), Route("/v1/agents", rows.made, methods=["POST"])]
    application = Starlette(routes=routes)
    uvicorn.run(application, port=int(sys.argv[1]), log_level="error", access_log=False)
