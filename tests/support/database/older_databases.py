"""Databases of older programs, for tests of migrations."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, text

from callwright.service.platform.database.engines import make_engine
from callwright.service.tables import migrations as folder

T = TypeVar("T")
VERSIONS = Path(str(folder.__file__)).parent / "versions"


def on(url: str, work: Callable[[Connection], T]) -> T:
    """What a piece of work returns on a database."""
    engine = make_engine(url, writer=True, creates=True)
    try:
        with engine.begin() as connection:
            return work(connection)
    finally:
        engine.dispose()


def upgraded(connection: Connection, revision: str) -> None:
    """Brings a database to the schema of an older program."""
    config = Config()
    config.set_main_option("script_location", str(VERSIONS.parent))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


def insert(table: str, **values: Any) -> Callable[[Connection], Any]:
    """Stores a row, as an older program did."""
    names = ", ".join(values)
    statement = text(f"INSERT INTO {table} ({names}) VALUES ({', '.join(f':{name}' for name in values)})")
    return lambda connection: connection.execute(statement, values)
