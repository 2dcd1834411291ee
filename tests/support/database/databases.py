"""The databases of one test run, shared by all its worker processes.

A run has a folder of its own. The first test that needs the Postgres server, or a migrated database to copy, makes it
there under a lock; the others find it. `tests.support.database.run_folder` cleans up.
"""

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from filelock import FileLock
from sqlalchemy import make_url

from tests.support.database import postgres, run_folder

Engine = Literal["sqlite", "postgres"]

ENGINES_SETTING = "CALLWRIGHT_TEST_ENGINES"
SERVER_SETTING = "TEST_PG_URL"
POOLER_SETTING = "CALLWRIGHT_TEST_POOLER"
SERVER = "postgres-server"
POOLER = "postgres-pooler"
HINT = f"\nSet {SERVER_SETTING} to the URL of a server, or {ENGINES_SETTING}=sqlite to test on SQLite alone."
LOCK_LIMIT_S = 180
"""How long one process waits while another starts the server or migrates. Both together take about two seconds."""


class DatabaseUnavailable(Exception):
    """A test needs a database that this machine cannot offer."""


def chosen_engines() -> tuple[Engine, ...]:
    """The engines to test on: both, or those that `CALLWRIGHT_TEST_ENGINES` lists, separated by commas."""
    known: tuple[Engine, ...] = get_args(Engine)
    wanted = {name.strip() for name in os.environ.get(ENGINES_SETTING, ",".join(known)).split(",")}
    if unknown := wanted - set(known):
        raise ValueError(f"{ENGINES_SETTING} names unknown engines: {', '.join(sorted(unknown))}; known: {known}")
    return tuple(engine for engine in known if engine in wanted)


def is_pooled() -> bool:
    """Whether tests reach Postgres through pgbouncer."""
    return os.environ.get(POOLER_SETTING, "") not in ("", "0")


def server_origin() -> str:
    """Where the Postgres server comes from, in words."""
    origin = SERVER_SETTING if SERVER_SETTING in os.environ else "a server of its own"
    return f"{origin}, through pgbouncer" if is_pooled() else origin


@dataclass(frozen=True)
class RunDatabases:
    """Makes databases for the tests of one run.

    Every method that needs Postgres raises `DatabaseUnavailable` when there is none, with the reason.
    """

    folder: Path

    @property
    def prefix(self) -> str:
        """What the names of this run's Postgres databases start with."""
        return f"callwright_{self.folder.name.rpartition('-')[2]}_"

    def sqlite(self, folder: Path, *, migrated: bool) -> str:
        """The URL of a database file in `folder`."""
        target = folder / "callwright.db"
        if migrated:
            shutil.copy(self._once("sqlite-template", self._migrate_sqlite), target)
        return f"sqlite:///{target}"

    def postgres(self, name: str, *, migrated: bool) -> str:
        """The URL of a new Postgres database. `name` must be new in this run; `drop` removes it.

        With `CALLWRIGHT_TEST_POOLER` the URL leads through pgbouncer. What makes and drops databases never does.
        """
        server = self._server()
        template = self._once("postgres-template", self._migrate_postgres) if migrated else None
        url = postgres.create_database(server, f"{self.prefix}{name}", template=template)
        if not is_pooled():
            return url
        pooler = make_url(self._once(POOLER, self._start_pooler))
        return pooler.set(database=make_url(url).database).render_as_string(hide_password=False)

    def drop(self, url: str) -> None:
        """Drops a database that `postgres` has made."""
        postgres.drop_database(self._server(), str(make_url(url).database))

    def drop_all(self) -> None:
        """Drops every Postgres database that the run has left."""
        server = self._server()
        for name in postgres.databases(server, prefix=self.prefix):
            postgres.drop_database(server, name)

    def _server(self) -> str:
        return self._once(SERVER, self._find_server)

    def _find_server(self) -> str:
        given = os.environ.get(SERVER_SETTING)
        if given is None:
            return run_folder.ask_for(self.folder, "server")
        url = make_url(given).set(drivername="postgresql+psycopg").render_as_string(hide_password=False)
        postgres.databases(url, prefix=self.prefix)  # fails here, with the reason, when there is no such server
        (self.folder / run_folder.LEFTOVERS).touch()
        return url

    def _start_pooler(self) -> str:
        server = (self.folder / SERVER).read_text(encoding="utf-8")
        return run_folder.ask_for(self.folder, "pooler", server)

    def _migrate_sqlite(self) -> str:
        path = self.folder / "template.db"
        _upgrade(f"sqlite:///{path}")
        return str(path)

    def _migrate_postgres(self) -> str:
        name, server = f"{self.prefix}template", (self.folder / SERVER).read_text(encoding="utf-8")
        _upgrade(postgres.create_database(server, name))
        postgres.freeze_database(server, name)
        return name

    def _once(self, name: str, make: Callable[[], str]) -> str:
        """What `make` returned in the first process of the run that asked, or its failure."""
        done, failed = self.folder / name, self.folder / f"{name}.failed"
        with FileLock(self.folder / "lock", timeout=LOCK_LIMIT_S):
            if failed.exists():
                raise DatabaseUnavailable(failed.read_text(encoding="utf-8"))
            if not done.exists():
                try:
                    text = make()
                except Exception as error:
                    reason = f"{name} could not be made: {error}{HINT if name == SERVER else ''}"
                    failed.write_text(reason, encoding="utf-8")
                    raise DatabaseUnavailable(reason) from error
                done.write_text(text, encoding="utf-8")
            return done.read_text(encoding="utf-8")


def _upgrade(url: str) -> None:
    from callwright.service.tables.migrations.upgrade import (
        upgrade,  # Alembic: imported only where a database is migrated
    )

    upgrade(url)
