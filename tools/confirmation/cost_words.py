"""The maximum cost of a changed campaign, or of people who join one, for the sentence that a person agrees to.

Costs are computed as for a start. Where a service does not state the price of a minute, or a campaign's settings, the
sentence says that the cost is not known.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from pydantic import BaseModel

from callwright.contract.declaration.field_types import Money
from callwright.contract.deployments.call_price import CURRENCY, MICROS, CallPrice
from callwright.contract.deployments.deployments import UpdateDeployment
from callwright.contract.deployments.dialling import RetryPolicy
from callwright.contract.deployments.maximum_cost import MaximumCost, cost_said, maximum_cost
from callwright.contract.wallet import GetWallet, Price, get_wallet
from callwright.tools.references.looked_up import looked_up
from callwright.tools.runtime.tool_context import ToolContext


class _CostSettings(BaseModel):
    """The settings that decide the cost of a campaign's calls."""

    retry_policy: RetryPolicy
    max_call_duration_seconds: int
    max_concurrency: int
    budget_cap: Money | None = None


async def change_cost(
    context: ToolContext, deployment: Mapping[str, Any], asked: UpdateDeployment, who: str | None, people: int | None
) -> str:
    """A sentence about the cost of a campaign that has not begun, once it is changed, for `people` people.

    `who` is the people as text.
    """
    changes = asked.model_dump(mode="json", include=asked.named().keys() & _CostSettings.model_fields.keys())
    found = _maximum_cost({**deployment, **changes}, people, await _price(context))
    if found is None:
        return "What it may then cost is not known."
    said = cost_said(cap=found.cap, overrun=found.overrun, high=found.micros)
    return f"It may then call {who} {said}."


async def joining_cost(context: ToolContext, campaigns: Sequence[Mapping[str, Any]], people: int) -> str:
    """The cost of people who join campaigns, as a part of a sentence, without what the campaigns have cost already."""
    price = await _price(context)
    found = [_maximum_cost(campaign, people, price) for campaign in campaigns]
    known = [case.micros for case in found if case is not None]
    if len(known) < len(found):
        return "at a cost that is not known"
    return cost_said(cap=None, overrun=0, high=sum(known), more=True)


async def _price(context: ToolContext) -> CallPrice | None:
    """The highest price of a minute to the countries of the organization's numbers; without any, to the others."""
    prices = (await looked_up(context, get_wallet, GetWallet())).get("prices")
    found: dict[bool, list[int]] = {True: [], False: []}
    for one in cast("list[Any]", prices) if isinstance(prices, list) else []:
        try:
            price = Price.model_validate(one)
            if (price.item, price.unit) == ("outbound_call", "minute"):
                found[price.country is not None].append(_micros(price.price))
        except ValueError:
            continue
    minutes = found[True] or found[False]
    return CallPrice(max(minutes)) if minutes else None


def _micros(money: Money) -> int:
    """Raises ValueError for another currency, and for text that is not a number."""
    if money.currency != CURRENCY:
        raise ValueError(money.currency)
    return round(float(money.amount) * MICROS)


def _maximum_cost(campaign: Mapping[str, Any], people: Any, price: CallPrice | None) -> MaximumCost | None:
    try:
        calling = _CostSettings.model_validate(dict(campaign))
        cap = None if calling.budget_cap is None else _micros(calling.budget_cap)
    except ValueError:
        return None
    if price is None or not isinstance(people, int):
        return None
    return maximum_cost(
        price,
        people=people,
        attempts=calling.retry_policy.max_attempts,
        longest_s=calling.max_call_duration_seconds,
        concurrency=calling.max_concurrency,
        cap=cap,
    )
