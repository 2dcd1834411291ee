"""The renewal of rented numbers: each month is paid from the wallet when it begins, once.

A month that cannot be paid is past due. It is tried again every day for a week, while the number stays in use; then
the number is released. What was paid for a month is not given back.

For a number that was rented at Twilio, Twilio is asked first whether it is still there; nothing is paid for one that
is gone.
"""

from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, func, select, update

from callwright.service.accounts.principals import SERVICE
from callwright.service.campaigns import carrier_numbers, number_status, spending_cap
from callwright.service.dialling import endings
from callwright.service.dialling.queue import LOCKED
from callwright.service.platform.clock.clock import DAY, MINUTE
from callwright.service.platform.ids import Ids
from callwright.service.platform.money import RENTAL_PERIOD_MS
from callwright.service.services import Services
from callwright.service.tables import audit_log
from callwright.service.tables.ledger import Movement, book, wallet_of
from callwright.service.tables.schema import phone_numbers

RETRIED_FOR_MS = 7 * DAY
"""How long after the first failure a payment is tried again."""
_ASKED_AGAIN_AFTER_MS = 15 * MINUTE
"""How long a renewal waits if Twilio does not say whether it still has the number."""
_MOST = 100
"""The most numbers of one sweep."""
_N = phone_numbers.c
_moment = func.coalesce(_N.renewal_retry_at, _N.renews_at)
_DUE = select(phone_numbers).where(_moment <= bindparam("now"), _N.status == "active")
_NEXT = _DUE.order_by(_moment, _N.id).limit(_MOST)
_BOUND_TO: Select[*tuple[Any, ...]] = select(_N.inbound_deployment_id, _N.renewed_by_key_id, _N.monthly_micros).where(
    _N.id == bindparam("id")
)


async def run(services: Services, now_ms: int) -> None:
    """Renews the numbers whose month is over. `now_ms` has certainly come, because a charge cannot be undone."""
    due = await services.database.read(lambda connection: connection.execute(_NEXT, {"now": now_ms}).all())
    for number in due:
        kept = "held"
        if number_status.is_rented_at_carrier(number):
            kept = await carrier_numbers.still_has(services, number.number)
        if kept == "unknown":
            await services.database.write(_postpone, number.id, now_ms)
        else:
            await services.database.write(_renew, services.ids, number.id, now_ms, is_gone=kept == "gone")


def _postpone(connection: Connection, number_id: str, now_ms: int) -> None:
    later = update(phone_numbers).where(_N.id == number_id, _N.status == "active", _moment <= now_ms)
    connection.execute(later.values(renewal_retry_at=now_ms + _ASKED_AGAIN_AFTER_MS))


def _renew(connection: Connection, ids: Ids, number_id: str, now_ms: int, *, is_gone: bool) -> None:
    """Charges another month, or releases a number that is not to be renewed or was past due for a week.

    If the key that renews it has a spending cap, a month beyond the cap cannot be paid. An inbound deployment that
    loses its number fails. One that its carrier has no more is released at once. A number that another sweep has
    renewed meanwhile is left alone.
    """
    as_it_was = connection.execute(_BOUND_TO, {"id": number_id}).one()
    bound = as_it_was.inbound_deployment_id
    # Locks in this order: the key, the deployment, the number. Requests and cancellations use the same order.
    covered = spending_cap.covers_renewal(connection, as_it_was)
    deployment = connection.execute(LOCKED, {"id": bound}).one_or_none() if bound else None
    row: Row[Any] | None = connection.execute(
        _DUE.where(_N.id == number_id).with_for_update(), {"now": now_ms}
    ).one_or_none()
    if row is None or row.inbound_deployment_id != bound:  # bound or unbound meanwhile: left to the next sweep
        return
    wallet = wallet_of(connection, row.org_id, lock=True)
    unpaid = not covered or wallet.balance_micros - wallet.reserved_micros < row.monthly_micros
    if row.auto_renew and not unpaid and not is_gone:
        charge = Movement("number_rental", -row.monthly_micros, "phone_number", row.id, "a month of a phone number")
        book(connection, ids, row.org_id, [charge], now_ms=now_ms)
        _bill(connection, row, now_ms, renews_at=row.renews_at + RENTAL_PERIOD_MS)
        done = "renewed"
    elif row.auto_renew and not is_gone and now_ms < (since_ms := row.past_due_since or now_ms) + RETRIED_FOR_MS:
        _bill(
            connection, row, now_ms, billing_status="past_due", past_due_since=since_ms, renewal_retry_at=now_ms + DAY
        )
        if row.past_due_since is not None:
            return
        done = "past_due"
    else:
        done = "released" if is_gone else number_status.end_of_use(row)
        number_status.take_out_of_use(connection, ids, row, done, now_ms=now_ms)
        if deployment is not None:
            connection.execute(update(phone_numbers).where(_N.id == number_id).values(inbound_deployment_id=None))
            endings.fail_without_number(connection, ids, deployment, now_ms=now_ms)
    entry = audit_log.entry_row(ids, row.org_id, f"phone_number.{done}", number_id, by=SERVICE, at_ms=now_ms)
    audit_log.add_entries(connection, [entry])


def _bill(connection: Connection, row: Row[Any], now_ms: int, **changes: Any) -> None:
    """Stores the state of a number's payment: current unless `changes` says otherwise."""
    current = {"billing_status": "current", "past_due_since": None, "renewal_retry_at": None}
    values = {**current, "updated_at": now_ms, **changes}
    connection.execute(update(phone_numbers).where(_N.id == row.id).values(values))
