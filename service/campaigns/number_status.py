"""Takes a rented number out of use for good. One that was rented at a real carrier is given back there first."""

from collections.abc import Mapping
from typing import Any, Literal

from sqlalchemy import Connection, Row, update

from callwright.contract.events import PHONE_NUMBER_STATUS_CHANGED, PhoneNumberStatusChanged
from callwright.service.platform.ids import Ids
from callwright.service.tables import outbox
from callwright.service.tables.schema import phone_numbers
from callwright.service.telephony.registry import TWILIO

EndOfUse = Literal["releasing", "released"]
NO_ROUTING: Mapping[str, Any] = {
    "routing_url": None,
    "routing_secret": None,
    "routing_enabled": False,
    "routing_fallback": None,
    "routing_failures": 0,
    "routing_failing_since": None,
}
"""The columns of a number without a routing webhook."""


def is_rented_at_carrier(row: Row[Any]) -> bool:
    """Whether a real carrier was asked for the number. One that was taken in costs nothing here, and stays there."""
    return row.provider == TWILIO and row.monthly_micros > 0


def end_of_use(row: Row[Any]) -> EndOfUse:
    """What a number becomes when it is given back."""
    return "releasing" if is_rented_at_carrier(row) else "released"


def take_out_of_use(connection: Connection, ids: Ids, row: Row[Any], status: EndOfUse, *, now_ms: int) -> None:
    """Takes a number out of use and emits the event. It is not charged any more. The caller holds its lock.

    One that is `releasing` is nobody else's until its carrier has it back.
    """
    values = {
        "status": status,
        "renews_at": None,
        "renewal_retry_at": None,
        "released_at": now_ms if status == "released" else None,
        "updated_at": now_ms,
        **NO_ROUTING,
    }
    connection.execute(update(phone_numbers).where(phone_numbers.c.id == row.id).values(values))
    tell(connection, ids, row, status, now_ms=now_ms)


def tell(connection: Connection, ids: Ids, row: Row[Any], status: str, *, now_ms: int) -> None:
    """Emits the event that a number, whose row is as it was, has a new status."""
    data = PhoneNumberStatusChanged(
        phone_number_id=row.id, status=status, previous_status=row.status, simulated=row.simulated
    )
    outbox.emit(connection, ids, row.org_id, PHONE_NUMBER_STATUS_CHANGED, data, at_ms=now_ms, simulated=row.simulated)
