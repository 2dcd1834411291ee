"""Activates a deployment: its contacts are made from the audience and become due."""

from typing import Any

from sqlalchemy import Connection, Row, bindparam, select, update

from callwright.service.campaigns.adding_people import insert_contacts
from callwright.service.platform.json_text import json_text
from callwright.service.tables import price_lists
from callwright.service.tables.price_lists import NO_LIST
from callwright.service.tables.rules_files import current_version
from callwright.service.tables.schema import audiences, deployments

_AUDIENCE = select(audiences.c.id).where(audiences.c.id == bindparam("id")).with_for_update(read=True)


def _prices_of_start(connection: Connection, row: Row[Any]) -> dict[str, str]:
    """The columns of the prices that hold from the start on. Simulated calls have prices of their own."""
    if row.simulated:
        return {"prices_version": NO_LIST}
    own = price_lists.own_services_of(connection, row.org_id, row.id, hold=True)
    return {"prices_version": price_lists.current_version(connection), "own_services": ",".join(sorted(own))}


def begin(connection: Connection, row: Row[Any], clock_ms: int, *, now_ms: int | None = None) -> None:
    """Activates the deployment. Its own clock starts at `clock_ms`, and its contacts are due from then on."""
    connection.execute(_AUDIENCE, {"id": row.audience_id})  # waits for rows that are being added
    moment_ms = clock_ms if now_ms is None else now_ms
    states = insert_contacts(connection, row, due_ms=clock_ms, now_ms=moment_ms)
    connection.execute(
        update(deployments)
        .where(deployments.c.id == row.id)
        .values(
            contacts=states.total(),
            states=json_text(states),
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
