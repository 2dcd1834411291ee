"""Compares pending top-ups with their provider, for events that got lost."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Row, select, update

from callwright.service.payments import stripe_checkout, topups
from callwright.service.payments.provider import PaymentProvider, ProviderRefused, ProviderUnavailable
from callwright.service.payments.simulated import NAME as SIMULATED
from callwright.service.payments.simulated import SimulatedProvider
from callwright.service.payments.stripe_objects import NAME as STRIPE
from callwright.service.platform.clock.clock import HOUR, MINUTE
from callwright.service.platform.database.database import Database
from callwright.service.platform.ids import Ids
from callwright.service.settings import PaymentSettings
from callwright.service.tables.schema import topups as table

log = logging.getLogger(__name__)
EVERY_S = 5.0
MOST_AT_ONCE = 50
"""The most top-ups that one round looks at."""
LONGEST_MS = HOUR
"""The longest time between two comparisons of one top-up."""
_T = table.c


async def run(database: Database, ids: Ids, settings: PaymentSettings, root: str, now_ms: int) -> int:
    """One round. Returns how many top-ups were changed.

    `root` is the address of the service. A provider that does not answer ends the round for its top-ups: they are due
    again later. A wrong clock does no harm: money that is paid for an expired top-up is booked too.
    """
    due = await database.read(_due, now_ms)
    changed = 0
    for row in due:
        if row.provider_reference is None and row.expires_at <= now_ms:  # nobody got a link
            changed += await database.write(topups.expire, ids, row.id, now_ms)
    changed += await _compare(database, ids, SimulatedProvider(root), due, now_ms)
    if settings.provider == STRIPE and any(row.provider == STRIPE for row in due):
        async with stripe_checkout.connected(settings, root) as provider:
            changed += await _compare(database, ids, provider, due, now_ms)
    if due:
        await database.write(_put_off, [row.id for row in due], now_ms)
    return changed


async def _compare(
    database: Database,
    ids: Ids,
    provider: PaymentProvider,
    due: Sequence[Row[Any]],
    now_ms: int,
) -> int:
    changed = 0
    for row in due:
        if row.provider != provider.name or row.provider_reference is None:
            continue
        try:
            payment = await provider.look_up(row.id, row.provider_reference)
        except ProviderUnavailable:
            log.warning("%s does not answer, so top-ups are looked at later", provider.name)
            break
        except ProviderRefused:
            log.warning("%s does not say how a top-up stands", provider.name, extra={"topup_id": row.id})
            continue
        if payment.status == "pending" and provider.name == SIMULATED and row.expires_at <= now_ms:
            payment = replace(payment, status="expired")  # Stripe itself says when its checkouts expire
        changed += await database.write(topups.record_payment, ids, payment, now_ms)
    return changed


def _due(connection: Connection, now_ms: int) -> Sequence[Row[Any]]:
    due = select(table).where(_T.next_look_at <= now_ms).order_by(_T.next_look_at).limit(MOST_AT_ONCE)
    return connection.execute(due).all()


def _put_off(connection: Connection, looked_at: Sequence[str], now_ms: int) -> None:
    """Pending ones are looked at again after half their age, from a minute to an hour."""
    pending = select(_T.id, _T.created_at).where(_T.id.in_(looked_at), _T.next_look_at.is_not(None))
    for row in connection.execute(pending).all():
        wait_ms = min(max((now_ms - row.created_at) // 2, MINUTE), LONGEST_MS)
        still = update(table).where(_T.id == row.id, _T.next_look_at.is_not(None))
        connection.execute(still.values(next_look_at=now_ms + wait_ms))
