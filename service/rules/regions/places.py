"""Where a person may be: the regions whose rules hold for a call, and the time zones that must all allow it."""

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from callwright.service.platform.clock.zones import zones_of_country
from callwright.service.rules.regions.region_rules import RegionRules
from callwright.service.rules.regions.rule_fields import is_zone

MOST_ZONES = 3
"""A number with more time zones, such as a toll-free one, does not show where its owner is."""
_TERRITORIES: Mapping[str, str] = {
    **dict.fromkeys(("PR", "VI", "GU", "AS", "MP"), "US"),
    **dict.fromkeys(("GP", "MQ", "GF", "RE", "YT", "PM", "BL", "MF"), "FR"),
    **dict.fromkeys(("CX", "CC", "NF"), "AU"),
}
"""Territories with numbers of their own, by which country's rules they live."""
_DEPENDENCIES: Mapping[str, str] = dict.fromkeys(("GG", "JE", "IM"), "GB")
"""Their mobile numbers (+44 7911 …) are used in the country too: its rules hold as well as those of all others."""
_SAME_TIME: Mapping[str, str] = {
    "Asia/Calcutta": "Asia/Kolkata",
    "Asia/Katmandu": "Asia/Kathmandu",
    "Asia/Rangoon": "Asia/Yangon",
    "Asia/Saigon": "Asia/Ho_Chi_Minh",
    "America/Buenos_Aires": "America/Argentina/Buenos_Aires",
    "America/Indianapolis": "America/Indiana/Indianapolis",
    "Atlantic/Faeroe": "Atlantic/Faroe",
    "Europe/Guernsey": "Europe/London",
    "Europe/Isle_of_Man": "Europe/London",
    "Europe/Jersey": "Europe/London",
    "Europe/Kiev": "Europe/Kyiv",
}
"""Old names of zones, and zones whose clocks always show what another's do."""
_OTHER_NAMES: Mapping[str, str] = {"washingtondc": "US-DC", "dc": "US-DC", "act": "AU-ACT"}
_HEAD = 8
"""Characters of a number, with the +, that decide its country and its zones."""
_SHARED_BY_ISLANDS = ("+262", "+590")
"""Numbers whose every digit may decide of which island they are: Réunion and Mayotte; Guadeloupe and its neighbours."""
_AREA = slice(2, 5)
_LONGEST_SAID = 100
"""Characters of what a list says of a place that are read; no name is longer."""
_ENDINGS = ("0123456789", "2345678901", "5555555555", "1234567890")
"""Digits that complete the beginning of a number to one that can exist."""


@dataclass(frozen=True)
class Place:
    """The regions whose rules hold for a person, the countries first, and the time zones that must all allow a call."""

    regions: tuple[str, ...]
    zones: tuple[str, ...]
    calendars: tuple[str, ...] = ()
    """Calendars of public holidays besides those of the regions: of the territory where the person is."""

    @property
    def zone(self) -> str:
        """The time zone by which parts of the person's day are told: the first of several."""
        return self.zones[0] if self.zones else "UTC"


def place_of(
    rules: RegionRules, phone_e164: str, *, state: str | None, timezone: str | None, fallback_zone: str | None
) -> Place:
    """Where the person with a number may be.

    `state` and `timezone` are what a list says of the person, and win over the number: a code (`FL`, `US-FL`) or a name
    (`Florida`), and an IANA name. What they say in another way is passed over. `fallback_zone` must allow the call too
    where the number has no zone, or more than three. A number of which nothing is known is in no region, and in UTC if
    there is no other zone.
    """
    length = len(phone_e164)
    head = phone_e164[: _AREA.stop] if phone_e164.startswith("+1") else phone_e164[:_HEAD]
    if phone_e164.startswith(_SHARED_BY_ISLANDS):
        head = phone_e164
    said = (state or "")[:_LONGEST_SAID], (timezone or "")[:_LONGEST_SAID], fallback_zone or ""
    return _place(rules, head, length, *said)


