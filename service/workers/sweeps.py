"""Periodic tasks: renews numbers, ends silent uploads, expires reviews, deletes what is old, stores uses of keys."""

from anyio import to_thread
from sqlalchemy import Connection, bindparam, delete, update

from callwright.service.accounts import confirmations, sessions
from callwright.service.campaigns import carrier_numbers
from callwright.service.campaigns.ended_imports import end_silent_uploads
from callwright.service.dialling.stops import reviews
from callwright.service.inbound import browser_callers
from callwright.service.inbound.routing import retention as routing_retention
from callwright.service.platform.clock.clock import DAY
from callwright.service.platform.database.postgres.lock_waits import Locked
from callwright.service.platform.database.unavailable import StorageUnavailable
from callwright.service.platform.uploads import Uploads
from callwright.service.services import Services
from callwright.service.tables import audit_log, compliance_reviews, number_hours
from callwright.service.tables.schema import api_keys, idempotency_keys
from callwright.service.telephony.legs import leg_rows
from callwright.service.workers import recording_retention, renewals

EVERY_S = 5.0
_TOUCH = update(api_keys).where(api_keys.c.id == bindparam("b_key")).values(last_used_at=bindparam("b_now"))
_EXPIRED = delete(idempotency_keys).where(idempotency_keys.c.created_at <= bindparam("before"))


async def run(services: Services) -> None:
    """One sweep. It uses the confirmed time, because its changes cannot be undone."""
    confirmed_now_ms = services.clock.confirmed_now_ms()
    await record_key_uses(services)
    await carrier_numbers.go_on(services)
    await renewals.run(services, confirmed_now_ms)
    await _expire_reviews(services, confirmed_now_ms)
    await services.database.write(
        lambda connection: connection.execute(_EXPIRED, {"before": confirmed_now_ms - DAY}).rowcount
    )
    for org_id in await services.database.read(audit_log.overdue, confirmed_now_ms):
        await services.database.write(audit_log.forget, org_id, confirmed_now_ms)
    await recording_retention.run(services)
    await routing_retention.run(services, confirmed_now_ms)
    if await services.database.read(browser_callers.are_old, confirmed_now_ms):
        await services.database.write(browser_callers.forget_old, confirmed_now_ms)
    if await services.database.read(sessions.are_ended, confirmed_now_ms):
        await services.database.write(sessions.forget_ended, confirmed_now_ms)
    if await services.database.read(confirmations.are_old, confirmed_now_ms):
        await services.database.write(confirmations.forget_old, confirmed_now_ms)
    if await services.database.read(number_hours.are_old, confirmed_now_ms):
        await services.database.write(number_hours.forget_old, confirmed_now_ms)
    await end_silent_uploads(services)
    await to_thread.run_sync(Uploads(services.settings).remove_old)
    if await services.database.read(leg_rows.are_ended):
        await services.database.write(leg_rows.forget_recorded)


async def _expire_reviews(services: Services, now_ms: int) -> None:
    """Expires the compliance reviews that are past due."""
    public_url = services.settings.public_url
    while await services.database.read(compliance_reviews.is_overdue, now_ms):
        if not await services.database.write(reviews.expire, services.ids, now_ms=now_ms, public_url=public_url):
            return


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
