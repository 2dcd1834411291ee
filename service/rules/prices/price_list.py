"""The price list: what a minute to a country and a month of a phone number cost, by carrier. It is read from a file."""

import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, cast, get_args

import phonenumbers

from callwright.contract.deployments.call_price import CallPrice
from callwright.contract.phone_numbers import NumberType
from callwright.service.platform.json_text import json_text
from callwright.service.platform.phone import number_facts

SIMULATED = "simulated"
"""The carrier of the simulated network."""
REST = "*"
"""The countries without a price of their own."""
NUMBER_TYPES: tuple[NumberType, ...] = get_args(NumberType)
_FILE = Path(__file__).with_name("prices.toml")


class BadPriceList(ValueError):
    """A price list that cannot be used; the message names the entry and says what it should be."""


@dataclass(frozen=True)
class Price(CallPrice):
    """The price of calls to a destination. `platform` is the part of `minute` that is not telephony.

    `list_version` is the installation's price list by which the services are charged that hear, think and speak; None
    where there is none, and `services` are those that it charges for. Without `has_telephony` that list has no price
    for the carrier.
    """

    platform: int = 0
    list_version: str | None = None
    has_telephony: bool = True
    services: tuple[str, ...] = ()


@dataclass(frozen=True)
class Destination:
    """The prices of a country: of its landlines and of its mobile numbers."""

    landline: Price
    mobile: Price

    @property
    def prices(self) -> tuple[Price, Price]:
        """Both."""
        return self.landline, self.mobile


@dataclass(frozen=True)
class CarrierPrices:
    """The prices of a carrier by country."""

    calls: Mapping[str, Destination]
    rentals: Mapping[str, Mapping[str, int]]

    def destination(self, country: str | None) -> Destination:
        """The prices of calls to a country."""
        return self.calls.get(country or REST) or self.calls[REST]

    def rental(self, country: str, number_type: str) -> int:
        """Micros for a month of a number."""
        return {**self.rentals[REST], **self.rentals.get(country, {})}[number_type]


@dataclass(frozen=True)
class PriceList:
    """The prices of all carriers. `version` is another one after every change."""

    version: str
    carriers: Mapping[str, CarrierPrices]


def read_price_list(text: str) -> PriceList:
    """The price list in TOML. Raises `BadPriceList`."""
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadPriceList(f"the price list is no TOML: {error}") from error
    version = found.pop("version", None)
    if not isinstance(version, str) or not version:
        raise BadPriceList('version: say which list this is, for example "2026-11-26"')
    carriers = {name: _carrier(name, _table(name, value)) for name, value in found.items()}
    if SIMULATED not in carriers:
        raise BadPriceList(f"{SIMULATED}: the prices of the simulated network are missing")
    return PriceList(version, carriers)


def _carrier(name: str, found: Mapping[str, Any]) -> CarrierPrices:
    calls, rentals = (_table(f"{name}.{part}", found.get(part)) for part in ("calls", "rentals"))
    for part, entries in (("calls", calls), ("rentals", rentals)):
        if REST not in entries:
            raise BadPriceList(f'{name}.{part}: give "{REST}", the price of the countries that are not listed')
        for country in entries:
            if country != REST and country not in phonenumbers.SUPPORTED_REGIONS:
                raise BadPriceList(f"{name}.{part}.{country}: this is no country of ISO 3166-1 alpha-2")
    return CarrierPrices(
        {country: _destination(f"{name}.calls.{country}", entry) for country, entry in calls.items()},
        {country: _rentals(f"{name}.rentals.{country}", country, entry) for country, entry in rentals.items()},
    )


def _destination(where: str, entry: Any) -> Destination:
    given = _table(where, entry)
    own = {"minute"} if "minute" in given else {"landline", "mobile"}
    if unknown := given.keys() - own - {"platform", "increment_s"}:
        raise BadPriceList(f"{where}.{min(unknown)}: give minute, or landline and mobile; platform; increment_s")
    given = {"platform": 0, "increment_s": 1, **given}
    platform, increment_s = _micros(where, given, "platform", least=0), _micros(where, given, "increment_s")
    prices = {name: Price(_micros(where, given, name), increment_s, platform=platform) for name in sorted(own)}
    for name, price in prices.items():
        if platform > price.minute:
            raise BadPriceList(f"{where}.platform: it is part of {name} and cannot be more")
    return Destination(prices.get("minute") or prices["landline"], prices.get("minute") or prices["mobile"])


def _rentals(where: str, country: str, entry: Any) -> dict[str, int]:
    given = _table(where, entry)
    if unknown := given.keys() - set(NUMBER_TYPES):
        raise BadPriceList(f"{where}.{min(unknown)}: number types are {', '.join(NUMBER_TYPES)}")
    return {name: _micros(where, given, name) for name in (NUMBER_TYPES if country == REST else given)}


def _table(where: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadPriceList(f"{where}: this has to be a table")
    return cast("dict[str, Any]", value)


def _micros(where: str, given: Mapping[str, Any], name: str, *, least: int = 1) -> int:
    value = given.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise BadPriceList(f"{where}.{name}: this has to be a whole number of at least {least}")
    return value


IN_FORCE = read_price_list(_FILE.read_text(encoding="utf-8"))


def _prices_of(carrier: str) -> CarrierPrices:
    """The prices of a carrier; one that the list does not have costs what the simulated network does."""
    return IN_FORCE.carriers.get(carrier) or IN_FORCE.carriers[SIMULATED]


def price_of(carrier: str, number: str) -> Price:
    """The price of a call to a number in E.164."""
    facts = number_facts(number)
    destination = _prices_of(carrier).destination(facts.country)
    return destination.mobile if facts.is_mobile else destination.landline


def prices_to(carrier: str, countries: Iterable[str]) -> list[Price]:
    """The prices of calls to these countries, the lowest first."""
    prices = _prices_of(carrier)
    found = {price for country in countries for price in prices.destination(country).prices}
    return sorted(found, key=lambda price: (price.held_back, price.minute))


def stored_price(price: Price) -> str:
    """The price as it is stored with a call, to which it stays the same."""
    whole: list[Any] = [price.minute, price.increment_s, price.platform]
    if price.list_version is not None:
        whole += [price.started_minute, price.list_version, price.has_telephony, price.services]
    if price.transfer_minute:
        whole.append({"transfer": [price.transfer_minute, price.transfer_increment_s]})
    return json_text(whole)


@lru_cache(maxsize=1_024)
def _stored(text: str) -> Price:
    minute, increment_s, platform, *listed = json.loads(text)
    transfer = listed.pop()["transfer"] if listed and isinstance(listed[-1], dict) else (0, 1)
    persons: dict[str, Any] = {"transfer_minute": transfer[0], "transfer_increment_s": transfer[1]}
    if not listed:
        return Price(minute, increment_s, platform=platform, **persons)
    started_minute, version, has_telephony, services = listed
    known: dict[str, Any] = {"list_version": version, "has_telephony": has_telephony, "services": tuple(services)}
    return Price(minute, increment_s, started_minute, platform=platform, **known, **persons)


def agreed_price(text: str | None, number: str) -> Price:
    """The price of a call by what was stored with it; calls of earlier versions have nothing stored."""
    return price_of(SIMULATED, number) if text is None else _stored(text)


def rental_of(carrier: str, country: str, number_type: str) -> int:
    """Micros for a month of a number."""
    return _prices_of(carrier).rental(country, number_type)
