"""What the columns of a list hold: of which type their values look, how many cells are filled, and an example."""

import json
from collections.abc import Iterable, Mapping
from typing import TypedDict

LONGEST_SAMPLE = 60
"""Characters of an example."""


class ListColumn(TypedDict):
    """A column of a list. `type` and `sample` are None while no cell is filled."""

    name: str
    type: str | None
    sample: str | None
    filled: int


def columns_of(rows: Iterable[Mapping[str, str]]) -> list[ListColumn]:
    """The columns of rows, in the order in which they occur."""
    columns: dict[str, ListColumn] = {}
    for row in rows:
        for name, value in row.items():
            column = columns.get(name)
            if column is None:
                column = columns[name] = empty_column(name)
            if value:
                column["filled"] += 1
                if column["type"] != "string":
                    column["type"] = _common(column["type"], column_type(value))
                column["sample"] = column["sample"] or value[:LONGEST_SAMPLE]
    return list(columns.values())


def empty_column(name: str) -> ListColumn:
    """A column of which no cell is filled."""
    return {"name": name, "type": None, "sample": None, "filled": 0}


def joined(known: Iterable[ListColumn], more: Iterable[ListColumn]) -> list[ListColumn]:
    """The columns of a list and those of rows that were added to it."""
    columns = {column["name"]: column for column in known}
    for column in more:
        name = column["name"]
        before = columns.get(name) or empty_column(name)
        columns[name] = {
            "name": name,
            "type": before["type"] if column["type"] is None else _common(before["type"], column["type"]),
            "sample": before["sample"] or column["sample"],
            "filled": before["filled"] + column["filled"],
        }
    return list(columns.values())


def _common(known: str | None, found: str) -> str:
    return found if known in (None, found) else "string"


def column_type(value: str) -> str:
    """The type a column's value looks like: number, boolean, date or string."""
    if value.lower() in ("true", "false"):
        return "boolean"
    try:
        json.loads(value)
    except ValueError:
        pass
    else:
        return "number" if value[:1] in "-0123456789" else "string"
    digits = value.replace("-", "")
    return "date" if len(value) == 10 and value[4:5] == "-" == value[7:8] and digits.isdigit() else "string"
