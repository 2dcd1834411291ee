"""The price of the calls of most tests: to the United States."""

from dataclasses import replace
from typing import Any

import pytest

from callwright.service.rules.prices import price_list
from callwright.service.rules.prices.price_list import SIMULATED, CarrierPrices, Destination, price_of, rental_of

US = price_of(SIMULATED, "+12125550100")
LOCAL_RENT = rental_of(SIMULATED, "US", "local")


def change_prices(monkeypatch: pytest.MonkeyPatch, *, minute: int | None = None, local: int | None = None) -> None:
    """Another price list from now on: for a minute to, or a local number of, the United States."""
    old = price_list.IN_FORCE.carriers[SIMULATED]
    calls: dict[str, Any] = dict(old.calls)
    if minute is not None:
        calls["US"] = Destination(replace(US, minute=minute), replace(US, minute=minute))
    rentals = {**old.rentals, "US": {**old.rentals["US"], **({} if local is None else {"local": local})}}
    changed = replace(price_list.IN_FORCE, carriers={SIMULATED: CarrierPrices(calls, rentals)})
    monkeypatch.setattr(price_list, "IN_FORCE", changed)
