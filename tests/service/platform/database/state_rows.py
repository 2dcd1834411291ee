"""Rows for the tests of the database, written and read in one unit of work."""

from sqlalchemy import Connection, bindparam, insert, select

from callwright.service.platform.database.prepared import Prepared
from callwright.service.tables.schema import service_state

ADD_ROW = Prepared(insert(service_state))
FIND_ROW = Prepared(select(service_state.c.value).where(service_state.c.name == bindparam("name")))


class WriteFailed(Exception):
    pass


def add_row(connection: Connection, name: str, *, fails: bool = False) -> str:
    """Writes a row; then raises if told."""
    connection.execute(insert(service_state), {"name": name, "value": "x"})
    if fails:
        raise WriteFailed(name)
    return name


def row_names(connection: Connection) -> set[str]:
    """The rows that are there."""
    return set(connection.execute(select(service_state.c.name)).scalars())


def end_other_connections(connection: Connection) -> None:
    """Ends every other connection to the database, as a server does that is started again."""
    connection.exec_driver_sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )


def add_row_as_text(connection: Connection, name: str, *, fails: bool = False) -> str:
    """Writes a row as text for the driver; then raises if told."""
    ADD_ROW.run(connection, {"name": name, "value": "x"})
    if fails:
        raise WriteFailed(name)
    return name
