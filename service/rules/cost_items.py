"""What a call costs, item by item: the line, the platform, and the services that heard, thought and spoke.

The sum of all amounts is what the wallet is charged. An item that is not charged has no amount: it is not free.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, cast

import orjson

from callwright.contract.deployments.call_price import minutes_begun
from callwright.service.platform.json_text import json_text
from callwright.service.rules.prices.installation_prices import InstallationPrices, ServiceItem
from callwright.service.rules.prices.price_list import SIMULATED, Price
from callwright.service.rules.prices.transfer_prices import TransferLeg, person_rate

ItemStatus = Literal["known", "capped", "pending", "estimated", "unpriced", "not_charged"]
PricedBy = Literal["agreed", "price_list", "carrier"]
TELEPHONY, PLATFORM, TRANSFER = "telephony", "platform", "transfer"
FREE = Price(0)
"""The price of a talk in the browser: nobody is rung, and services charge whoever has their key."""
CACHED, INPUT = "cached_input_token", "input_token"


@dataclass(frozen=True)
class CostItem:
    """A part of the cost. `micros` None: nothing is charged for it here, and `status` says why.

    `told` is what the carrier says that it charged: an amount in millionths, and its currency. `charge_id` is the
    carrier's id of a call to a person.
    """

    item: str
    quantity: float
    unit: str
    micros: int | None
    status: ItemStatus = "known"
    priced_by: PricedBy | None = "agreed"
    provider: str | None = None
    model: str | None = None
    told: tuple[int, str] | None = None
    charge_id: str | None = None


@dataclass(frozen=True)
class Cost:
    """The cost of a call. The amounts of its items sum to `micros`; `items` is their JSON."""

    billed_seconds: int
    micros: int
    items: str

    @property
    def pending(self) -> Sequence[CostItem]:
        """The items of which the carrier is still to say what it charged."""
        return [one for one in stored_items(self.items) if one.status == "pending"]

    @property
    def is_pending(self) -> bool:
        """Whether there is one."""
        return bool(self.pending)


@dataclass(frozen=True)
class Used:
    """What a call used of a service. `is_own`: with a key of the organization, which its provider charges itself."""

    item: ServiceItem
    provider: str
    model: str | None
    unit: str
    quantity: float
    is_own: bool = False


@lru_cache(maxsize=8_192)
def cost_of(price: Price, seconds: int, transfers: Sequence[TransferLeg] = ()) -> Cost:
    """The cost of a call of so many seconds on the simulated network, with the calls to persons (a tuple). Cached,
    because many calls last as long as others."""
    items = _line_items(price, seconds)
    items += _transfer_items(price, seconds, transfers, None, SIMULATED)
    return Cost(price.billed(seconds), _sum(items), _stored(items))


def cost_on_line(
    price: Price,
    seconds: int,
    *,
    carrier: str | None,
    used: Sequence[Used],
    prices: InstallationPrices | None,
    is_told: bool,
    transfers: Sequence[TransferLeg] = (),
) -> Cost:
    """The cost of a call on a carrier's line, by the price that was agreed for it and the list of that price.

    `is_told`: the carrier says later what it charged for the call.
    """
    items: list[CostItem] = []
    for one in _line_items(price, seconds):
        if one.item != TELEPHONY:
            items.append(one)
        elif price.list_version is not None:
            status: ItemStatus = "pending" if is_told else "known"
            items.append(replace(one, status=status, priced_by="price_list", provider=carrier))
        else:
            items.append(replace(one, provider=carrier))
    if not price.has_telephony and seconds:
        status = "pending" if is_told else "unpriced"
        items.append(CostItem(TELEPHONY, seconds, "second", None, status, None, carrier))
    items += _transfer_items(price, seconds, transfers, prices, carrier)
    minutes = 0 if price == FREE else minutes_begun(seconds)
    for item in ("stt", "llm", "tts"):
        counted = minutes if prices is None or item in price.services or item not in prices.services else 0
        items += _service_items([one for one in used if one.item == item], prices, counted)
    return Cost(price.billed(seconds), _sum(items), _stored(items))


def _line_items(price: Price, seconds: int) -> list[CostItem]:
    billed = price.billed(seconds)
    whole = -(-billed * price.minute // 60)
    platform = billed * price.platform // 60 if price.has_telephony else whole
    parts = [(TELEPHONY, whole - platform), (PLATFORM, platform)]
    return [CostItem(item, billed, "second", part) for item, part in parts if part]


def _transfer_items(
    price: Price, seconds: int, legs: Sequence[TransferLeg], prices: InstallationPrices | None, carrier: str | None
) -> list[CostItem]:
    """The calls to persons, each by the price of its number, all together at most what was agreed."""
    shown: list[CostItem] = []
    for leg in legs if seconds else ():
        rate = person_rate(prices, carrier or SIMULATED, leg.to)
        is_told = leg.charge_id is not None and prices is not None
        status: ItemStatus = "pending" if is_told else "unpriced" if rate.minute is None else "known"
        priced_by: PricedBy | None = None if rate.minute is None else "agreed" if prices is None else "price_list"
        provider = None if carrier == SIMULATED else carrier
        counted = (rate.billed(leg.seconds), "second", rate.micros(leg.seconds), status, priced_by, provider)
        shown.append(CostItem(TRANSFER, *counted, charge_id=leg.charge_id if is_told else None))
    most = price.transfers(seconds)
    return _capped(shown, most) if _sum(shown) > most else shown


def _service_items(used: Sequence[Used], prices: InstallationPrices | None, minutes: int) -> list[CostItem]:
    """The items of one service: each by its price, all together at most what the minutes begun may cost."""
    shown: list[CostItem] = []
    most = 0
    for one in _priced_apart(used, prices):
        listed = prices.services.get(one.item) if prices else None
        found = listed.find(one.provider, one.model, one.unit) if listed else None
        item = CostItem(one.item, one.quantity, one.unit, None, "unpriced", None, one.provider, one.model)
        if one.is_own or not minutes:
            item = replace(item, status="not_charged")
        elif found is not None and listed is not None:
            item = replace(item, micros=found.micros(one.quantity), status="known", priced_by="price_list")
            most = listed.most_per_minute * minutes
        shown.append(item)
    return _capped(shown, most) if _sum(shown) > most else shown


def _capped(items: Sequence[CostItem], most: int) -> list[CostItem]:
    """The items with so much in all, each with its share of it."""
    whole, left = _sum(items), most
    capped: list[CostItem] = []
    for item in items:
        if item.micros is not None:
            share = min(left, -(-item.micros * most // whole))
            left -= share
            item = replace(item, micros=share, status="pending" if item.status == "pending" else "capped")
        capped.append(item)
    return capped


def _priced_apart(used: Sequence[Used], prices: InstallationPrices | None) -> list[Used]:
    """What was used, with tokens read from a cache counted as others where they have no price of their own."""

    def counted(one: Used) -> Used:
        listed = prices.services.get(one.item) if prices else None
        has_price = listed is not None and listed.find(one.provider, one.model, CACHED) is not None
        return replace(one, unit=INPUT) if one.unit == CACHED and not has_price else one

    return summed([counted(one) for one in used])


def summed(used: Sequence[Used]) -> list[Used]:
    """What was used, once for each service and unit."""
    found: dict[Used, float] = {}
    for one in used:
        key = replace(one, quantity=0.0)
        found[key] = round(found.get(key, 0.0) + one.quantity, 3)
    return [replace(one, quantity=quantity) for one, quantity in found.items()]


def settled(
    cost_items: str, told: tuple[int, str] | None, prices: InstallationPrices, *, transfer: str | None = None
) -> tuple[str, int]:
    """The items of a call after its carrier has said what it charged, and the change of the cost: zero or less.

    `transfer` is the carrier's id of the call to a person that it charged for; None: it is about the call itself.

    The price of the list is the most that is charged, because a person agreed to it. `told` None: the carrier has not
    said it for so long that nobody waits any more, and the list's price stays as an estimate. A currency without a rate
    changes nothing either.
    """
    items = stored_items(cost_items)
    change = 0
    for at, one in enumerate(items):
        is_meant = one.item == TELEPHONY if transfer is None else one.charge_id == transfer
        if not is_meant or one.status != "pending":
            continue
        micros = None if told is None else prices.micros_in_dollars(*told)
        if one.micros is None:
            items[at] = replace(one, status="unpriced", told=told)
        elif micros is None:
            items[at] = replace(one, status="estimated", told=told)
        else:
            charged = min(micros, one.micros)
            change += charged - one.micros
            items[at] = replace(one, micros=charged, status="known", priced_by="carrier", told=told)
    return _stored(items), change


def _sum(items: Sequence[CostItem]) -> int:
    return sum(one.micros or 0 for one in items)


_FIELDS = ("item", "quantity", "unit", "micros", "status", "priced_by", "provider", "model", "told", "charge_id")


def _stored(items: Sequence[CostItem]) -> str:
    """The items as JSON. Those of an agreed price alone are short, as in earlier versions."""
    rows: list[Any] = []
    for one in items:
        if one == CostItem(one.item, one.quantity, "second", one.micros):
            rows.append([one.item, one.quantity, one.micros])
        else:
            rows.append({name: getattr(one, name) for name in _FIELDS if getattr(one, name) is not None})
    return json_text(rows)


def stored_items(text: str) -> list[CostItem]:
    """The items of a call as they were stored."""
    found: list[CostItem] = []
    for row in orjson.loads(text):
        if isinstance(row, list):
            item, seconds, micros = cast("list[Any]", row)
            found.append(CostItem(item, seconds, "second", micros))
        else:
            told = row.get("told")
            given: dict[str, Any] = {"micros": None, "priced_by": None, **row, "told": tuple(told) if told else None}
            found.append(CostItem(**given))
    return found
