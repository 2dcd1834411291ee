"""What a call has cost, as it is shown."""

from functools import lru_cache
from typing import Any

from callwright.contract.deployments.call_price import CURRENCY
from callwright.service.platform.money import amount
from callwright.service.rules.cost_items import CostItem, stored_items


@lru_cache(maxsize=4_096)
def cost_of(micros: int | None, billed_seconds: int, items: str | None) -> dict[str, Any] | None:
    """The `cost` of a call. Cached, because many calls cost the same. Calls of earlier versions have no parts."""
    if micros is None:
        return None
    whole = [CostItem("telephony", billed_seconds, "second", micros)] if billed_seconds else []
    breakdown = [_cost_item(one) for one in (stored_items(items) if items else whole)]
    return {"amount": amount(micros), "currency": CURRENCY, "breakdown": breakdown}


def _cost_item(one: CostItem) -> dict[str, Any]:
    told = None if one.told is None else {"amount": amount(one.told[0]), "currency": one.told[1]}
    return {
        "item": one.item,
        "quantity": float(one.quantity),
        "unit": one.unit,
        "amount": None if one.micros is None else amount(one.micros),
        "status": one.status,
        "priced_by": one.priced_by,
        "provider": one.provider,
        "model": one.model,
        "carrier_charged": told,
    }
