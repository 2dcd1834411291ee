"""A pgbouncer in transaction mode between tests and the run's Postgres server.

In transaction mode a connection of the service has another connection of the server in each transaction, so nothing
that is set for a session survives. pgbouncer is a program of the system; `scripts/pgbouncer` says how to install it.
"""

import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pytest
from sqlalchemy import URL, make_url

from tests.support.database.postgres import nobody

START_LIMIT_S = 10
STOP_LIMIT_S = 10
PORT = 6432
"""Part of the name of a Unix socket; nobody listens at it."""

# `auth_type = any` lets everybody in as the account in `[databases]`, and into the console too.
CONFIGURATION = """\
[databases]
* = {server}

[pgbouncer]
unix_socket_dir = {folder}
listen_port = {port}
auth_type = any
pool_mode = transaction
default_pool_size = 20
max_client_conn = 1000
"""


class Pooler:
    """A running pgbouncer whose files are all in `folder`, which must not exist. `url` leads through it.

    Raises:
        RuntimeError: pgbouncer or the account `nobody` is missing, or it does not start: the message says.
    """

    def __init__(self, folder: Path, server_url: str) -> None:
        self.url = f"postgresql+psycopg://postgres@/postgres?host={quote(str(folder), safe='')}&port={PORT}"
        self._log = folder / "log"
        program = installed()
        if program is None:
            raise RuntimeError("pgbouncer is not installed")
        folder.mkdir(mode=0o700)
        account = dict[str, Any]()
        if os.geteuid() == 0:  # pgbouncer refuses to run as root
            account = nobody()
            os.chown(folder, account["user"], account["group"])
        settings = folder / "pgbouncer.ini"
        server = target(make_url(server_url))
        settings.write_text(CONFIGURATION.format(server=server, folder=folder, port=PORT), encoding="utf-8")
        with self._log.open("w", encoding="utf-8") as log:
            self._process = subprocess.Popen(
                [program, str(settings)], cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, **account
            )
        self._wait_until_ready()

    def stop(self) -> None:
        """Stops it at once; connections through it break."""
        self._process.terminate()
        try:
            self._process.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(STOP_LIMIT_S)

    def _wait_until_ready(self) -> None:
        end = time.monotonic() + START_LIMIT_S
        while True:
            try:
                transactions(self.url)
                return
            except psycopg.OperationalError as error:
                if self._process.poll() is not None:
                    raise self._failure(f"pgbouncer ended with status {self._process.returncode}") from error
                if time.monotonic() > end:
                    self.stop()
                    raise self._failure(f"pgbouncer was not ready within {START_LIMIT_S} s") from error
            time.sleep(0.02)

    def _failure(self, reason: str) -> RuntimeError:
        return RuntimeError(f"{reason}\n{self._log.read_text(encoding='utf-8', errors='replace')}".rstrip())


def installed() -> str | None:
    """Where pgbouncer is. Systems have it in a folder where accounts other than root do not look."""
    return shutil.which("pgbouncer", path=os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin"]))


def transactions(pooler_url: str) -> int:
    """How many transactions have gone through a pgbouncer, those in its own console left out."""
    console = make_url(pooler_url).set(drivername="postgresql", database="pgbouncer")
    # The console speaks the simple protocol alone, and knows no transactions.
    with psycopg.connect(
        console.render_as_string(hide_password=False),
        autocommit=True,
        connect_timeout=5,
        cursor_factory=psycopg.ClientCursor,
    ) as connection:
        cursor = connection.execute("SHOW STATS_TOTALS")
        names = [column.name for column in cursor.description or ()]
        place, database = names.index("xact_count"), names.index("database")
        return sum(int(row[place]) for row in cursor if row[database] != "pgbouncer")


def target(server: URL) -> str:
    """Where the server is, as a line of `[databases]` says it."""
    said: dict[str, Any] = {"host": server.host, "port": server.port, **server.query}
    said |= {"user": server.username, "password": server.password}
    known = ("host", "port", "user", "password")
    return " ".join(f"{name}='{str(said[name]).replace(chr(39), 2 * chr(39))}'" for name in known if said[name])


class BehindPooler:
    """A pytest plugin: leaves out what does not reach Postgres, and counts the transactions."""

    def __init__(self, folder: Path) -> None:
        self._answer = folder / "postgres-pooler"

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Keeps tests on Postgres."""
        kept = [item for item in items if ("engine", "postgres") in item.user_properties]
        config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
        items[:] = kept

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Prints how many transactions went through pgbouncer, so that a green run shows that they did."""
        if self._answer.exists():
            count = transactions(self._answer.read_text(encoding="utf-8"))
            terminalreporter.write_line(f"pgbouncer: {count} transactions")
