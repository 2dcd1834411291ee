"""What the call to a person costs to whom a call is transferred: the carrier's price of a call to that number.

Nothing is added for the platform, which is paid with the call itself.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from callwright.contract.agents.call_tools import TransferTool
from callwright.contract.transfers import TransferKind
from callwright.service.rules.call_tools import tools_in
from callwright.service.rules.prices.installation_prices import InstallationPrices
from callwright.service.rules.prices.price_list import SIMULATED, Price, price_of

GIVEN_AWAY = (SIMULATED, "sip")
"""Carriers at which a cold transfer gives the call away: nobody here makes a call to the person."""


@dataclass(frozen=True)
class TransferLeg:
    """A call to a person who was to take a call over, and answered. Times are seconds after that call was answered.

    `charge_id` is the carrier's id of the call to the person, where that carrier says later what it charged.
    """

    to: str
    answered_s: float
    ended_s: float
    charge_id: str | None = None

    @property
    def seconds(self) -> int:
        """What is charged, before it is rounded up to an increment: at least one, because somebody answered."""
        return max(1, -(-round((self.ended_s - self.answered_s) * 1_000) // 1_000))


def legs_until(legs: Iterable[TransferLeg], at_s: float) -> tuple[TransferLeg, ...]:
    """The calls to persons, if the call that they were to take over ended at a moment."""
    return tuple(replace(leg, ended_s=round(min(leg.ended_s, at_s), 3)) for leg in legs if leg.answered_s < at_s)


@dataclass(frozen=True)
class PersonRate:
    """The price of a minute of a call to a person, by `increment_s` seconds. `minute` None: the list has no price."""

    minute: int | None
    increment_s: int = 1

    def billed(self, seconds: int) -> int:
        """The seconds that are charged."""
        return -(-seconds // self.increment_s) * self.increment_s

    def micros(self, seconds: int) -> int | None:
        """The price of so many seconds, rounded up to a whole micro."""
        return None if self.minute is None else -(-self.billed(seconds) * self.minute // 60)


def person_rate(prices: InstallationPrices | None, carrier: str, number: str) -> PersonRate:
    """The price of a call to a person's number in E.164 at a carrier; `prices` None: by the prices without a list."""
    price = price_of(carrier, number) if prices is None else prices.price_of(carrier, number)
    return PersonRate(price.minute - price.platform if price.has_telephony else None, price.increment_s)


def with_transfers(price: Price, prices: InstallationPrices | None, carrier: str, call_tools: str | None) -> Price:
    """The price of a call whose agent has these tools: with the most that a person costs to whom it may transfer it."""
    wanted: tuple[TransferKind, ...] = ("warm",) if carrier in GIVEN_AWAY else ("warm", "cold")
    rates = [
        person_rate(prices, carrier, one.to)
        for tool in tools_in(call_tools)
        if isinstance(tool, TransferTool)
        for one in tool.destinations
        if one.kind in wanted
    ]
    minute = max((rate.minute or 0 for rate in rates), default=0)
    if not minute:
        return price
    return replace(price, transfer_minute=minute, transfer_increment_s=max(rate.increment_s for rate in rates))
