"""Activates a deployment: its contacts are made from the audience and become due."""

import json
from collections import Counter
from typing import Any

from sqlalchemy import Connection, Row, bindparam, select, update

from callwright.service.campaigns.adding_people import insert_contacts
from callwright.service.platform.database.units import PIECE_ROWS, ROWS_AT_ONCE
from callwright.service.platform.json_text import json_text
from callwright.service.tables import price_lists
from callwright.service.tables.price_lists import NO_LIST
from callwright.service.tables.rules_files import current_version
from callwright.service.tables.schema import audiences, deployments

_ROWS = select(audiences.c.row_count).where(audiences.c.id == bindparam("id"))
_AUDIENCE = select(audiences.c.id).where(audiences.c.id == bindparam("id")).with_for_update(read=True)


def hold_audience(connection: Connection, audience_id: str) -> None:
    """Waits for rows that are being added to an audience, and keeps others from being added until the commit."""
    connection.execute(_AUDIENCE, {"id": audience_id})


def _prices_of_start(connection: Connection, row: Row[Any]) -> dict[str, str]:
    """The columns of the prices that hold from the start on. Simulated calls have prices of their own."""
    if row.simulated:
        return {"prices_version": NO_LIST}
    own = price_lists.own_services_of(connection, row.org_id, row.id, hold=True)
    return {"prices_version": price_lists.current_version(connection), "own_services": ",".join(sorted(own))}


def begin(connection: Connection, row: Row[Any], clock_ms: int, *, now_ms: int | None = None) -> None:
    """Activates the deployment. Its own clock starts at `clock_ms`, and its contacts are due from then on.

    The contacts of a large audience are added in pieces, by `add_piece`. Nobody is called before the last one.
    """
    hold_audience(connection, row.audience_id)
    moment_ms = clock_ms if now_ms is None else now_ms
    is_large: bool = _rows_of(connection, row) > ROWS_AT_ONCE
    states = Counter[str]() if is_large else insert_contacts(connection, row, due_ms=clock_ms, now_ms=moment_ms)
    connection.execute(
        update(deployments)
        .where(deployments.c.id == row.id)
        .values(
            contacts=states.total(),
            states=json_text(states),
            contact_changes="adding" if is_large else None,
            contacts_added=0 if is_large else None,
            clock_ms=clock_ms,
            started_at=clock_ms,
            active_since_ms=clock_ms,
            rules_version=current_version(connection),
            **_prices_of_start(connection, row),
            status="active",
            status_reason=None,
            status_changed_at=moment_ms,
            updated_at=moment_ms,
        )
    )


def add_piece(connection: Connection, row: Row[Any], *, now_ms: int) -> bool:
    """Adds the next contacts of a deployment whose `contact_changes` says that some are to be added; true if they were
    the last ones and it is to be dialled. The caller has locked it, and holds its audience."""
    begin_at: int = row.contacts_added
    until, end = begin_at + PIECE_ROWS, _rows_of(connection, row)
    made = insert_contacts(connection, row, due_ms=row.started_at, now_ms=now_ms, since=begin_at, until=until)
    states = Counter[str](json.loads(row.states)) + made
    is_last = until >= end
    then = None if row.changed_fields is None else "rescheduling"
    connection.execute(
        update(deployments)
        .where(deployments.c.id == row.id)
        .values(
            contacts=states.total(),
            states=json_text(states),
            contact_changes=then if is_last else "adding",
            contacts_added=None if is_last else until,
        )
    )
    return is_last and then is None and row.status == "active"


def _rows_of(connection: Connection, row: Row[Any]) -> int:
    """How many rows the audience has been sent: no position is beyond."""
    return connection.execute(_ROWS, {"id": row.audience_id}).scalar_one()
