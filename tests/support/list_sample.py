"""A sample of a list: a file, and the truth about it."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from openpyxl import Workbook

Person = tuple[str, str]
"""The number in E.164, and what the list calls the person."""


@dataclass(frozen=True)
class ListSample:
    """A file, how its audience reads it, and what is in it."""

    name: str
    data: bytes
    country: str | None
    name_column: str
    people: Sequence[Person]
    phone_column: str
    read_as: str
    faults: dict[int, str] = field(default_factory=dict[int, str])
    """The code of each refused row, by the line in which it begins."""


def csv_sample(
    name: str,
    text: str,
    encoding: str,
    country: str | None,
    columns: tuple[str, str],
    people: Sequence[Person],
    read_as: str,
    faults: dict[int, str] | None = None,
) -> ListSample:
    """A CSV file in an encoding."""
    return ListSample(
        name, text.encode(encoding), country, columns[0], people, columns[1], f"CSV, {read_as}", faults or {}
    )


def xlsx_sample(
    name: str,
    rows: Sequence[Sequence[object]],
    country: str | None,
    columns: tuple[str, str],
    people: Sequence[Person],
    faults: dict[int, str] | None = None,
    *,
    empty_sheet_first: bool = False,
    sheets_before: Mapping[str, str] = MappingProxyType({}),
    hidden_row: int | None = None,
    read_as: str = "XLSX",
) -> ListSample:
    """A workbook. `sheets_before` have a title, and old numbers if they are hidden, by name."""
    book = Workbook()
    sheet = book.worksheets[0]
    for title, state in sheets_before.items():
        before = book.create_sheet(title)
        before.sheet_state = state
        for row in [["Phone"], ["+12125550199"]] if state == "hidden" else [["Customers 2026"], ["as of May"]]:
            before.append(row)
    if empty_sheet_first or sheets_before:
        sheet = book.create_sheet("Liste")
    for row in rows:
        sheet.append(list(row))
    if hidden_row is not None:
        sheet.row_dimensions[hidden_row].hidden = True
    data = io.BytesIO()
    book.save(data)
    return ListSample(name, data.getvalue(), country, columns[0], people, columns[1], read_as, faults or {})
