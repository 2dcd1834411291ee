"""Takes a rented number out of use for good."""

from typing import Any, Literal

from sqlalchemy import Connection, Row, update

from callwright.contract.events import PHONE_NUMBER_STATUS_CHANGED, PhoneNumberStatusChanged
from callwright.service.platform.ids import Ids
from callwright.service.tables import outbox
from callwright.service.tables.schema import phone_numbers


def take_out_of_use(
    connection: Connection, ids: Ids, row: Row[Any], status: Literal["released"], *, now_ms: int
) -> None:
    """Takes a number out of use and emits the event. It is not charged any more. The caller holds its lock."""
    values = {
        "status": status,
        "renews_at": None,
        "renewal_retry_at": None,
        "released_at": now_ms,
        "updated_at": now_ms,
    }
    connection.execute(update(phone_numbers).where(phone_numbers.c.id == row.id).values(values))
    data = PhoneNumberStatusChanged(
        phone_number_id=row.id, status=status, previous_status=row.status, simulated=row.simulated
    )
    outbox.emit(connection, ids, row.org_id, PHONE_NUMBER_STATUS_CHANGED, data, at_ms=now_ms, simulated=row.simulated)
