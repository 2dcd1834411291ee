"""Reads rows of an audience: returns what is stored of a row, or why it is refused."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from callwright.contract.checks.names import escaped, wrong_in_column
from callwright.list_files.name_columns import name_of
from callwright.list_files.phone_columns import cell_text
from callwright.service.platform.phone import Undialable, line_of, masked, read_number, redacted
from callwright.service.platform.search_words import word_column
from callwright.service.rules.consent_cells import noes_in, overruled
from callwright.service.rules.regions.written_zones import zone_written

STEERING_PREFIX = "sim."
MAX_COLUMNS = 100
MAX_CELL = 1_000
_COLUMNS_NAMED = 3
_NO_ZONE = "this is no time zone; write an IANA name such as America/New_York, or leave the cell empty"


@dataclass(frozen=True)
class RowRules:
    """How an audience reads its rows."""

    phone_column: str
    default_country: str | None
    timezone_column: str | None
    external_id_column: str | None
    dedupe: str
    check_steering: Callable[[str, str], str | None]
    """Says what is wrong with a `sim.*` column (named without the prefix) and its value; None if nothing is."""


@dataclass(frozen=True)
class GoodRow:
    """A row to store."""

    phone: str
    country: str | None
    timezone: str | None
    external_id: str | None
    dedupe_key: str | None
    cells: Mapping[str, str]
    steering: Mapping[str, str]
    name_words: str | None


@dataclass(frozen=True)
class BadRow:
    """A row that is refused, and why."""

    row_number: int
    code: str
    message: str
    column: str | None = None
    value_redacted: str | None = None
    line: int | None = None
    external_id: str | None = None


@dataclass
class ReadRows:
    """Rows that were read, in their order."""

    good: list[tuple[int, GoodRow]] = field(default_factory=list[tuple[int, GoodRow]])
    bad: list[BadRow] = field(default_factory=list[BadRow])
    dropped: list[GoodRow] = field(default_factory=list[GoodRow])
    """Those that have the `dedupe_key` of a good one; they are among the bad."""

    @property
    def duplicates(self) -> int:
        """How many rows were dropped."""
        return len(self.dropped)


def _steering(cells: Mapping[str, str], rules: RowRules) -> tuple[dict[str, str], tuple[str, str] | None]:
    steering: dict[str, str] = {}
    for name, value in cells.items():
        if name.startswith(STEERING_PREFIX) and value:
            column = name.removeprefix(STEERING_PREFIX)
            wrong = rules.check_steering(column, value)
            if wrong is not None:
                return {}, (name, wrong)
            steering[column] = value
    return steering, None


def read_cells(number: int, row: Mapping[str, object]) -> dict[str, str] | BadRow:
    """The cells of a row as text. `number` is the row's, for what is wrong with it."""
    if len(row) > MAX_COLUMNS:
        return BadRow(number, "column_count_mismatch", f"a row has at most {MAX_COLUMNS} columns")
    cells: dict[str, str] = {}
    for name, value in row.items():
        if (wrong_name := wrong_in_column(name)) is not None:
            said = f"the name of the column {wrong_name}"
            return BadRow(number, "bad_column_name", said, escaped(name[:100]))
        text = cell_text(value)
        if text is None:
            return BadRow(number, "bad_type", "a value must be text, a number, true, false or null", name[:100])
        if len(text) > MAX_CELL:
            return BadRow(number, "cell_too_long", f"a value has at most {MAX_CELL} characters", name[:100])
        if "\x00" in text:
            return BadRow(number, "bad_encoding", "a value holds the character NUL", name[:100])
        cells[name] = text.strip()
    return cells


def read_row(number: int, row: Mapping[str, object], rules: RowRules) -> GoodRow | BadRow:
    """One row, read by the rules."""
    cells = read_cells(number, row)
    if isinstance(cells, BadRow):
        return cells
    written = cells.get(rules.phone_column, "")
    read = read_number(written, rules.default_country)
    if isinstance(read, Undialable):
        return BadRow(number, read.code, read.message, rules.phone_column, masked(written) if written else None)
    said = cells.get(rules.timezone_column, "") if rules.timezone_column else ""
    zone = zone_written(said, american=read.e164.startswith("+1")) if said else None
    if said and zone is None:
        return BadRow(number, "invalid_timezone", _NO_ZONE, rules.timezone_column, redacted(said)[:64])
    steering, wrong = _steering(cells, rules)
    if wrong is not None:
        return BadRow(number, "invalid_steering", wrong[1], wrong[0][:100])
    external_id = cells.get(rules.external_id_column, "") if rules.external_id_column else ""
    line = line_of(read.e164)
    dedupe_key = {"phone": line, "external_id": external_id or line}.get(rules.dedupe)
    values = {
        name: text
        for name, text in cells.items()
        if name != rules.phone_column and not name.startswith(STEERING_PREFIX)
    }
    return GoodRow(
        read.e164,
        read.country,
        zone,
        external_id or None,
        dedupe_key,
        values,
        steering,
        word_column(name_of(values)),
    )


def read_rows(rows: Sequence[tuple[int, Mapping[str, object]]], rules: RowRules) -> ReadRows:
    """Reads numbered rows. Of several rows with the same `dedupe_key` the first one is good."""
    read = ReadRows()
    seen: dict[str, tuple[int, GoodRow]] = {}
    for number, row in rows:
        made = read_row(number, row, rules)
        if isinstance(made, BadRow):
            read.bad.append(replace(made, external_id=external_id_of(row, rules)))
        elif made.dedupe_key is not None and made.dedupe_key in seen:
            read.dropped.append(made)
            said = _same_person(made, *seen[made.dedupe_key], rules)
            read.bad.append(BadRow(number, "duplicate_in_file", said, external_id=made.external_id))
        else:
            if made.dedupe_key is not None:
                seen[made.dedupe_key] = number, made
            read.good.append((number, made))
    return read


def external_id_of(row: Mapping[str, object], rules: RowRules) -> str | None:
    """The list's own id of the person in a row, at most a cell long."""
    text = cell_text(row.get(rules.external_id_column)) if rules.external_id_column else None
    return text.replace("\x00", "").strip()[:MAX_CELL] or None if text else None


def _same_person(made: GoodRow, number: int, first: GoodRow, rules: RowRules) -> str:
    """Which row is the same person, and where this one says something else: an appointment more may be lost."""
    other = [
        escaped(name[:100])
        for name in made.cells
        if name != rules.external_id_column and made.cells[name] and made.cells[name] != first.cells.get(name)
    ]
    if made.phone != first.phone:
        other.insert(0, escaped(rules.phone_column[:100]))
    same = "own id" if rules.dedupe == "external_id" and made.external_id else "number"
    said = f"row {number} has the same {same}"
    if not other:
        return said
    return f"{said}, with another {_named(other)}{no_that_counts(made, first.cells)}"


def no_that_counts(dropped: GoodRow, kept: Mapping[str, str]) -> str:
    """The end of a sentence about a dropped row: in which columns its no counts against the cells that are kept."""
    columns = overruled(noes_in(dropped.cells), kept)
    if not columns:
        return ""
    named = _named([escaped(name[:100]) for name in columns])
    return f"; this row says no in {named}, and a campaign that takes that for consent does not call the person"


def _named(columns: Sequence[str]) -> str:
    return ", ".join(columns[:_COLUMNS_NAMED]) + (" and more" if len(columns) > _COLUMNS_NAMED else "")


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
