"""Whose import is next: the oldest one of an organization whose last turn is the longest ago.

Of an organization one import runs at a time, so that a long list delays no other organization.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, bindparam, case, exists, select, update

from callwright.service.platform.database.units import brief
from callwright.service.services import Services
from callwright.service.tables.schema import imports
from callwright.service.tables.schema.leases import IMPORTS

_MOST_REMEMBERED = 64
_I = imports.c
_OTHER = imports.alias()
_BEGUN = update(imports).where(_I.id == bindparam("b_id")).values(status="importing")
_IS_THERE = (_I.status != "uploading", _I.source_url.is_(None))


class Turns:
    """The organizations whose imports this process has taken, the latest last; the last 64 of them."""

    def __init__(self) -> None:
        self._had: dict[str, None] = {}

    def has_had(self, org_id: str) -> None:
        """Puts an organization behind all others."""
        self._had.pop(org_id, None)
        self._had[org_id] = None
        while len(self._had) > _MOST_REMEMBERED:
            del self._had[next(iter(self._had))]

    def order(self) -> Sequence[ColumnElement[Any]]:
        """By what imports are ordered: those of organizations without a turn first, then by when they were made."""
        if not self._had:
            return (_I.created_at,)
        places = {org_id: place for place, org_id in enumerate(self._had, 1)}
        return case(places, value=_I.org_id, else_=0), _I.created_at


@brief
def waits(connection: Connection, owner: str, now_ms: int) -> bool:
    """Whether an import waits that the owner may take."""
    waiting = _waiting(connection, now_ms, ()).where(IMPORTS.free(connection, owner, now_ms))
    return connection.execute(waiting).first() is not None


def take(
    connection: Connection, services: Services, owner: str, order: Sequence[ColumnElement[Any]]
) -> Row[Any] | None:
    """Leases the first import in an order of `Turns` that waits and is not locked. Its `id` and `org_id`, or None."""
    now_ms = services.clock.now_ms()
    until_ms = now_ms + services.settings.deployment_lease_ms
    taken = IMPORTS.take(connection, _waiting(connection, now_ms, order), owner, now_ms, until_ms)
    for row in taken:
        connection.execute(_BEGUN, {"b_id": row.id})
    return taken[0] if taken else None


def _waiting(connection: Connection, now_ms: int, order: Sequence[ColumnElement[Any]]) -> Select[Any, Any]:
    """The next import that has not ended and whose file is there, of an organization of which no other import is being
    worked on; of one audience the first file is read first. A file that is being fetched is not there yet, and delays
    nobody.
    """
    other = (
        exists()
        .where(_OTHER.c.org_id == _I.org_id, _OTHER.c.id != _I.id, _OTHER.c.completed_at.is_(None))
        .where(_OTHER.c.source_url.is_(None), IMPORTS.held(connection, _OTHER, now_ms))
    )
    waiting = select(_I.id, _I.org_id).where(_I.completed_at.is_(None), *_IS_THERE, ~other)
    return waiting.order_by(*order).limit(1)
