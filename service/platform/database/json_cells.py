"""Reading one key of a JSON text column in SQL, on both engines."""

from typing import Any

from sqlalchemy import JSON, ColumnElement, Connection, String, cast, func, type_coerce


def cell(connection: Connection, column: ColumnElement[Any], name: str) -> ColumnElement[str]:
    """The text under `name` in a JSON object; null when it is not there."""
    if connection.dialect.name == "sqlite":
        quoted = name.replace('"', '""')
        return type_coerce(func.json_extract(column, f'$."{quoted}"'), String)
    return type_coerce(func.json_extract_path_text(cast(column, JSON), name), String)
