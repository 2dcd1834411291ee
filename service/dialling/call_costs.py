"""What calls cost that ended: by the prices that were agreed when they were claimed, and by what they used."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from sqlalchemy import Connection

from callwright.service.dialling.limits.coverage import Held, billed_of, simulated_cost
from callwright.service.rules.cost_items import Cost, cost_on_line
from callwright.service.tables import awaited_charges, price_lists
from callwright.service.telephony.engine import CallRequest, CallResult


class Ended(Protocol):
    """A call that ended."""

    @property
    def request(self) -> CallRequest:
        """What was to be done."""
        ...

    @property
    def result(self) -> CallResult:
        """What came of it."""
        ...

    @property
    def ended_ms(self) -> int:
        """When it ended."""
        ...


def costs_of(connection: Connection, ended: Sequence[Ended], held: Mapping[str, Held], *, now_ms: int) -> list[Cost]:
    """The cost of each call. Where its carrier says later what it charged, it is asked from now on."""
    costs: list[Cost] = []
    awaited: list[dict[str, Any]] = []
    for one in ended:
        price, result = held[one.request.call_id].price, one.result
        if result.carrier is None:
            costs.append(simulated_cost(price, result))
            continue
        cost = cost_on_line(
            price,
            billed_of(result),
            carrier=result.carrier,
            used=result.used,
            prices=price_lists.list_of_version(connection, price.list_version),
            is_told=result.charge_id is not None and price.list_version is not None,
            transfers=result.transfer_legs,
        )
        costs.append(cost)
        awaited += [
            {
                "call_id": one.request.call_id,
                "org_id": one.request.org_id,
                "deployment_id": one.request.deployment_id,
                "carrier": result.carrier,
                "charge_id": item.charge_id or result.charge_id,
                "item": item.item,
                "ended_at": now_ms,
            }
            for item in cost.pending
        ]
    awaited_charges.add(connection, awaited, now_ms)
    return costs
