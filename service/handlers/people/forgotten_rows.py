"""Deleting the rows of one person from audiences, with what the audiences say about their rows."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, select, update

from callwright.service.handlers.people.person import Person
from callwright.service.platform.json_text import json_text
from callwright.service.tables import contacts_by_name
from callwright.service.tables.schema import audience_rows, audiences

_A, _R = audiences.c, audience_rows.c
_LOCK = select(audiences).where(_A.id.in_(bindparam("ids", expanding=True))).order_by(_A.id).with_for_update()
_OTHERS = select(_R.cells).where(_R.audience_id == bindparam("audience")).order_by(_R.position).limit(bindparam("most"))
_MOST_SAMPLED = 50
"""Rows of other people that are read for new samples of columns."""
_SAMPLE = 60


def locked(connection: Connection, person: Person, *, most: int) -> Sequence[Row[Any]]:
    """Rows of the person, whose audiences are locked, so that no campaign begins to call them meanwhile."""
    found = connection.execute(person.rows().limit(most)).all()
    ids = sorted({row.audience_id for row in found})
    if not ids:
        return ()
    connection.execute(_LOCK, {"ids": ids}).all()
    return connection.execute(person.rows().where(_R.audience_id.in_(ids)).limit(most)).all()


def forget(connection: Connection, rows: Sequence[Row[Any]], *, now_ms: int) -> None:
    """Deletes rows of locked audiences. How many rows an audience received stays, how many it has becomes less."""
    of_audience: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        of_audience.setdefault(row.audience_id, []).append(json.loads(row.cells))
    ids = [row.id for row in rows]
    for audience_id in of_audience:
        contacts_by_name.remove(connection, audience_id, ids)
    connection.execute(delete(audience_rows).where(_R.id.in_(ids)))
    for audience in connection.execute(_LOCK, {"ids": sorted(of_audience)}).all() if of_audience else ():
        gone = of_audience[audience.id]
        others = connection.execute(_OTHERS, {"audience": audience.id, "most": _MOST_SAMPLED}).scalars()
        columns = list(_columns(json.loads(audience.columns), gone, [json.loads(cells) for cells in others]))
        left = audience.valid_count - len(gone)
        status = "empty" if left == 0 and audience.status == "ready" else audience.status
        changed = update(audiences).where(_A.id == audience.id)
        connection.execute(
            changed.values(valid_count=left, status=status, columns=json_text(columns), updated_at=now_ms)
        )


def _columns(
    columns: Sequence[dict[str, Any]], gone: Sequence[dict[str, str]], others: Sequence[dict[str, str]]
) -> Iterator[dict[str, Any]]:
    """The columns without the cells that are gone: a sample that was one of them is another person's now, or none."""
    for column in columns:
        name = column["name"]
        lost = [cells[name] for cells in gone if cells.get(name)]
        sample = column["sample"]
        if sample is not None and sample in (cell[:_SAMPLE] for cell in lost):
            sample = next((cells[name][:_SAMPLE] for cells in others if cells.get(name)), None)
        yield {**column, "filled": max(0, column["filled"] - len(lost)), "sample": sample}
