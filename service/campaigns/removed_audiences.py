"""Audiences that were deleted. A large one is gone for everybody at once; its rows follow in pieces, so that others
need not wait for one transaction. A process that ends in between leaves the rest to the next one.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Select, bindparam, delete, exists, select, update

from callwright.service.platform.database.bulk import for_ids
from callwright.service.platform.database.units import PIECE_ROWS, ROWS_AT_ONCE
from callwright.service.platform.lease import RELEASED
from callwright.service.tables import contacts_by_name, declined_lines
from callwright.service.tables.schema import audience_rows, audiences, import_errors, imports

_A, _R, _I, _E = audiences.c, audience_rows.c, imports.c, import_errors.c
_FEW = 25
"""Audiences of which one look knows."""
_REMOVED = select(_A.id).where(_A.deleted_at.is_not(None)).order_by(_A.deleted_at).limit(_FEW)
_LOCK = select(_A.id).where(_A.id == bindparam("id"), _A.deleted_at.is_not(None)).with_for_update(skip_locked=True)
_ERRORS: Select[*tuple[Any, ...]] = (
    select(_E.id).join(imports, _I.id == _E.import_id).where(_I.audience_id == bindparam("id"))
)
_ROWS = select(_R.id).where(_R.audience_id == bindparam("id"))
_DELETE_ERRORS = for_ids(_E.id, lambda these: delete(import_errors).where(these))
_DELETE_ROWS = for_ids(_R.id, lambda these: delete(audience_rows).where(these))
IS_REMOVED = exists().where(_A.id == _R.audience_id, _A.deleted_at.is_not(None))
"""That a row belongs to an audience that was deleted."""


def remove(connection: Connection, audience_id: str, *, now_ms: int) -> None:
    """Removes an audience with its rows and imports: at once if there are few, else it is hidden and its name is free.

    An import that reads a file into it ends.
    """
    given = {"id": audience_id}
    beyond = {"most": 1, "skipped": ROWS_AT_ONCE}
    is_large = any(
        connection.execute(found.limit(bindparam("most")).offset(bindparam("skipped")), given | beyond).first()
        for found in (_ROWS, _ERRORS, declined_lines.OF_AUDIENCE)
    )
    if not is_large:
        _remove_errors(connection, audience_id)
        contacts_by_name.remove(connection, audience_id)
        connection.execute(delete(audience_rows).where(_R.audience_id == audience_id))
        while declined_lines.remove_some(connection, audience_id, ROWS_AT_ONCE):
            pass
        _remove_empty(connection, audience_id)
        return
    ended = {"status": "failed", "completed_at": now_ms, "csv": None, "file": None, **RELEASED}
    connection.execute(update(imports).where(_I.audience_id == audience_id, _I.completed_at.is_(None)).values(ended))
    hidden = {"deleted_at": now_ms, "name": audience_id}
    connection.execute(update(audiences).where(_A.id == audience_id).values(hidden))


def removed(connection: Connection) -> Sequence[str]:
    """Some audiences that have to be removed further, those first that were deleted first."""
    return connection.execute(_REMOVED).scalars().all()


def remove_piece(connection: Connection, audience_id: str) -> bool:
    """Removes the next rows of an audience that was deleted, and at the end the audience; false if another process
    does."""
    if connection.execute(_LOCK, {"id": audience_id}).first() is None:
        return False
    if not (
        _remove_errors(connection, audience_id)
        or _remove_rows(connection, audience_id)
        or declined_lines.remove_some(connection, audience_id, PIECE_ROWS)
    ):
        _remove_empty(connection, audience_id)
    return True


def _remove_errors(connection: Connection, audience_id: str) -> bool:
    ids = connection.execute(_ERRORS.limit(PIECE_ROWS), {"id": audience_id}).scalars().all()
    if ids:
        _DELETE_ERRORS.run(connection, ids)
    return bool(ids)


def _remove_rows(connection: Connection, audience_id: str) -> bool:
    ids = connection.execute(_ROWS.limit(PIECE_ROWS), {"id": audience_id}).scalars().all()
    if ids:
        contacts_by_name.remove(connection, audience_id, ids)
        _DELETE_ROWS.run(connection, ids)
    return bool(ids)


def _remove_empty(connection: Connection, audience_id: str) -> None:
    connection.execute(delete(imports).where(_I.audience_id == audience_id))
    connection.execute(delete(audiences).where(_A.id == audience_id))
