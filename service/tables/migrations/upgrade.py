"""Brings a database to the current schema. Safe when several processes start at once, on both engines."""

from contextlib import nullcontext
from pathlib import Path

from filelock import FileLock
from sqlalchemy import Connection, Engine, inspect, text

from callwright.service.platform.database.concurrency import take_advisory_lock
from callwright.service.platform.database.engines import check_encoding, file_of, make_engine
from callwright.service.platform.database.sqlite.disk_space import DRIVER_ERRORS
from callwright.service.tables.database_file import check_database, check_tables

REVISION = "0080"
"""The newest migration. A test holds it against the folder of migrations."""
_LOCK = 7_263_901
"""Any number that is ours: who migrates waits for the others."""
_LOCK_LIMIT_S = 60
"""How long one process waits while another migrates the same SQLite file."""


class SchemaTooNew(RuntimeError):
    """The database was made by a newer version of the program."""


def revision_of(connection: Connection) -> str | None:
    """The migration a database stands at; `None` for one that has nothing of ours. Raises `DatabaseUnusable`."""
    tables = inspect(connection).get_table_names()
    if "alembic_version" in tables:
        found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
        if found is not None:
            return found
    check_tables(tables, "the database")
    return None


def upgrade(url: str, data: Path | None = None) -> None:
    """Creates or upgrades the schema. Does nothing, and loads no migration code, when it is current already.

    `data` is the folder of the service, where a database may have been that is gone now.

    Raises:
        DatabaseUnusable: the folder was in use, and its SQLite database is gone or empty; or it is another program's,
            keeps text in another encoding than UTF-8, or its address cannot be read.
        SchemaTooNew: the database was made by a newer version of the program.
        TimeoutError: another process has been migrating the same SQLite file for a minute.
    """
    file = file_of(url)
    if file is not None and data is not None:
        check_database(data, file)
    # SQLite does not wait for its lock while a new file turns to write-ahead logging, so somebody has to wait before.
    with nullcontext() if file is None else FileLock(f"{file}.upgrade.lock", timeout=_LOCK_LIMIT_S):
        engine = make_engine(url, writer=True, creates=True)
        try:
            _upgrade(engine)
        except DRIVER_ERRORS:
            if file is None or not _is_current(url):
                raise
        finally:
            engine.dispose()


def _is_current(url: str) -> bool:
    """Whether an SQLite file that cannot be written to, as on a full disk, can at least be read from as it is."""
    engine = make_engine(url)
    try:
        with engine.connect() as connection:
            return revision_of(connection) == REVISION
    except DRIVER_ERRORS:
        return False
    finally:
        engine.dispose()


def _upgrade(engine: Engine) -> None:
    with engine.connect() as connection:
        with connection.begin():
            check_encoding(connection)
            if revision_of(connection) == REVISION:
                return
        with connection.begin():
            take_advisory_lock(connection, _LOCK, without_limits=True)  # two processes migrate one after the other
            found = revision_of(connection)
            if found == REVISION:
                return
            if found is not None and found > REVISION:
                raise SchemaTooNew(
                    f"the database stands at schema {found}, this program knows {REVISION}: use a newer version"
                )
            _run_migrations(connection)


def _run_migrations(connection: Connection) -> None:
    from alembic import command  # takes 0.4 s to import, and most starts need no migration
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
