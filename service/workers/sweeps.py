"""Periodic tasks: renews numbers, deletes old idempotency keys, audit entries and recordings, stores uses of keys."""

from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, delete, select, update

from callwright.service.accounts.principals import SERVICE
from callwright.service.campaigns import number_status, spending_cap
from callwright.service.dialling import endings
from callwright.service.dialling.queue import LOCKED
from callwright.service.platform.clock.clock import DAY
from callwright.service.platform.database.postgres.lock_waits import Locked
from callwright.service.platform.database.unavailable import StorageUnavailable
from callwright.service.platform.money import RENTAL_PERIOD_MS
from callwright.service.services import Services
from callwright.service.tables import audit_log
from callwright.service.tables.ledger import Movement, book, wallet_of
from callwright.service.tables.schema import api_keys, idempotency_keys, phone_numbers
from callwright.service.workers import recording_retention

EVERY_S = 5.0
_N = phone_numbers.c
_DUE = select(phone_numbers).where(_N.renews_at <= bindparam("now"), _N.status == "active").limit(100)
_BOUND_TO: Select[*tuple[Any, ...]] = select(_N.inbound_deployment_id, _N.renewed_by_key_id, _N.monthly_micros).where(
    _N.id == bindparam("id")
)
_TOUCH = update(api_keys).where(api_keys.c.id == bindparam("b_key")).values(last_used_at=bindparam("b_now"))
_EXPIRED = delete(idempotency_keys).where(idempotency_keys.c.created_at <= bindparam("before"))


async def run(services: Services) -> None:
    """One sweep. It uses the confirmed time, because its changes cannot be undone."""
    confirmed_now_ms = services.clock.confirmed_now_ms()
    await record_key_uses(services)
    due = await services.database.read(lambda connection: connection.execute(_DUE, {"now": confirmed_now_ms}).all())
    for number in due:
        await services.database.write(_renew, services, number.id, confirmed_now_ms)
    await services.database.write(
        lambda connection: connection.execute(_EXPIRED, {"before": confirmed_now_ms - DAY}).rowcount
    )
    for org_id in await services.database.read(audit_log.overdue, confirmed_now_ms):
        await services.database.write(audit_log.forget, org_id, confirmed_now_ms)
    await recording_retention.run(services)


async def record_key_uses(services: Services) -> None:
    """Stores when keys were last used and how often, if any was used since the last time."""
    await services.limits.keep(services.clock.confirmed_now_ms())
    if services.used_keys:
        used = dict(services.used_keys)
        services.used_keys.clear()
        try:
            await services.database.write(_touch, used)
        except (StorageUnavailable, Locked) as error:
            for key, at_ms in used.items():  # unless it was used again meanwhile
                services.used_keys.setdefault(key, at_ms)
            if not isinstance(error, Locked):  # the row of a key that writes all the time is stored later
                raise


def _touch(connection: Connection, used: dict[str, int]) -> None:
    connection.execute(_TOUCH, [{"b_key": key, "b_now": at_ms} for key, at_ms in used.items()])


def _renew(connection: Connection, services: Services, number_id: str, now_ms: int) -> None:
    """Charges another month; a number that is not to be renewed is released, one that cannot be paid is suspended.

    If the key that renews it has a spending cap, a month beyond the cap cannot be paid. An inbound deployment that
    loses its number fails.
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
    if row.auto_renew and not unpaid:
        charge = Movement("number_rental", -row.monthly_micros, "phone_number", row.id, "a month of a phone number")
        book(connection, services.ids, row.org_id, [charge], now_ms=now_ms)
        renewed = update(phone_numbers).where(_N.id == number_id)
        connection.execute(renewed.values(renews_at=row.renews_at + RENTAL_PERIOD_MS, updated_at=now_ms))
        done = "renewed"
    else:
        done = "suspended" if row.auto_renew else "released"
        number_status.take_out_of_use(connection, services.ids, row, done, now_ms=now_ms)
        if deployment is not None:
            connection.execute(update(phone_numbers).where(_N.id == number_id).values(inbound_deployment_id=None))
            endings.fail_without_number(connection, services.ids, deployment, now_ms=now_ms)
    entry = audit_log.entry_row(services.ids, row.org_id, f"phone_number.{done}", number_id, by=SERVICE, at_ms=now_ms)
    audit_log.add_entries(connection, [entry])
