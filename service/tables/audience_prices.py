"""What calls to an audience cost, by the countries of its people, which the audience counts."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Row, bindparam, select

from callwright.service.rules.prices import price_list
from callwright.service.rules.prices.installation_prices import InstallationPrices
from callwright.service.rules.prices.price_list import REST, SIMULATED, Price
from callwright.service.rules.prices.transfer_prices import with_transfers
from callwright.service.tables import price_lists
from callwright.service.tables.schema import agents, audiences, phone_numbers

_CARRIERS = select(phone_numbers.c.provider).where(phone_numbers.c.id.in_(bindparam("ids", expanding=True))).distinct()
_TOOLS = select(agents.c.call_tools).where(agents.c.id == bindparam("id"))
_COUNTRIES = select(audiences.c.countries).where(audiences.c.id == bindparam("id"))


@dataclass(frozen=True)
class AudiencePrices:
    """The lowest and the highest price of a call to somebody of an audience."""

    cheapest: Price
    dearest: Price
    untransferred: Price
    """The lowest of a call that is not transferred."""


def prices_of(connection: Connection, row: Row[Any], agent: Mapping[str, Any] | None = None) -> AudiencePrices:
    """The prices of a deployment's calls, with the most that a person costs to whom its agent may transfer them.

    Without people they are those of countries without a price of their own, by the installation's list those of all
    destinations. `agent` are the fields of the agent that it keeps or would keep; None: those that it has kept, or
    those of its agent now.
    """
    text = connection.execute(_COUNTRIES, {"id": row.audience_id}).scalar() if row.audience_id else None
    countries = _countries(text or "{}")
    listed = price_lists.list_of_deployment(connection, row)
    tools = _call_tools_of(connection, row) if agent is None else agent.get("call_tools")
    if listed is None and tools is None:
        return _ends(price_list.prices_to(SIMULATED, countries or (REST,)))
    return _ends(
        [
            with_transfers(price, listed, carrier, tools)
            for carrier in carriers_of(connection, row)
            for price in _prices_to(listed, carrier, countries)
        ]
    )


def _prices_to(listed: InstallationPrices | None, carrier: str, countries: tuple[str, ...]) -> list[Price]:
    if listed is None:
        return price_list.prices_to(SIMULATED, countries or (REST,))
    return listed.prices_to(carrier, countries)


def _call_tools_of(connection: Connection, row: Row[Any]) -> str | None:
    """The tools of the agent that a deployment keeps, or would keep."""
    if row.agent_snapshot is not None:
        return _kept_tools(row.agent_snapshot)
    return connection.execute(_TOOLS, {"id": row.agent_id}).scalar()


@lru_cache(maxsize=256)
def _kept_tools(snapshot: str) -> str | None:
    return json.loads(snapshot).get("call_tools")


def carriers_of(connection: Connection, row: Row[Any]) -> list[str]:
    """The carriers of a deployment's numbers."""
    ids: list[str] = json.loads(row.phone_number_ids)
    return sorted(connection.execute(_CARRIERS, {"ids": ids}).scalars()) or [SIMULATED]


def _ends(prices: list[Price]) -> AudiencePrices:
    in_order = sorted(prices, key=_how_dear)
    untransferred = min((replace(price, transfer_minute=0) for price in prices), key=_how_dear)
    return AudiencePrices(in_order[0], in_order[-1], untransferred)


def _how_dear(price: Price) -> tuple[int, int]:
    return price.held_back, price.minute


@lru_cache(maxsize=1_024)
def _countries(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))
