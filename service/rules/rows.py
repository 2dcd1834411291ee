"""Reads rows of an audience: returns what is stored of a row, or why it is refused."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from callwright.contract.checks.names import escaped, wrong_in_column
from callwright.list_files.name_columns import joined_name, name_columns
from callwright.list_files.phone_columns import cell_text
from callwright.service.platform.json_text import json_text
from callwright.service.platform.phone import Undialable, line_of, masked, read_number, redacted
from callwright.service.platform.search_words import word_column
from callwright.service.rules.columns import ListColumn, columns_of
from callwright.service.rules.consent_cells import noes_in, overruled
from callwright.service.rules.contact_columns import (
    NO_COLUMNS,
    NO_SETTINGS,
    ContactColumns,
    Unreadable,
    contact_settings,
)
from callwright.service.rules.regions.written_zones import zone_written

STEERING_PREFIX = "sim."
MAX_COLUMNS = 100
MAX_CELL = 1_000
MAX_OWN_ID_BYTES = 2_000
"""In UTF-8. An entry of an index of Postgres has at most some 2,700."""
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
    contact_columns: ContactColumns = NO_COLUMNS


class GoodRow(NamedTuple):
    """A row to store. Its cells and its steering are JSON text, as they are stored."""

    phone: str
    country: str | None
    timezone: str | None
    external_id: str | None
    dedupe_key: str | None
    cells_json: str
    steering_json: str
    name_words: str | None
    priority: int | None = None
    not_before: int | None = None
    language: str | None = None

    @property
    def cells(self) -> dict[str, str]:
        """The cells by their columns."""
        return json.loads(self.cells_json)

    @property
    def steering(self) -> dict[str, str]:
        """What the simulated person does, by column without its prefix."""
        return json.loads(self.steering_json)


class BadRow(NamedTuple):
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
    columns: list[ListColumn] = field(default_factory=list[ListColumn])
    """What the columns of the good rows hold."""
    holds_noes: bool = False
    """Whether a cell of a good or dropped row is a clear no."""

    @property
    def duplicates(self) -> int:
        """How many rows were dropped."""
        return len(self.dropped)


@dataclass(frozen=True)
class _Places:
    """Where things stand in rows with certain columns."""

    phone: int | None
    timezone: int | None
    external_id: int | None
    name: tuple[int, ...]
    kept: tuple[tuple[int, str], ...]
    steering: tuple[tuple[int, str], ...]
    settings: tuple[int | None, ...] | None
    """Those of the `ContactColumns`; None without any."""
    wrong: BadRow | None
    """What is wrong with the names of the columns."""


def _places(names: tuple[str, ...], rules: RowRules) -> _Places:
    at = {name: place for place, name in enumerate(names)}
    kept = {name: place for name, place in at.items() if not name.startswith(STEERING_PREFIX)}
    kept.pop(rules.phone_column, None)
    return _Places(
        at.get(rules.phone_column),
        at.get(rules.timezone_column) if rules.timezone_column else None,
        at.get(rules.external_id_column) if rules.external_id_column else None,
        tuple(kept[name] for name in name_columns(kept)),
        tuple((place, name) for name, place in kept.items()),
        tuple((place, name) for name, place in at.items() if name.startswith(STEERING_PREFIX)),
        _places_of_settings(at, rules.contact_columns),
        _wrong_names(names),
    )


def _places_of_settings(at: Mapping[str, int], columns: ContactColumns) -> tuple[int | None, ...] | None:
    places = tuple(at.get(name) if name else None for name in columns.names)
    return places if any(place is not None for place in places) else None


def _wrong_names(names: Sequence[str]) -> BadRow | None:
    if len(names) > MAX_COLUMNS:
        return BadRow(0, "column_count_mismatch", f"a row has at most {MAX_COLUMNS} columns")
    for name in names:
        if (wrong := wrong_in_column(name)) is not None:
            return BadRow(0, "bad_column_name", f"the name of the column {wrong}", escaped(name[:100]))
    return None


def _texts(number: int, names: Sequence[str], values: Iterable[object]) -> list[str] | BadRow:
    """The values of a row as text, without blanks around them."""
    texts: list[str] = []
    for value in values:
        text = value if type(value) is str else cell_text(value)
        if text is None:
            message = "a value must be text, a number, true, false or null"
            return BadRow(number, "bad_type", message, names[len(texts)][:100])
        if len(text) > MAX_CELL:
            message = f"a value has at most {MAX_CELL} characters"
            return BadRow(number, "cell_too_long", message, names[len(texts)][:100])
        if "\x00" in text:
            return BadRow(number, "bad_encoding", "a value holds the character NUL", names[len(texts)][:100])
        texts.append(text.strip())
    return texts


def read_cells(number: int, row: Mapping[str, object]) -> dict[str, str] | BadRow:
    """The cells of a row as text. `number` is the row's, for what is wrong with it."""
    names = tuple(row)
    if (wrong := _wrong_names(names)) is not None:
        return wrong._replace(row_number=number)
    texts = _texts(number, names, row.values())
    return texts if isinstance(texts, BadRow) else dict(zip(names, texts, strict=True))


