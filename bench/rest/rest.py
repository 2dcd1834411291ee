"""Compares REST with bare baselines of the same run, on SQLite and on Postgres.

A GET of one row is compared with a Starlette application that answers a constant, on Postgres also with one that reads
the row with psycopg; a durable POST with a loop that commits one row at a time, on Postgres also with an application
that inserts the row. The load generator and the servers share the cores; processor times depend least on that.
"""

import itertools
import json
import os
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import anyio
import psycopg
from sqlalchemy import make_url

from bench.rest.bare import ADD_ON_POSTGRES, ADD_ORGANIZATION, COLUMNS, FIELDS, row_of
from bench.rest.load import answered
from bench.tool_calls.over_http import Server, once, request, serving
from callwright.service.tables.migrations import upgrade

CLI = [sys.executable, "-m", "callwright.server.main"]
ROUND_S = 3.0
GET_CONNECTIONS = 16
POST_CONNECTIONS = 64
OPTIONS = {"use_uvloop": sys.platform != "win32"}


@contextmanager
def bare(*arguments: str, program: str = "bare.py") -> Generator[Server]:
    """Starts a baseline: `program` of this folder with a port and these arguments."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, str(Path(__file__).with_name(program)), str(port), *arguments])
    try:
        for _ in range(200):
            with socket.socket() as trial:
                if trial.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield Server(f"127.0.0.1:{port}", process.pid)
    finally:
        process.terminate()
        process.wait(30)


def key_of(folder: str, *flags: str, limited: bool = True) -> str:
    """Creates an organization and returns a key. With `limited` its requests are counted against limits it never
    reaches.
    """

    def run(*words: str) -> str:
        command = [*CLI, *words, "--data", folder, *flags]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    run("orgs", "create", "bench", "--plan=enterprise")
    if limited:
        run("orgs", "change", "bench", "--requests-per-second=1000000", "--requests-per-day=1000000000")
    return run("keys", "create", "--org=bench", "--quiet")


def gets(server: Server, key: str, agent_id: str) -> tuple[float, float]:
    """GETs a second, and microseconds of processor time for each."""
    wanted = request(server.address, key, f"/v1/agents/{agent_id}", b"", {})
    before = server.processor_s()
    count = answered(server.address, lambda: wanted, 200, GET_CONNECTIONS, ROUND_S)
    return count / ROUND_S, (server.processor_s() - before) / count * 1e6


def posts(server: Server, key: str, numbers: "itertools.count[int]") -> tuple[float, float]:
    """Durable POSTs a second, each of a new agent, and microseconds of processor time for each."""
    body = json.dumps({**FIELDS, "name": "Bench 000000000"}).encode()
    begin, _, end = request(server.address, key, "/v1/agents", body, {}).partition(b"000000000")
    before = server.processor_s()
    count = answered(server.address, lambda: begin + b"%09d" % next(numbers) + end, 201, POST_CONNECTIONS, ROUND_S)
    return count / ROUND_S, (server.processor_s() - before) / count * 1e6


def commits_on_sqlite(folder: str, numbers: "itertools.count[int]") -> float:
    """Commits a second of a loop that adds the same row to the same table in a file of its own, as durably."""
    path = Path(folder, "bare.db")
    upgrade.upgrade(f"sqlite:///{path}")
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", "PRAGMA foreign_keys=ON", ADD_ORGANIZATION):
        connection.execute(statement)
    add = f"INSERT INTO agents ({', '.join(COLUMNS)}) VALUES ({', '.join(':' + name for name in COLUMNS)})"
    made, until = 0, time.perf_counter() + ROUND_S
    while time.perf_counter() < until:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(add, row_of(next(numbers)))
        connection.execute("COMMIT")
        made += 1
    connection.close()
    return made / ROUND_S


def commits_on_postgres(url: str, numbers: "itertools.count[int]") -> float:
    """Commits a second of a loop that adds the same row to the same table over one connection."""
    with psycopg.connect(plain(url), autocommit=True) as connection:
        connection.execute(ADD_ORGANIZATION)
        made, until = 0, time.perf_counter() + ROUND_S
        while time.perf_counter() < until:
            connection.execute(ADD_ON_POSTGRES, row_of(next(numbers)))
            made += 1
    return made / ROUND_S


def plain(url: str) -> str:
    """The URL in the form that psycopg accepts."""
    return make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)


def compare(engine: str, folder: str, url: str | None, rounds: int) -> None:
    """Measures one engine in turns with its baselines, and prints the medians."""
    flags = [] if url is None else [f"--database={url}"]
    key = key_of(folder, *flags)
    with serving(folder, *flags) as server, bare() as other:
        numbers = itertools.count()
        posts(server, key, numbers)  # warm
        agent_id = made_agent(server, key)
        gets(server, key, agent_id)
        gets(other, key, agent_id)
        read = [(gets(server, key, agent_id), gets(other, key, agent_id)) for _ in range(rounds)]
        rows: list[tuple[float, float]] = []
        added: list[tuple[float, float]] = []
        if url is not None:
            with bare(plain(url)) as one_row:
                gets(one_row, key, agent_id)
                posts(one_row, key, numbers)
                rows = [(gets(server, key, agent_id)[0], gets(one_row, key, agent_id)[0]) for _ in range(rounds)]
                added = [(posts(server, key, numbers)[0], posts(one_row, key, numbers)[0]) for _ in range(rounds)]
        bare_commits = (
            (lambda: commits_on_sqlite(folder, numbers)) if url is None else (lambda: commits_on_postgres(url, numbers))
        )
        written = [(posts(server, key, numbers), bare_commits()) for _ in range(rounds)]
    ours_us, bare_us = (median(pair[which][1] for pair in read) for which in (0, 1))
    show(f"GET one row, {engine}", [(ours[0], theirs[0]) for ours, theirs in read], 0.4)
    print(f"{'':24} processor {ours_us:.0f} us a request, bare {bare_us:.0f} us")
    if rows:
        show("  beside a bare row", rows, 0.4)
    show(f"durable POST, {engine}", [(ours[0], theirs) for ours, theirs in written], 0.6)
    print(f"{'':24} processor {median(ours[1] for ours, _ in written):.0f} us a request")
    if added:
        show("  beside a bare insert", added, 0.6)


def show(name: str, pairs: list[tuple[float, float]], aim: float, *, other: str = "bare") -> None:
    """Prints one comparison. `other` is the name of the baseline."""
    ours, theirs = (median(pair[which] for pair in pairs) for which in (0, 1))
    ratio = median(one / other for one, other in pairs)
    print(f"{name:24} {ours:8.0f}/s   {other} {theirs:8.0f}/s   ratio {ratio:5.2f}  (aim {aim:.2f})")


def made_agent(server: Server, key: str) -> str:
    """The id of an agent to read."""
    listed = request(server.address, key, "/v1/agents?per_page=1", b"", {})

    async def run() -> str:
        _, body = await once(server.address, listed)
        return json.loads(body)["data"][0]["id"]

    return anyio.run(run, backend_options=OPTIONS)


def main(rounds: int = 3) -> None:
    """Measures both engines."""
    with tempfile.TemporaryDirectory(prefix="callwright-bench-") as folder:
        compare("SQLite", folder, None, rounds)
    from tests.support.database.databases import RunDatabases
    from tests.support.database.run_folder import RunFolder

    run_folder = RunFolder()
    try:
        databases = RunDatabases(run_folder.path)
        with tempfile.TemporaryDirectory(prefix="callwright-bench-") as folder:
            compare("Postgres", folder, databases.postgres("bench", migrated=True), rounds)
    finally:
        run_folder.close()


if __name__ == "__main__":
    main(int(os.environ.get("ROUNDS", "3")))
