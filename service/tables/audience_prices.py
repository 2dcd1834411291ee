"""What calls to an audience cost, by the countries of its people, which the audience counts."""

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Row, bindparam, select

from callwright.service.rules.prices import price_list
from callwright.service.rules.prices.price_list import REST, SIMULATED, Price
from callwright.service.tables import price_lists
from callwright.service.tables.schema import audiences, phone_numbers

_CARRIERS = select(phone_numbers.c.provider).where(phone_numbers.c.id.in_(bindparam("ids", expanding=True))).distinct()
_COUNTRIES = select(audiences.c.countries).where(audiences.c.id == bindparam("id"))


@dataclass(frozen=True)
class AudiencePrices:
    """The lowest and the highest price of a call to somebody of an audience."""

    cheapest: Price
    dearest: Price


def prices_of(connection: Connection, row: Row[Any]) -> AudiencePrices:
    """The prices of a deployment's calls. Without people they are those of countries without a price of their own, by
    the installation's list those of all destinations."""
    text = connection.execute(_COUNTRIES, {"id": row.audience_id}).scalar() if row.audience_id else None
    countries = _countries(text or "{}")
    listed = price_lists.list_of_deployment(connection, row)
    if listed is None:
        return _ends(price_list.prices_to(SIMULATED, countries or (REST,)))
    carriers = carriers_of(connection, row)
    return _ends([price for carrier in carriers for price in listed.prices_to(carrier, countries)])


def carriers_of(connection: Connection, row: Row[Any]) -> list[str]:
    """The carriers of a deployment's numbers."""
    ids: list[str] = json.loads(row.phone_number_ids)
    return sorted(connection.execute(_CARRIERS, {"ids": ids}).scalars()) or [SIMULATED]


def _ends(prices: list[Price]) -> AudiencePrices:
    in_order = sorted(prices, key=lambda price: (price.held_back, price.minute))
    return AudiencePrices(in_order[0], in_order[-1])


@lru_cache(maxsize=1_024)
def _countries(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))
