"""The price list of an installation with real lines: what it takes itself, and what it passes on at cost.

It is a TOML file (`CALLWRIGHT_SERVICE_PRICES`), described in docs/costs.md. Prices are in millionths of a dollar
(micros). What it passes on has a bound that is known before a call: the price of a minute to a destination, and for
each of hearing, thinking and speaking the most that a minute may cost. Nobody is ever charged more.
"""

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, cast, get_args

import phonenumbers

from callwright.service.rules.prices.price_list import REST, BadPriceList, Price

ServiceItem = Literal["stt", "llm", "tts"]
SERVICE_ITEMS: tuple[ServiceItem, ...] = get_args(ServiceItem)
UNITS: Mapping[ServiceItem, Sequence[str]] = {
    "stt": ("second",),
    "llm": ("input_token", "cached_input_token", "output_token"),
    "tts": ("character",),
}
"""What is counted of each service."""
SERVICE_NAMES: Mapping[ServiceItem, str] = {
    "stt": "the service that hears",
    "llm": "the one that thinks",
    "tts": "the one that speaks",
}
MAX_BYTES = 1_000_000
_VERSION = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9}){0,3}")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_PREFIX = re.compile(r"\+[1-9][0-9]{0,14}")
_CURRENCY = re.compile(r"[A-Z]{3}")
_MOST_ENTRIES = 20_000
_MOST = 10**15
"""The largest number that is read."""
MOST_A_MINUTE, MOST_INCREMENT_S = 100_000_000, 3_600
"""The highest price of a minute, in micros, and the longest increment. With them the most that five million people may
cost, ten calls of an hour each and transfers counted, is below 2**63, the largest number that is stored."""
MOST_A_MONTH = 10**12
"""The highest price of a month of a number, in micros."""

THE_CARRIER = "the carrier"
"""How a carrier without prices is named among those who charge beyond the list."""


@dataclass(frozen=True)
class CarrierRate:
    """What a carrier charges for a minute to a destination, by `increment_s` seconds from the answer on.

    `number_month` is what a month of a number there costs; None if nothing says that.
    """

    minute: int
    increment_s: int = 1
    number_month: int | None = None


