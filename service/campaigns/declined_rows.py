"""A person's no to be called that stands in another row of a list than the one that is called.

Whoever said no once is not called, whichever row came first. The noes of other rows are kept with the row, by column:
which column a campaign takes for consent is known only later.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, bindparam, select, update

from callwright.service.platform.json_text import json_text
from callwright.service.platform.phone import line_of, notations_of
from callwright.service.rules.consent_cells import noes_in, overruled
from callwright.service.rules.rows import GoodRow
from callwright.service.tables.schema import audience_rows

_R = audience_rows.c
_AT_ONCE = 500
"""Keys in one statement."""
_DECLINE = update(audience_rows).where(_R.id == bindparam("b_id")).values(declined=bindparam("b_declined"))


def keep_noes(
    connection: Connection, audience: Row[Any], *, added: Sequence[GoodRow], dropped: Sequence[GoodRow]
) -> dict[str, dict[str, str]]:
    """Keeps the noes of rows that were dropped, and of rows with the same number, with the rows that are called.

    `dropped` are duplicates of the audience's rows. Where numbers are not what rows are compared by, several rows may
    have one number; then each of them has the noes of all. Returns the cells of the rows that are called in place of
    dropped ones with a no, by `dedupe_key`.
    """
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


def _share_by_number(
    connection: Connection, audience: Row[Any], dropped: Sequence[GoodRow], numbers: Iterable[str]
) -> None:
    """Gives each row with one of these numbers the noes of all rows with its number."""
    notations = dict.fromkeys(one for number in numbers for one in notations_of(number))
    found = _rows(connection, audience, _R.phone, notations)
    noes: dict[str, dict[str, str]] = {}
    for row in found:
        noes.setdefault(line_of(row.phone), {}).update(noes_in(json.loads(row.cells)) | _declined(row))
    for row in dropped:
        noes.setdefault(line_of(row.phone), {}).update(noes_in(row.cells))
    _decline(connection, [(row, overruled(noes[line_of(row.phone)], json.loads(row.cells))) for row in found])


def _rows(
    connection: Connection, audience: Row[Any], column: ColumnElement[Any], keys: Iterable[str]
) -> list[Row[Any]]:
    """The rows of an audience with one of these values in a column."""
    found, left = list[Row[Any]](), iter(keys)
    columns = (_R.id, _R.phone, _R.dedupe_key, _R.cells, _R.declined)
    wanted: Select[*tuple[Any, ...]] = select(*columns).where(_R.audience_id == audience.id)
    while these := list(islice(left, _AT_ONCE)):
        found.extend(connection.execute(wanted.where(column.in_(these))).all())
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
