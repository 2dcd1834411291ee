"""Bare Starlette applications, the baselines of `rest.py`: one answers with a constant, one with a row out of Postgres.

Arguments: a port and, for the row, the database's URL.
"""

import sys
import threading
from typing import Any

import psycopg
import uvicorn
from anyio import to_thread
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


async def constant(_: Request) -> JSONResponse:
    """One resource, always the same."""
    return JSONResponse({"data": AGENT})


class Rows:
    """Reads rows with a connection for each thread."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._here = threading.local()

    def read(self, row_id: str) -> dict[str, Any]:
        """One row by its id."""
        if not hasattr(self._here, "connection"):
            self._here.connection = psycopg.connect(self._url, autocommit=True)
        statement = "SELECT name, system_prompt FROM agents WHERE id = %s"
        found: Any = self._here.connection.execute(statement, (row_id,)).fetchone()
        return {**AGENT, "id": row_id, "name": found[0], "system_prompt": found[1]}

    async def answer(self, request: Request) -> JSONResponse:
        """The row that the path names."""
        return JSONResponse({"data": await to_thread.run_sync(self.read, request.path_params["id"])})


if __name__ == "__main__":
    answering = Rows(sys.argv[2]).answer if len(sys.argv) > 2 else constant
    application = Starlette(routes=[Route("/v1/agents/{id}", answering)])
    uvicorn.run(application, port=int(sys.argv[1]), log_level="error", access_log=False)