@dataclass(frozen=True)
class ServicePrice:
    """What `per` units of a service cost; `model` None is every model of the provider."""

    provider: str
    model: str | None
    unit: str
    price: int
    per: int

    def micros(self, quantity: float) -> int:
        """The price of so many units, which count by thousandths, rounded up to a whole micro."""
        return -(-round(quantity * 1_000) * self.price // (self.per * 1_000))


@dataclass(frozen=True)
class ServicePrices:
    """The prices for one of hearing, thinking and speaking, and the most that each minute begun may cost."""

    most_per_minute: int
    prices: Sequence[ServicePrice]

    def find(self, provider: str, model: str | None, unit: str) -> ServicePrice | None:
        """The price of a unit: the one for this model, or else for every model of the provider."""
        found = [one for one in self.prices if (one.provider, one.unit) == (provider, unit)]
        own = next((one for one in found if model is not None and one.model == model), None)
        return own or next((one for one in found if one.model is None), None)


@dataclass(frozen=True)
class InstallationPrices:
    """The price list of an installation. `text` is the file, `version` another one after every change."""

    version: str
    platform_minute: int
    carriers: Mapping[str, Mapping[str, CarrierRate]]
    """By carrier, as `phone_numbers.provider` names it, and by prefix; `*` is the rest of the world."""
    services: Mapping[ServiceItem, ServicePrices]
    rates: Mapping[str, int]
    """Micros of a dollar for one unit of another currency."""
    text: str

    def price_of(self, carrier: str, number: str) -> Price:
        """The price of a call to a number in E.164: that of its longest prefix."""
        rates = self.carriers.get(carrier)
        if rates is None:
            return self._price(carrier, None)
        longest = max((prefix for prefix in rates if number.startswith(prefix)), key=len, default=REST)
        return self._price(carrier, rates[longest])

    def prices_to(self, carrier: str, countries: Iterable[str]) -> list[Price]:
        """The prices that calls to these countries may have, the lowest first; of no country: to all there are."""
        rates = self.carriers.get(carrier)
        if rates is None:
            return [self._price(carrier, None)]
        wanted = list(countries)
        known = [rate for country in wanted for rate in _rates_to(country, rates)] if wanted else rates.values()
        prices = {self._price(carrier, rate) for rate in known}
        return sorted(prices, key=lambda price: (price.held_back, price.minute))

    def number_month_of(self, carrier: str, number: str) -> int | None:
        """Micros for a month of a number in E.164 at a carrier: by its longest prefix that has such a price."""
        rates = self.carriers.get(carrier, {})
        priced = [prefix for prefix, rate in rates.items() if rate.number_month is not None]
        fitting = [prefix for prefix in priced if prefix == REST or number.startswith(prefix)]
        return rates[max(fitting, key=lambda prefix: (prefix != REST, len(prefix)))].number_month if fitting else None

    def _price(self, carrier: str, rate: CarrierRate | None) -> Price:
        return Price(
            minute=self.platform_minute + (rate.minute if rate else 0),
            increment_s=rate.increment_s if rate else 1,
            started_minute=sum(one.most_per_minute for one in self.services.values()),
            platform=self.platform_minute,
            list_version=self.version,
            has_telephony=rate is not None,
            services=tuple(sorted(self.services)),
        )

    def without(self, items: Collection[ServiceItem]) -> "InstallationPrices":
        """The list for calls on which an organization's own providers do these: they are not charged here."""
        charged = {item: prices for item, prices in self.services.items() if item not in items}
        return replace(self, services=charged) if items else self

    def uncounted(self, carrier: str) -> list[str]:
        """What a call costs that has no price here, in words."""
        missing = [] if carrier in self.carriers else [THE_CARRIER]
        return [*missing, *(said for item, said in SERVICE_NAMES.items() if item not in self.services)]

    def micros_in_dollars(self, micros: int, currency: str) -> int | None:
        """An amount of a currency in micros of a dollar, rounded up; None without a rate for it."""
        if currency == "USD":
            return micros
        rate = self.rates.get(currency)
        return None if rate is None else -(-micros * rate // 1_000_000)


def _rates_to(country: str, rates: Mapping[str, CarrierRate]) -> list[CarrierRate]:
    code = f"+{phonenumbers.country_code_for_region(country)}"
    whole = max((prefix for prefix in rates if code.startswith(prefix)), key=len, default=REST)
    return [rates[whole], *(rate for prefix, rate in rates.items() if prefix.startswith(code) and prefix != whole)]


@lru_cache(maxsize=16)
def read_installation_prices(text: str) -> InstallationPrices:
    """The price list in TOML. Raises `BadPriceList`, whose text names the field and says what to do."""
    try:
        found = _Table("the file", tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise BadPriceList(f"this is no TOML: {error}") from error
    except RecursionError:
        raise BadPriceList("tables or lists are nested too deeply; a price list has four levels at most") from None
    version = found.text("version", _VERSION, "up to four numbers with dots between them, as in 2026.11.27")
    platform = found.table("platform")
    carriers = found.table("carriers", default={})
    services = found.table("services", default={})
    rates = found.table("rates", default={})
    found.nothing_else()
    platform_minute = platform.whole("minute", least=0, most=MOST_A_MINUTE)
    platform.nothing_else()
    return InstallationPrices(
        version,
        platform_minute,
        {name: _carrier(name, carriers.table(name)) for name in carriers.names(_NAME, "a carrier, such as sip")},
        {item: _services(item, services.table(item)) for item in _items(services)},
        {name: rates.whole(name, least=1) for name in rates.names(_CURRENCY, "a currency, such as EUR")},
        text,
    )


def prices_in(file: Path) -> InstallationPrices:
    """The price list of a file on this machine. Raises `BadPriceList`, whose text begins with the name of the file."""
    try:
        with file.open("rb") as opened:
            content = opened.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise BadPriceList(f"has more than {MAX_BYTES:,} bytes, which a price list has at most")
        return read_installation_prices(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise BadPriceList(f"{file}: is not text in UTF-8; save it as UTF-8") from error
    except OSError as error:
        raise BadPriceList(f"{file}: cannot be read: {error.strerror}") from error
    except BadPriceList as error:
        raise BadPriceList(f"{file}: {error}") from error


class _Table:
    """A table of the file. What is taken from it is noted, so that what nobody knows is refused."""

    def __init__(self, where: str, values: Mapping[str, Any]) -> None:
        self._where, self._values, self._taken = where, values, set[str]()

    def wrong(self, name: str, why: str) -> BadPriceList:
        place = name if self._where == "the file" else f"{self._where}.{name}"
        return BadPriceList(f"{place}: {why}")

    def has(self, name: str) -> bool:
        return name in self._values

    def take(self, name: str) -> Any:
        self._taken.add(name)
        return self._values.get(name)

    def table(self, name: str, *, default: Mapping[str, Any] | None = None) -> "_Table":
        value = self.take(name) if self.has(name) else default
        self._taken.add(name)
        if not isinstance(value, dict):
            raise self.wrong(name, "this has to be a table")
        place = name if self._where == "the file" else f"{self._where}.{name}"
        return _Table(place, cast("dict[str, Any]", value))

    def tables(self, name: str) -> list["_Table"]:
        value = self.take(name)
        if not isinstance(value, list) or not value:
            raise self.wrong(name, "this has to be a list of tables, with one at least")
        entries = cast("list[Any]", value)
        if len(entries) > _MOST_ENTRIES:
            raise self.wrong(name, f"there are {len(entries):,} entries; at most {_MOST_ENTRIES:,} are read")
        if any(not isinstance(one, dict) for one in entries):
            raise self.wrong(name, "each entry has to be a table")
        return [_Table(f"{self._where}.{name}[{at}]", one) for at, one in enumerate(entries)]

    def whole(self, name: str, *, least: int, most: int = _MOST, default: int | None = None) -> int:
        value = self.take(name) if self.has(name) else default
        self._taken.add(name)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise self.wrong(name, f"this has to be a whole number of at least {least} and at most {most:,}")
        return value

    def text(self, name: str, form: re.Pattern[str], said: str) -> str:
        value = self.take(name)
        if not isinstance(value, str) or not form.fullmatch(value):
            raise self.wrong(name, f"write {said}")
        return value

    def names(self, form: re.Pattern[str], said: str) -> list[str]:
        if len(self._values) > _MOST_ENTRIES:
            raise BadPriceList(f"{self._where}: at most {_MOST_ENTRIES:,} entries are read")
        for name in self._values:
            if not form.fullmatch(name):
                raise self.wrong(name[:40], f"this is not {said}")
        return list(self._values)

    def nothing_else(self) -> None:
        if unknown := sorted(self._values.keys() - self._taken):
            known = ", ".join(sorted(self._taken)) or "nothing"
            raise self.wrong(unknown[0][:40], f"there is no such field; there are {known}")


_DESTINATION = re.compile(rf"{_PREFIX.pattern}|\*")


def _carrier(name: str, given: _Table) -> dict[str, CarrierRate]:
    destinations = given.names(_DESTINATION, "a prefix such as +44, or *")
    if REST not in destinations:
        raise given.wrong('"*"', "give the price of all other destinations, so that no call is without one")
    rates: dict[str, CarrierRate] = {}
    for prefix in destinations:
        entry = given.table(prefix)
        rates[prefix] = CarrierRate(
            entry.whole("minute", least=1, most=MOST_A_MINUTE),
            entry.whole("increment_s", least=1, most=MOST_INCREMENT_S, default=1),
            entry.whole("number_month", least=1, most=MOST_A_MONTH) if entry.has("number_month") else None,
        )
        entry.nothing_else()
    return rates


def _items(given: _Table) -> list[ServiceItem]:
    known = re.compile("|".join(SERVICE_ITEMS))
    return cast("list[ServiceItem]", given.names(known, f"one of {', '.join(SERVICE_ITEMS)}"))


def _services(item: ServiceItem, given: _Table) -> ServicePrices:
    most = given.whole("most_per_minute", least=1, most=MOST_A_MINUTE)
    prices: list[ServicePrice] = []
    for entry in given.tables("prices"):
        units = UNITS[item]
        price = ServicePrice(
            entry.text("provider", _NAME, "the provider's kind, such as openai"),
            entry.text("model", re.compile(r".{1,200}"), "the name of a model") if entry.has("model") else None,
            entry.text("unit", re.compile("|".join(units)), f"the unit: {' or '.join(units)}"),
            entry.whole("price", least=1),
            entry.whole("per", least=1, default=1),
        )
        entry.nothing_else()
        if any((one.provider, one.model, one.unit) == (price.provider, price.model, price.unit) for one in prices):
            raise entry.wrong("unit", "this provider, model and unit has a price already")
        prices.append(price)
    given.nothing_else()
    return ServicePrices(most, tuple(prices))
