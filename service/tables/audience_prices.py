"""What calls to an audience cost, by the countries of its people, which the audience counts."""

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Row, bindparam, select

from callwright.service.rules.prices import price_list
from callwright.service.rules.prices.price_list import REST, SIMULATED, Price
from callwright.service.tables.schema import audiences

_COUNTRIES = select(audiences.c.countries).where(audiences.c.id == bindparam("id"))


@dataclass(frozen=True)
class AudiencePrices:
    """The lowest and the highest price of a call to somebody of an audience."""

    cheapest: Price
    dearest: Price


def prices_of(connection: Connection, row: Row[Any]) -> AudiencePrices:
    """The prices of a deployment's calls. Without people they are those of countries without a price of their own."""
    text = connection.execute(_COUNTRIES, {"id": row.audience_id}).scalar() if row.audience_id else None
    return prices_to(_countries(text or "{}"))


def prices_to(countries: tuple[str, ...]) -> AudiencePrices:
    """The prices of calls to people of these countries."""
    found = price_list.prices_to(SIMULATED, countries or (REST,))
    return AudiencePrices(found[0], found[-1])


@lru_cache(maxsize=1_024)
def _countries(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))
