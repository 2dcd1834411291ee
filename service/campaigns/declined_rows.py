"""A person's no to be called that stands in another row of a list than the one that is called.

Whoever said no once is not called, whichever row came first. The noes of other rows are kept with the row, by column:
which column a campaign takes for consent is known only later.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

from sqlalchemy import ColumnElement, Connection, Executable, Row, and_, bindparam, literal, select, update

from callwright.list_files.headings import plain_heading
from callwright.service.platform.database.bulk import ForIds, for_each, misjudges_new_tables, plan_anew
from callwright.service.platform.json_text import json_text
from callwright.service.platform.phone import has_one_notation, line_of, notations_of
from callwright.service.rules.consent_cells import noes_in, overruled, twins_of_noes
from callwright.service.rules.rows import GoodRow
from callwright.service.tables import declined_lines
from callwright.service.tables.schema import audience_rows

_R = audience_rows.c
_AT_ONCE = 500
"""Keys in one statement."""


def _with_number(number: ColumnElement[bool], audience: Any, org: Any, is_left_one_index: bool) -> ColumnElement[bool]:
    """Rows of an audience with a number.

    Postgres is left one index to look by, that of the organization's numbers: while it has not counted the rows of a
    new audience, it takes any index that begins with the audience for as good, and reads all people for each number.
    """
    if is_left_one_index:
        return and_(_R.org_id == org, number, _R.audience_id.concat("") == audience)
    return and_(_R.audience_id == audience, number)


def _in_more_rows_than(count: int) -> ForIds:
    """Which of many numbers are in more rows of an audience than so many."""

    def asked(phone: ColumnElement[str], is_left_one_index: bool) -> Executable:
        is_in = _with_number(_R.phone == phone, bindparam("audience"), bindparam("org"), is_left_one_index)
        rows = select(literal(1)).where(is_in).offset(count).correlate_except(audience_rows)
        return select(phone.label("phone")).where(rows.exists())

    return for_each(asked)


_STORED, _SEVERAL = _in_more_rows_than(0), _in_more_rows_than(1)
_DECLINE = update(audience_rows).where(_R.id == bindparam("b_id")).values(declined=bindparam("b_declined"))


def keep_noes(
    connection: Connection, audience: Row[Any], *, added: Sequence[GoodRow], dropped: Sequence[GoodRow]
) -> dict[str, dict[str, str]]:
    """Keeps the noes of rows that were dropped, and of rows with the same number, with the rows that are called.

    `dropped` are duplicates of the audience's rows. Where numbers are not what rows are compared by, several rows may
    have one number; then each of them has the noes of all. Returns the cells of the rows that are called in place of
    dropped ones with a no, by `dedupe_key`.
    """
    _decline_twins(connection, audience, added)
    noes: dict[str, dict[str, str]] = {}
    for row in dropped:
        if row.dedupe_key is not None and (said := noes_in(row.cells)):
            noes.setdefault(row.dedupe_key, {}).update(said)
    kept = _rows(connection, audience, _R.dedupe_key, noes)
    cells: dict[str, dict[str, str]] = {row.dedupe_key: json.loads(row.cells) for row in kept}
    _decline(connection, [(row, overruled(noes[row.dedupe_key], cells[row.dedupe_key])) for row in kept])
    if audience.dedupe != "phone":
        _share_by_number(connection, audience, dropped, [row.phone for row in (*added, *dropped, *kept)])
    return cells


def _decline_twins(connection: Connection, audience: Row[Any], added: Sequence[GoodRow]) -> None:
    """Where a row has two columns whose names are read alike, such as `consent` and `Consent`, a no in one of them
    counts for the other.
    """
    phones = dict.fromkeys(row.phone for row in added if _has_twins(tuple(row.cells)))
    found = [(row, json.loads(row.cells)) for row in _rows(connection, audience, _R.phone, phones)]
    _decline(connection, [(row, twins_of_noes(cells)) for row, cells in found])


@lru_cache
def _has_twins(names: tuple[str, ...]) -> bool:
    return len(set(map(plain_heading, names))) < len(names)


def _share_by_number(
    connection: Connection, audience: Row[Any], dropped: Sequence[GoodRow], numbers: Iterable[str]
) -> None:
    """Gives each row with one of these numbers the noes of all rows with its number.

    Most numbers are in one row alone, which has its own noes: those rows are not read.
    """
    wanted = dict.fromkeys(numbers)
    of_dropped = {row.phone for row in dropped}
    plain = [number for number in wanted if has_one_notation(number) and number not in of_dropped]
    left = wanted.keys() - plain
    other = list(dict.fromkeys(one for number in wanted if number in left for one in notations_of(number)))
    asked = {"audience": audience.id}
    if misjudges_new_tables(connection):
        asked["org"] = audience.org_id
    plan_anew(connection)
    earlier = declined_lines.find(connection, audience, {line_of(number) for number in wanted})
    several = [row.phone for row in _SEVERAL.all(connection, [*plain, *other], asked)]
    stored = [row.phone for row in _STORED.all(connection, other, asked)] if other else []
    if not several and len(stored) < 2 and not dropped and not earlier:
        return
    lines = Counter(map(line_of, [*several, *several, *stored, *of_dropped]))
    shared = dict.fromkeys([*several, *(phone for phone in other if lines[line_of(phone)] > 1)])
    shared.update(dict.fromkeys(one for number in wanted if line_of(number) in earlier for one in notations_of(number)))
    found = _rows(connection, audience, _R.phone, shared)
    noes = dict(earlier)
    for row in found:
        noes.setdefault(line_of(row.phone), {}).update(noes_in(json.loads(row.cells)) | _declined(row))
    for row in dropped:
        noes.setdefault(line_of(row.phone), {}).update(noes_in(row.cells))
    _decline(connection, [(row, overruled(noes[line_of(row.phone)], json.loads(row.cells))) for row in found])
    without_row = {line_of(phone) for phone in of_dropped} - {line_of(row.phone) for row in found}
    declined_lines.keep(connection, audience, {line: said for line in sorted(without_row) if (said := noes[line])})


def _rows(
    connection: Connection, audience: Row[Any], column: ColumnElement[Any], keys: Iterable[str]
) -> list[Row[Any]]:
    """The rows of an audience with one of these values in a column."""
    found, left = list[Any](), iter(keys)
    columns = (_R.id, _R.phone, _R.dedupe_key, _R.cells, _R.declined)
    is_left_one_index = misjudges_new_tables(connection) and column is _R.phone
    while these := list(islice(left, _AT_ONCE)):
        wanted = _with_number(column.in_(these), audience.id, audience.org_id, is_left_one_index)
        found.extend(connection.execute(select(*columns).where(wanted)).all())
    return found


def _decline(connection: Connection, noes: Sequence[tuple[Row[Any], Mapping[str, str]]]) -> None:
    """Adds noes to those that rows have already."""
    changes = [
        {"b_id": row.id, "b_declined": json_text({**_declined(row), **said})}
        for row, said in noes
        if not said.keys() <= _declined(row).keys()
    ]
    if changes:
        connection.execute(_DECLINE, changes)


def _declined(row: Row[Any]) -> dict[str, str]:
    return json.loads(row.declined) if row.declined else {}
