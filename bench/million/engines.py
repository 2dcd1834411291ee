"""The databases of the walks: SQLite in a folder, or Postgres, and the processor time that a database takes itself."""

import os
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg
from sqlalchemy import make_url
from tests.support.database.databases import SERVER_SETTING
from tests.support.database.postgres import Server, create_database, databases

ENGINES = ("sqlite", "postgres")
_HOST = "127.0.0.1"
_SETTINGS = {"shared_buffers": "512MB", "max_wal_size": "8GB", "max_parallel_workers_per_gather": "0"}
"""One process answers a statement, so that its processor time is all there is."""


@dataclass(frozen=True)
class Engine:
    """Where databases are: those of SQLite in `folder`, those of Postgres on the server `url`."""

    folder: Path
    server_url: str | None

    def database_url(self, name: str) -> str:
        """The database of this name, which is made if it is not there."""
        if self.server_url is None:
            return f"sqlite:///{self.folder}/{name}/walk.db"
        if f"walk_{name}" not in databases(self.server_url, prefix="walk_"):
            create_database(self.server_url, f"walk_{name}")
        return make_url(self.server_url).set(database=f"walk_{name}").render_as_string(hide_password=False)


def analyze(url: str) -> None:
    """Gathers what Postgres wants to know of a database that was just filled."""
    if not url.startswith("sqlite"):
        with psycopg.connect(_plain(url), autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")


@contextmanager
def engine_of(name: str, folder: Path) -> Generator[Engine]:
    """The engine of this name. Postgres is the server that TEST_PG_URL names, on this machine, or one of its own."""
    with ExitStack() as stack:
        url = os.environ.get(SERVER_SETTING) if name == "postgres" else None
        if name == "postgres" and not url:
            made = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="callwright-bench-")))
            made.chmod(0o755)  # its server runs as another user
            server = Server(made / "postgres", listens=_HOST, trusts="127.0.0.0/8", settings=_SETTINGS)
            stack.callback(server.stop)
            url = f"postgresql+psycopg://postgres@{_HOST}:{server.port}/postgres"
        yield Engine(folder, url)


def _plain(url: str) -> str:
    return make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)


def backends(url: str) -> Sequence[int]:
    """The processes of Postgres that serve a database; none for SQLite, which works in ours. Linux alone."""
    if url.startswith("sqlite"):
        return ()
    with psycopg.connect(_plain(url)) as connection:
        own = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        return [row[0] for row in connection.execute(own)]


def processor_times(processes: Sequence[int]) -> dict[int, float]:
    """Seconds of processor time that this process (0) and those of these have taken that have not ended."""
    found = {0: time.process_time()}
    for each in processes:
        with suppress(FileNotFoundError):
            spent = Path(f"/proc/{each}/schedstat").read_text(encoding="ascii")
            found[each] = int(spent.split()[0]) / 1e9
    return found


def since(begun: dict[int, float], processes: Sequence[int]) -> float:
    """Seconds that these processes have taken since then."""
    return sum(spent - begun[each] for each, spent in processor_times(processes).items() if each in begun)
