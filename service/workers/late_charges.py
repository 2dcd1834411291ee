"""Asks carriers what they charged for calls that are over, and settles it."""

import logging
from collections.abc import Mapping
from typing import Any

import anyio
from sqlalchemy import Row

from callwright.service.dialling.late_charges import settle
from callwright.service.platform.clock.clock import DAY
from callwright.service.rules.cost_items import TRANSFER
from callwright.service.services import Services
from callwright.service.tables import awaited_charges
from callwright.service.telephony.legs.carrier import Carrier, Charge

log = logging.getLogger(__name__)
EVERY_S = 15.0
ANSWERS_WITHIN_S = 10.0
"""Seconds that a carrier has to say what a call cost."""
AT_ONCE = 4
"""Carriers limit how many requests they take at once."""
MOST = 1_000_000
"""No call costs so much, in any currency that carriers charge in; also no charge is negative."""


async def run(services: Services, carriers: Mapping[str, Carrier]) -> None:
    """Asks for the charges that are due of these carriers, and gives up those that are too old."""
    now_ms = services.clock.now_ms()
    if not await services.database.read(awaited_charges.are_due, list(carriers), now_ms):
        return
    due = await services.database.write(awaited_charges.take_due, list(carriers), now_ms)
    limiter = anyio.CapacityLimiter(AT_ONCE)
    async with anyio.create_task_group() as tasks:
        for awaited in due:
            tasks.start_soon(_settle, services, carriers[awaited.carrier], awaited, now_ms, limiter)


async def _settle(
    services: Services, carrier: Carrier, awaited: Row[Any], now_ms: int, limiter: anyio.CapacityLimiter
) -> None:
    call_id: str = awaited.call_id
    async with limiter:
        charge = await _asked(carrier, awaited.charge_id, call_id)
    gives_up = now_ms - awaited.ended_at > awaited_charges.GIVEN_UP_AFTER_MS
    if charge is None and not gives_up:
        return
    if charge is None:
        days = awaited_charges.GIVEN_UP_AFTER_MS // DAY
        log.warning("a carrier did not say for %d days what a call cost", days, extra={"call_id": call_id})
    transfer = awaited.charge_id if awaited.item == TRANSFER else None
    await services.database.write(settle, services.ids, call_id, charge, now_ms=now_ms, transfer=transfer)


async def _asked(carrier: Carrier, charge_id: str, call_id: str) -> Charge | None:
    """What the carrier says; None if it does not know yet, or does not answer."""
    try:
        with anyio.fail_after(ANSWERS_WITHIN_S):
            charge = await carrier.charge_of(charge_id)
    except Exception as error:  # of any carrier; it is asked again
        log.warning("a carrier did not say what a call cost: %s", type(error).__name__, extra={"call_id": call_id})
        return None
    if charge is not None and not (charge.amount.is_finite() and 0 <= charge.amount < MOST):
        log.warning("a carrier says a charge that cannot be", extra={"call_id": call_id})
        return None
    return charge
