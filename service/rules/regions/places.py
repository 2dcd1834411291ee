"""Where a person may be: the regions whose rules hold for a call, and the time zones that must all allow it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from callwright.service.platform.clock.zones import zones_of_country
from callwright.service.rules.regions.part_names import Said, said_of_part
from callwright.service.rules.regions.region_rules import RegionRules
from callwright.service.rules.regions.written_zones import zone_written

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
    (`Florida`), and an IANA name. With a state that is not understood the person may be in each of the country; a time
    zone that is none is passed over. `fallback_zone` must allow the call too where the number has no zone, or more than
    three. A number of which nothing is known is in no region, and in UTC if there is no other zone.
    """
    said = (state or "")[:_LONGEST_SAID], (timezone or "")[:_LONGEST_SAID], fallback_zone or ""
    return _place(rules, _head_of(phone_e164), len(phone_e164), *said)


@lru_cache(maxsize=50_000)
def _place(rules: RegionRules, head: str, length: int, state: str, timezone: str, fallback_zone: str) -> Place:
    number = _shown(rules, head, length)
    countries, known = number.countries, _unique(number.zones)
    said = said_of_part(rules, _countries_named(countries, head), state)
    unclear = _all_parts_if_unclear(rules, countries, said)
    parts = said.parts if said else unclear or number.parts
    more = (*(part.partition("-")[0] for part in parts), *(_TERRITORIES[code] for code in said.territories))
    regions = tuple(dict.fromkeys((*countries, *more, *parts)))
    calendars = tuple(dict.fromkeys((*number.territory, *said.territories)))
    zone = zone_written(timezone, american=head.startswith("+1"))
    if zone is not None:
        return Place(regions, (_SAME_TIME.get(zone, zone),), calendars)
    named = (*_zones_of(rules, said.parts), *(zone for code in said.territories for zone in zones_of_country(code)))
    if unclear:
        named = (*_zones_of(rules, countries), *_zones_of(rules, unclear))
    if 0 < len(known) <= MOST_ZONES:
        return Place(regions, _unique((*known, *named)), calendars)
    wide = named or _zones_of(rules, parts) or _zones_of(rules, countries)
    wide = wide or tuple(zone for country in countries for zone in zones_of_country(country)) or known
    fallback = (fallback_zone,) if fallback_zone and not said else ()  # a state that the list names has zones
    return Place(regions, _unique((*wide, *fallback)) or ("UTC",), calendars)


def is_state_unclear(rules: RegionRules, phone_e164: str, state: str) -> bool:
    """Whether a cell for the state is not understood, so that all of the person's country has to allow calls."""
    head = _head_of(phone_e164)
    countries = _shown(rules, head, len(phone_e164)).countries
    said = said_of_part(rules, _countries_named(countries, head), state[:_LONGEST_SAID])
    return bool(_all_parts_if_unclear(rules, countries, said))


def _head_of(phone_e164: str) -> str:
    """The beginning of a number that decides where it is from."""
    if phone_e164.startswith(_SHARED_BY_ISLANDS):
        return phone_e164
    return phone_e164[: _AREA.stop] if phone_e164.startswith("+1") else phone_e164[:_HEAD]


def _countries_named(countries: tuple[str, ...], head: str) -> tuple[str, ...]:
    """The countries whose parts a list may name; of a number with +1 the other country with +1 too."""
    return tuple(dict.fromkeys((*countries, "US", "CA"))) if head.startswith("+1") else countries


def _all_parts_if_unclear(rules: RegionRules, countries: tuple[str, ...], said: Said) -> tuple[str, ...]:
    """All parts of the countries if a cell says something that is not understood: the person may be in each."""
    return _parts_of(rules, countries) if said.unclear else ()


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


@dataclass(frozen=True)
class _Number:
    """What the beginning of a number shows. `territory`: it is of this one, in no part of the country."""

    countries: tuple[str, ...] = ()
    zones: tuple[str, ...] = ()
    territory: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()


def _shown(rules: RegionRules, head: str, length: int) -> _Number:
    """What the number shows by the rules' table of area codes, and by libphonenumber where that has none."""
    area = head[_AREA] if head.startswith("+1") else ""
    parts = rules.area_codes.get(area, ())
    if parts:
        zones = rules.area_zones.get(area, _zones_of(rules, parts))
        return _Number((parts[0].partition("-")[0],), zones, parts=parts)
    number = _of_number(head, length)
    parts = () if number.territory else _parts_of(rules, number.countries)
    return replace(number, zones=rules.area_zones.get(area, number.zones), parts=parts)


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
