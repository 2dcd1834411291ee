"""The record of an import: its lease and its end."""

from sqlalchemy import ColumnElement, Connection, update

from callwright.service.campaigns.ended_imports import end_import
from callwright.service.services import Services
from callwright.service.tables.schema import imports
from callwright.service.tables.schema.leases import IMPORTS

_I = imports.c


def until(connection: Connection, services: Services) -> ColumnElement[int]:
    """When the lease of an import ends if it is renewed now."""
    now_ms = services.clock.now_ms()
    return IMPORTS.until(connection, now_ms, now_ms + services.settings.deployment_lease_ms)


def renew(connection: Connection, services: Services, import_id: str, owner: str) -> None:
    """Renews the lease. Raises `LeaseLost`."""
    IMPORTS.mine(connection, import_id, owner)
    connection.execute(update(imports).where(_I.id == import_id).values(lease_until=until(connection, services)))


def complete(connection: Connection, services: Services, import_id: str, owner: str) -> None:
    """Ends an import of which all rows were taken. Raises `LeaseLost`."""
    row = IMPORTS.mine(connection, import_id, owner)
    status = "completed_with_errors" if row.invalid or row.duplicates else "completed"
    end_import(connection, services, row, status, None)


def fail(connection: Connection, services: Services, import_id: str, owner: str, reason: str) -> None:
    """Ends an import that cannot go on. Rows that were taken stay. Raises `LeaseLost`."""
    end_import(connection, services, IMPORTS.mine(connection, import_id, owner), "failed", reason)