@lru_cache(maxsize=50_000)
def _place(rules: RegionRules, head: str, length: int, state: str, timezone: str, fallback_zone: str) -> Place:
    area = head[_AREA] if head.startswith("+1") else ""
    calendars: tuple[str, ...] = ()
    parts = rules.area_codes.get(area, ())
    if parts:
        countries, number_zones = (parts[0].partition("-")[0],), rules.area_zones.get(area, _zones_of(rules, parts))
    else:
        number = _of_number(head, length)
        countries, number_zones = number.countries, rules.area_zones.get(area, number.zones)
        calendars = number.territory
        parts = () if number.territory else _parts_of(rules, countries)
    column = _part_named(rules, countries, state, shared=head.startswith("+1"))
    parts = (column,) if column else parts
    regions = tuple(dict.fromkeys((*countries, *(part.partition("-")[0] for part in parts), *parts)))
    zone = _SAME_TIME.get(timezone.strip(), timezone.strip())
    if zone and is_zone(zone):
        return Place(regions, (zone,), calendars)
    known = _unique(number_zones)
    if 0 < len(known) <= MOST_ZONES:
        return Place(regions, _unique((*known, *_zones_of(rules, (column,) if column else ()))), calendars)
    wide = _zones_of(rules, parts) or _zones_of(rules, countries)
    wide = wide or tuple(zone for country in countries for zone in zones_of_country(country)) or known
    fallback = (fallback_zone,) if fallback_zone and not column else ()  # a state that the list names has zones
    return Place(regions, _unique((*wide, *fallback)) or ("UTC",), calendars)


def countries_with_numbers_of(country: str) -> tuple[str, ...]:
    """The countries whose rules hold for people with numbers of a country or territory."""
    if country in _DEPENDENCIES:
        return _DEPENDENCIES[country], country
    return (_TERRITORIES.get(country, country),)


def _unique(zones: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_SAME_TIME.get(zone, zone) for zone in zones))


def _zones_of(rules: RegionRules, codes: Iterable[str]) -> tuple[str, ...]:
    return _unique(zone for code in codes if code in rules.regions for zone in rules.regions[code].zones)


@lru_cache(maxsize=1_000)
def _parts_of(rules: RegionRules, countries: tuple[str, ...]) -> tuple[str, ...]:
    """All parts of countries: where the person may be if nothing says in which."""
    return tuple(code for code in rules.regions if code.partition("-")[0] in countries and "-" in code)


@lru_cache(maxsize=100)
def _names(rules: RegionRules) -> dict[tuple[str, str], str]:
    """The parts of countries by country and name, or code, without accents and signs."""
    found: dict[tuple[str, str], str] = {}
    for code, region in rules.regions.items():
        country, dash, part = code.partition("-")
        if dash:
            found |= {(country, _plain(written)): code for written in (part, code, region.name)}
    other = {(code.partition("-")[0], name): code for name, code in _OTHER_NAMES.items() if code in rules.regions}
    return found | other


def _plain(text: str) -> str:
    letters = unicodedata.normalize("NFKD", text).casefold()
    return "".join(letter for letter in letters if letter.isalnum())


def _part_named(rules: RegionRules, countries: tuple[str, ...], state: str, *, shared: bool) -> str | None:
    """The part of a country that a column names; of a number with +1, in the other country with +1 too."""
    name = _plain(state)
    if not name:
        return None
    among = (*countries, "US", "CA") if shared else countries
    return next((code for country in among if (code := _names(rules).get((country, name))) is not None), None)


@dataclass(frozen=True)
class _Number:
    """What the beginning of a number shows. `territory`: it is of this one, in no part of the country."""

    countries: tuple[str, ...] = ()
    zones: tuple[str, ...] = ()
    territory: tuple[str, ...] = ()


@lru_cache(maxsize=20_000)
def _of_number(head: str, length: int) -> _Number:
    import phonenumbers
    from phonenumbers import timezone  # a large table, needed only where rules of regions hold

    try:
        tries = [phonenumbers.parse(head + ending[: max(length - len(head), 0)]) for ending in _ENDINGS]
    except phonenumbers.NumberParseException:
        return _Number()
    number = next((number for number in tries if phonenumbers.is_valid_number(number)), tries[0])
    code = phonenumbers.region_code_for_number(number) or phonenumbers.region_code_for_country_code(
        number.country_code or 0
    )
    zones = timezone.time_zones_for_number(number)
    if zones == (timezone.UNKNOWN_TIMEZONE,):
        zones = timezone.time_zones_for_geographical_number(number)
    known = tuple(zone for zone in zones if zone != timezone.UNKNOWN_TIMEZONE)
    if not code.isalpha():  # 001, of numbers of no country
        return _Number(zones=known)
    return _Number(countries_with_numbers_of(code), known, (code,) if code in _TERRITORIES else ())
