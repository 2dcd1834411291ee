"""How a database on Postgres keeps text."""

from sqlalchemy import Connection, text

from callwright.service.platform.database.unavailable import DatabaseUnusable

_ENCODING = "UTF8"
"""Of names and words in any language."""


def check_encoding(connection: Connection) -> None:
    """Raises `DatabaseUnusable` for a database on Postgres that does not keep text as UTF-8."""
    if connection.dialect.name == "sqlite":
        return
    found = connection.execute(text("SHOW server_encoding")).scalar_one()
    if found != _ENCODING:
        how = f"CREATE DATABASE name ENCODING '{_ENCODING}' TEMPLATE template0"
        raise DatabaseUnusable(
            f"the database keeps text as {found} and has to keep it as {_ENCODING}: make one with {how}"
        )
