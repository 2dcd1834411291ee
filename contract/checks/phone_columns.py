"""Which column of a list holds the telephone numbers where nobody says so, and what a cell is as text."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

PHONE_COLUMNS = ("phone_number", "phone", "mobile", "cell", "tel", "telephone", "number", "msisdn", "contact_number")
USUAL = "phone_number"
"""The column that is looked for where no name looks like one of numbers."""
LOOKED_AT = 20
"""Rows, the first ones, whose columns are looked at."""
MAX_COLUMN_NAME = 100
"""Characters in the name of a column that an audience can be told to read the number from."""


def phone_column_of(rows: Sequence[Mapping[str, object]]) -> str:
    """The column that holds the number, by the names in the first rows."""
    names = dict.fromkeys(name for row in rows[:LOOKED_AT] for name in row)
    return phone_column_among(names) or USUAL


def phone_column_among(columns: Iterable[str]) -> str | None:
    """The column that holds the number, by its name: `phone_number`, else the first that looks like one.

    Of several that are spelled in another way, such as `Phone Number`, the first one is taken too.
    """
    named = [(column, column.strip().lower().replace(" ", "_")) for column in columns if len(column) <= MAX_COLUMN_NAME]
    exact, *others = PHONE_COLUMNS
    choices = (
        (column for column, _ in named if column == exact),
        (column for column, name in named if name == exact),
        (column for column, name in named if name in others),
    )
    return next(chain.from_iterable(choices), None)


def cell_text(value: object) -> str | None:
    """A JSON value as text; `None` for what has no plain text form."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    return None