def _steering(texts: Sequence[str], places: _Places, rules: RowRules) -> tuple[dict[str, str], tuple[str, str] | None]:
    steering: dict[str, str] = {}
    for place, name in places.steering:
        if value := texts[place]:
            column = name.removeprefix(STEERING_PREFIX)
            wrong = rules.check_steering(column, value)
            if wrong is not None:
                return {}, (name, wrong)
            steering[column] = value
    return steering, None


def read_row(number: int, row: Mapping[str, object], rules: RowRules) -> GoodRow | BadRow:
    """One row, read by the rules."""
    names = tuple(row)
    return _read_row(number, names, row.values(), _places(names, rules), rules)


def _read_row(
    number: int, names: Sequence[str], values: Iterable[object], places: _Places, rules: RowRules
) -> GoodRow | BadRow:
    if places.wrong is not None:
        return places.wrong._replace(row_number=number)
    texts = _texts(number, names, values)
    if isinstance(texts, BadRow):
        return texts
    written = "" if places.phone is None else texts[places.phone]
    read = read_number(written, rules.default_country, needs_trunk_prefix=True)
    if isinstance(read, Undialable):
        return BadRow(number, read.code, read.message, rules.phone_column, masked(written) if written else None)
    said = "" if places.timezone is None else texts[places.timezone]
    zone = zone_written(said, american=read.e164.startswith("+1")) if said else None
    if said and zone is None:
        return BadRow(number, "invalid_timezone", _NO_ZONE, rules.timezone_column, redacted(said)[:64])
    settings = NO_SETTINGS
    if places.settings is not None:
        says = ["" if place is None else texts[place] for place in places.settings]
        found = contact_settings(says, read.e164, zone)
        if isinstance(found, Unreadable):
            column, cell = rules.contact_columns.names[found.place], redacted(says[found.place])[:64]
            return BadRow(number, found.code, found.message, column, cell)
        settings = found
    steering, wrong = _steering(texts, places, rules)
    if wrong is not None:
        return BadRow(number, "invalid_steering", wrong[1], wrong[0][:100])
    external_id = "" if places.external_id is None else texts[places.external_id]
    if len(external_id.encode(errors="replace")) > MAX_OWN_ID_BYTES:
        message = f"an own id has at most {MAX_OWN_ID_BYTES} bytes in UTF-8"
        return BadRow(number, "cell_too_long", message, (rules.external_id_column or "")[:100])
    dedupe_key = None
    if rules.dedupe == "phone" or (rules.dedupe == "external_id" and not external_id):
        dedupe_key = line_of(read.e164)
    elif rules.dedupe == "external_id":
        dedupe_key = external_id
    return GoodRow(
        read.e164,
        read.country,
        zone,
        external_id or None,
        dedupe_key,
        json_text({name: texts[place] for place, name in places.kept}),
        json_text(steering) if steering else "{}",
        word_column(joined_name(texts[place] for place in places.name)),
        *settings,
    )


def read_rows(rows: Sequence[tuple[int, Mapping[str, object]]], rules: RowRules) -> ReadRows:
    """Reads numbered rows. Of several rows with the same `dedupe_key` the first one is good."""
    return read_lists([(number, tuple(row), list(row.values())) for number, row in rows], rules)


def read_lists(rows: Iterable[tuple[int, tuple[str, ...], Sequence[object]]], rules: RowRules) -> ReadRows:
    """Reads numbered rows, each given as the names of its columns and their values in the same order."""
    read = ReadRows()
    seen: dict[str, tuple[int, GoodRow]] = {}
    known: dict[tuple[str, ...], _Places] = {}
    for number, names, values in rows:
        places = known.get(names)
        if places is None:
            places = known[names] = _places(names, rules)
        made = _read_row(number, names, values, places, rules)
        if isinstance(made, BadRow):
            own_id = None if places.external_id is None else external_id_in(values[places.external_id])
            read.bad.append(made if own_id is None else made._replace(external_id=own_id))
        elif made.dedupe_key is not None and made.dedupe_key in seen:
            read.dropped.append(made)
            said = _same_person(made, *seen[made.dedupe_key], rules)
            read.bad.append(BadRow(number, "duplicate_in_file", said, external_id=made.external_id))
        else:
            if made.dedupe_key is not None:
                seen[made.dedupe_key] = number, made
            read.good.append((number, made))
    cells = [row.cells for _, row in read.good]
    read.columns = columns_of(cells)
    read.holds_noes = any(map(noes_in, cells)) or any(noes_in(row.cells) for row in read.dropped)
    return read


def external_id_in(value: object) -> str | None:
    """The list's own id of a person in the cell that holds it, cut to the longest that there may be."""
    text = (cell_text(value) or "").replace("\x00", "").strip()[:MAX_CELL]
    return text.encode(errors="replace")[:MAX_OWN_ID_BYTES].decode(errors="ignore") or None


def _same_person(made: GoodRow, number: int, first: GoodRow, rules: RowRules) -> str:
    """Which row is the same person, and where this one says something else: an appointment more may be lost."""
    cells, known = made.cells, first.cells
    other = [
        escaped(name[:100])
        for name, text in cells.items()
        if name != rules.external_id_column and text and text != known.get(name)
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
