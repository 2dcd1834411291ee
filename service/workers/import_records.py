"""The record of an import: its lease and its end."""

from typing import Any

from sqlalchemy import ColumnElement, Connection, bindparam, select, update

from callwright.service.campaigns.ended_imports import end_import
from callwright.service.platform.clock.clock import HOUR
from callwright.service.platform.lease import LeaseLost
from callwright.service.services import Services
from callwright.service.tables.import_uploads import LONGEST_IMPORT_MS
from callwright.service.tables.schema import imports
from callwright.service.tables.schema.leases import IMPORTS

_I = imports.c
_AGE = select(_I.created_at).where(_I.id == bindparam("id"))


def until(connection: Connection, services: Services) -> ColumnElement[int]:
    """When the lease of an import ends if it is renewed now."""
    now_ms = services.clock.now_ms()
    return IMPORTS.until(connection, now_ms, now_ms + services.settings.deployment_lease_ms)


def renew(connection: Connection, services: Services, import_id: str, owner: str, **also: Any) -> None:
    """Renews the lease, and sets other columns of the import at the same time. Raises `LeaseLost`."""
    IMPORTS.mine(connection, import_id, owner)
    renewed = update(imports).where(_I.id == import_id)
    connection.execute(renewed.values(lease_until=until(connection, services), **also))


def expired(connection: Connection, services: Services, import_id: str, owner: str) -> bool:
    """Whether the import is too old; then it fails. Rows that it has added stay. Raises `LeaseLost`."""
    row = connection.execute(_AGE, {"id": import_id}).one_or_none()
    if row is None:
        raise LeaseLost(import_id)  # it was deleted with its audience
    created_at: int = row.created_at
    if services.clock.now_ms() < created_at + LONGEST_IMPORT_MS:
        return False
    hours = LONGEST_IMPORT_MS // HOUR
    fail(connection, services, import_id, owner, f"it has not ended within {hours} hours; import the file again")
    return True


def complete(connection: Connection, services: Services, import_id: str, owner: str) -> None:
    """Ends an import of which all rows were taken. Raises `LeaseLost`."""
    row = IMPORTS.mine(connection, import_id, owner)
    status = "completed_with_errors" if row.invalid or row.duplicates else "completed"
    end_import(connection, services, row, status, None)


def fail(connection: Connection, services: Services, import_id: str, owner: str, reason: str) -> None:
    """Ends an import that cannot go on. Rows that were taken stay. Raises `LeaseLost`."""
    end_import(connection, services, IMPORTS.mine(connection, import_id, owner), "failed", reason)
