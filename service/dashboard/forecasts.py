"""How long the wallet lasts, and what running campaigns may still cost, in words."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from callwright.contract.calls.transcripts import get_call_stats
from callwright.contract.checks.counts import count_of
from callwright.contract.deployments.deployments import list_deployments, preview_deployment
from callwright.contract.phone_numbers import list_phone_numbers
from callwright.contract.problems import RATE_LIMITED
from callwright.service.dashboard.asking import Refused
from callwright.service.dashboard.html.formats import money
from callwright.service.dashboard.visitors import Visitor
from callwright.service.platform.clock.clock import DAY, iso_milliseconds

PACE_DAYS = 7
MOST_CAMPAIGNS = 4
"""Campaigns whose plan is asked; with the list, as many questions as the smallest plan allows in a second."""
_MOST_NUMBERS = 100
_A_YEAR = 365
_NUMBERS_EVERY_DAYS = 30


@dataclass(frozen=True)
class CampaignCost:
    """What one campaign may still cost."""

    id: str
    name: str
    low: Mapping[str, Any]
    high: Mapping[str, Any]


@dataclass(frozen=True)
class Forecast:
    """What the wallet page says of the days to come."""

    lasts: str
    computed: str
    campaigns: str
    costs: tuple[CampaignCost, ...]
    is_short: bool
    """Whether the wallet does not cover what the campaigns may cost."""


async def forecast(visitor: Visitor, wallet: Mapping[str, Any], now_ms: int) -> Forecast:
    """How long what is available lasts at the pace of the last seven days, and what running campaigns may cost."""
    begin = iso_milliseconds(now_ms - PACE_DAYS * DAY)
    called = await visitor.ask.one(get_call_stats, created_from=begin, group_by=["day"])
    numbers = await visitor.ask.many(list_phone_numbers, status=["active"], per_page=_MOST_NUMBERS)
    spent = _amount(called["cost"]["total"]) if called["cost"] else Decimal(0)
    rented = sum((_amount(number["monthly_cost"]) for number in numbers.data), Decimal(0))
    available = _amount(wallet["available"])
    a_day = spent / PACE_DAYS + rented / _NUMBERS_EVERY_DAYS
    computed = (
        f"Calls of the last {PACE_DAYS} days cost {_shown(spent)}, a seventh of it a day; "
        f"{count_of(len(numbers.data), 'number')} cost {_shown(rented)} in {_NUMBERS_EVERY_DAYS} days."
    )
    try:
        costs, more = await _costs(visitor)
    except Refused as refused:
        costs, words, is_short = (
            (),
            f"What running campaigns may still cost cannot be said now: {refused.message}",
            False,
        )
    else:
        words, is_short = _campaigns(costs, more, available)
    return Forecast(lasts(available, a_day), computed, words, costs, is_short)


async def _costs(visitor: Visitor) -> tuple[tuple[CampaignCost, ...], bool]:
    """What the newest campaigns that run or are scheduled may still cost, and whether there are more of them.

    Raises `Refused` if that are too many questions for the plan.
    """
    wanted = {"status": ["active", "scheduled"], "call_type": ["outbound"]}
    found = await visitor.ask.many(list_deployments, per_page=MOST_CAMPAIGNS, **wanted)
    costs: list[CampaignCost] = []
    for campaign in found.data:
        try:
            cost = (await visitor.ask.one(preview_deployment, id=campaign["id"]))["cost"]
        except Refused as refused:
            if refused.status == RATE_LIMITED.status:
                raise  # a sum without this campaign would say too little
            continue  # it has ended since the list was read
        costs.append(CampaignCost(campaign["id"], campaign["name"], cost["low"], cost["high"]))
    return tuple(costs), found.has_more


def lasts(available: Decimal, a_day: Decimal) -> str:
    """How long an amount lasts if so much is spent a day."""
    if available <= 0:
        return "Nothing is available: no call begins until the wallet is topped up."
    if not a_day:
        return f"Nothing was spent in the last {PACE_DAYS} days, so there is no pace to go by."
    days = available / a_day
    if days > _A_YEAR:
        return f"At the pace of the last {PACE_DAYS} days the wallet lasts for more than a year."
    how_long = "less than a day" if days < 1 else f"about {count_of(int(days), 'day')}"
    return f"At the pace of the last {PACE_DAYS} days the wallet lasts for {how_long}."


def _campaigns(costs: tuple[CampaignCost, ...], more: bool, available: Decimal) -> tuple[str, bool]:
    if not costs:
        return "No campaign runs or is scheduled.", False
    low, high = (sum((_amount(getattr(one, end)) for one in costs), Decimal(0)) for end in ("low", "high"))
    which = f"The {count_of(len(costs), 'newest campaign')}" if more else count_of(len(costs), "campaign")
    verb = "runs or is" if len(costs) == 1 else "run or are"
    said = f"{which} that {verb} scheduled may still cost {_shown(low)} to {_shown(high)}, by the plan of each now."
    if high <= available:
        return f"{said} The wallet covers that.", False
    return f"{said} For the most it may be, {_shown(high - available)} are missing.", True


def _amount(given: Mapping[str, Any]) -> Decimal:
    return Decimal(str(given["amount"]))


def _shown(value: Decimal) -> str:
    return money({"amount": value, "currency": "USD"})
