"""What an error of the database says, without values of rows: they may be phone numbers, and errors are logged.

Postgres adds lines with values to its messages (DETAIL, CONTEXT, HINT), and names the value itself where it cannot be
read as its type. SQLite names tables and columns alone. Source: PostgreSQL, "Error Message Fields".
"""

from typing import Any

from sqlalchemy import Engine, event
from sqlalchemy.exc import DBAPIError

_OF_VALUES = "22"
"""The class of SQLSTATE of values that cannot be read or stored; its messages quote them."""


def without_values(error: BaseException) -> None:
    """Removes values from the message of a driver's error. SQLSTATE, table, column and constraint stay."""
    state: str | None = getattr(error, "sqlstate", None)
    if state is None:
        return
    diag: Any = getattr(error, "diag", error)  # of psycopg; errors of asyncpg have these by themselves
    primary = getattr(diag, "message_primary", None) or next(iter(error.args), None)
    said = type(error).__name__ if state.startswith(_OF_VALUES) else primary
    where = {kind: getattr(diag, f"{kind}_name", None) for kind in ("table", "column", "constraint")}
    named = "".join(f", {kind} {name}" for kind, name in where.items() if name)
    error.args = (f"{said or type(error).__name__} (SQLSTATE {state}{named})",)
    for name in ("detail", "hint"):
        if getattr(error, name, None) is not None:
            setattr(error, name, None)
    if error.__cause__ is not None:
        without_values(error.__cause__)


def hide_values(engine: Engine) -> None:
    """Removes values from every error that an engine raises."""
    event.listen(engine, "handle_error", _on_error)


def _on_error(context: Any) -> None:
    shown: DBAPIError | None = context.sqlalchemy_exception
    before = str(context.original_exception)
    without_values(context.original_exception)
    if shown is not None:
        shown.args = tuple(
            one.replace(before, str(context.original_exception)) if isinstance(one, str) else one for one in shown.args
        )
