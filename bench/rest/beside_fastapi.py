"""Compares REST with a FastAPI application that does the same on the same schema, on SQLite and on Postgres.

Each has a migrated database of its own, on Postgres on the same server, and they are measured in turns: GETs of one
row, and POSTs that look up the key, check the name, and add a row and an audit entry. The load generator, the servers
and Postgres share the machine's cores; the processor time of a request depends least on that.
"""

import itertools
import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import anyio
import psycopg

from bench.rest.bare import FIELDS
from bench.rest.rest import OPTIONS, ROUND_S, bare, gets, key_of, plain, posts, show
from bench.tool_calls.over_http import Server, once, request, serving

ROUNDS = 4
AIMS = {"SQLite": 5.0, "Postgres": 1.2}
OTHER = "FastAPI"


@dataclass(frozen=True)
class Side:
    """One of the two that are compared: its server and a key, an agent to read, and on Postgres its database."""

    server: Server
    key: str
    agent_id: str
    url: str | None

    def gets(self) -> "Figures":
        """A round of GETs."""
        return self._figures(lambda: gets(self.server, self.key, self.agent_id))

    def posts(self, numbers: "itertools.count[int]") -> "Figures":
        """A round of POSTs."""
        return self._figures(lambda: posts(self.server, self.key, numbers))

    def _figures(self, measured: Callable[[], tuple[float, float]]) -> "Figures":
        before = self._backends()
        per_second, server_us = measured()
        taken = sum(seconds - before.get(process_id, 0.0) for process_id, seconds in self._backends().items())
        return Figures(per_second, server_us, taken / (per_second * ROUND_S) * 1e6)

    def _backends(self) -> dict[int, float]:
        """Seconds of processor time of each process of Postgres that serves this database, by process id."""
        if self.url is None:
            return {}
        asked = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        with psycopg.connect(plain(self.url), autocommit=True) as connection:
            found = [int(row[0]) for row in connection.execute(asked)]
        return {process_id: Server("", process_id).processor_s() for process_id in found}


@dataclass(frozen=True)
class Figures:
    """The results of one round: answers a second, and microseconds of processor time for each."""

    per_second: float
    server_us: float
    postgres_us: float


def checked(server: Server, key: str) -> str:
    """Checks a server's answers and returns the id of an agent it created. Raises RuntimeError if one is wrong."""
    made = json.dumps({**FIELDS, "name": "Checked"}).encode()

    async def answer(secret: str, path: str, body: bytes, status: int) -> str:
        with anyio.fail_after(30):
            head, said = await once(server.address, request(server.address, secret, path, body, {}))
        if head[9:12] != str(status).encode():
            raise RuntimeError((head + said).decode())
        if status >= 400:
            return ""
        data = json.loads(said)["data"]
        if {name: data[name] for name in (*FIELDS, "name")} != json.loads(made):
            raise RuntimeError(said.decode())
        return data["id"]

    async def run() -> str:
        agent_id = await answer(key, "/v1/agents", made, 201)
        if await answer(key, f"/v1/agents/{agent_id}", b"", 200) != agent_id:
            raise RuntimeError("another agent was read than the one that was made")
        await answer(key, "/v1/agents", made, 409)
        await answer(key, f"/v1/agents/{agent_id[:-1]}{'0' if agent_id[-1] != '0' else '1'}", b"", 404)
        await answer(key[:-1] + ("0" if key[-1] != "0" else "1"), f"/v1/agents/{agent_id}", b"", 401)
        return agent_id

    return anyio.run(run, backend_options=OPTIONS)


def compare(engine: str, folder: Path, urls: tuple[str, str] | None, rounds: int) -> None:
    """Measures one engine in turns, and prints the medians. `urls` are two migrated databases on Postgres."""
    folders = [folder / "ours", folder / "theirs"]
    for made in folders:
        made.mkdir()
    ours_url, theirs_url = urls or (None, None)
    flags = [] if ours_url is None else [f"--database={ours_url}"]
    key = key_of(str(folders[0]), *flags, limited=False)
    other_key = key_of(str(folders[1]), *([] if theirs_url is None else [f"--database={theirs_url}"]), limited=False)
    database = theirs_url or f"sqlite:///{folders[1] / 'callwright.db'}"
    with serving(str(folders[0]), *flags) as server, bare(database, program="fastapi_rest.py") as other:
        ours = Side(server, key, checked(server, key), ours_url)
        theirs = Side(other, other_key, checked(other, other_key), theirs_url)
        numbers = itertools.count()
        for side in (ours, theirs):  # warm
            side.gets()
            side.posts(numbers)
        read = [pair(Side.gets, ours, theirs, is_turned=turn % 2 == 1) for turn in range(rounds)]
        written = [
            pair(lambda side: side.posts(numbers), ours, theirs, is_turned=turn % 2 == 1) for turn in range(rounds)
        ]
    for name, pairs in ((f"GET one row, {engine}", read), (f"durable POST, {engine}", written)):
        show(name, [(one.per_second, two.per_second) for one, two in pairs], AIMS[engine], other=OTHER)
        taken = [processor([both[which] for both in pairs], ours_url is not None) for which in (0, 1)]
        print(f"{'':24} processor {taken[0]} a request, {OTHER} {taken[1]}")


def pair(measured: Callable[[Side], Figures], ours: Side, theirs: Side, *, is_turned: bool) -> tuple[Figures, Figures]:
    """A round of both. With `is_turned` the other one is measured first."""
    if is_turned:
        second = measured(theirs)
        return measured(ours), second
    return measured(ours), measured(theirs)


def processor(rounds: list[Figures], on_postgres: bool) -> str:
    """The medians of processor time as text."""
    server = f"{median(one.server_us for one in rounds):.0f} us"
    return f"{server} and {median(one.postgres_us for one in rounds):.0f} us of Postgres" if on_postgres else server


def main(rounds: int = ROUNDS) -> None:
    """Measures both engines."""
    with tempfile.TemporaryDirectory(prefix="callwright-bench-") as folder:
        compare("SQLite", Path(folder), None, rounds)
    from tests.support.database.databases import RunDatabases
    from tests.support.database.run_folder import RunFolder

    run_folder = RunFolder()
    try:
        databases = RunDatabases(run_folder.path)
        urls = (databases.postgres("ours", migrated=True), databases.postgres("theirs", migrated=True))
        with tempfile.TemporaryDirectory(prefix="callwright-bench-") as folder:
            compare("Postgres", Path(folder), urls, rounds)
    finally:
        run_folder.close()


if __name__ == "__main__":
    main(int(os.environ.get("ROUNDS", str(ROUNDS))))
