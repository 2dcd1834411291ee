"""Where a person may be: countries, states and time zones, from the number and what the list says."""

import importlib.resources
from dataclasses import dataclass
from functools import cache
from zoneinfo import ZoneInfo

import phonenumbers
from phonenumbers import geocoder, timezone

from tests.oracle.states import STATES, TERRITORIES, state_named, zones_of_area, zones_of_state

MOST_ZONES_OF_A_NUMBER = 3
"""A number that may be in more zones than these shows none."""
UNKNOWN_ZONE = "Etc/Unknown"
SHARED_BY = {1: ("US", "CA")}
"""Countries of the page that share a country code, so that a list may rightly name a state of the other one."""
LAW_OF_TERRITORY = {
    **dict.fromkeys(("AS", "GU", "MP", "PR", "VI"), "US"),
    **dict.fromkeys(("BL", "GF", "GP", "MF", "MQ", "PM", "RE", "YT"), "FR"),
}
"""47 U.S.C. 153(58) and 15 U.S.C. 1692a(8): the territories and possessions are states of the US. Those of France: the
page."""
BESIDE = {"GG": "GB", "IM": "GB", "JE": "GB"}
"""Whose rules hold as well as those of everywhere else: the page."""


@dataclass(frozen=True)
class Place:
    """Every place in which a person may be."""

    laws: tuple[tuple[str, frozenset[str]], ...]
    """Countries whose rules hold, each with the states whose rules hold beside them."""
    calendars: tuple[tuple[str, frozenset[str]], ...]
    """Whose public holidays count: countries, each with the states in which the person may be; none: in any."""
    zones: frozenset[str]


def place_of(number: str, *, state: str | None, zone: str | None, fallback_zone: str | None) -> Place:
    """Where the person of a number may be. Without a known zone there is none."""
    parsed = phonenumbers.parse(number)
    home = phonenumbers.region_code_for_number(parsed) or ""
    named = _state_of_list(state, home=home, code=parsed.country_code or 0) if state else None
    if named is None:
        laws = ((LAW_OF_TERRITORY.get(home, home), _states_of_number(number, country=home)),)
        laws += ((BESIDE[home], frozenset[str]()),) if home in BESIDE else ()
    elif named[0] == home:
        laws = ((home, frozenset({named[1]})),)
    else:
        laws = ((home, frozenset[str]()), (named[0], frozenset({named[1]})))
    countries = dict.fromkeys((home, *(country for country, _ in laws)))
    calendars = [
        *(
            (country, frozenset[str]())
            for country in countries
            if not any(country == law and states for law, states in laws)
        ),
        *((country, states) for country, states in laws if states),
    ]
    zones = _zones(number, home=home, zone=zone, named=named, fallback_zone=fallback_zone)
    return Place(laws, tuple(calendars), zones)


def _zones(
    number: str, *, home: str, zone: str | None, named: tuple[str, str] | None, fallback_zone: str | None
) -> frozenset[str]:
    if zone:
        return frozenset({zone})
    known = _zones_of_number(number) | (zones_of_state(*named) if named else frozenset[str]())
    wide = TERRITORIES if number.startswith("+1867") else zones_of_country(home)
    return known or wide | frozenset({fallback_zone} if fallback_zone else ())


def shows_zones(number: str) -> bool:
    """Whether the number itself says in which zones the person may be."""
    return bool(_zones_of_number(number))


def _state_of_list(said: str, *, home: str, code: int) -> tuple[str, str] | None:
    countries = (home, *(country for country in SHARED_BY.get(code, ()) if country != home))
    return next(((country, found) for country in countries if (found := state_named(said, country=country))), None)


@cache
def zone_named(name: str) -> ZoneInfo:
    """The zone as tzdata's package has it: the machine's may be older."""
    with importlib.resources.files("tzdata").joinpath("zoneinfo", name).open("rb") as table:
        return ZoneInfo.from_file(table, key=name)


@cache
def zones_of_country(country: str) -> frozenset[str]:
    """All zones of a country, as tzdata's zone.tab lists them."""
    rows = (line.split("\t") for line in _table("zone.tab") if not line.startswith("#"))
    return frozenset(row[2] for row in rows if row[0] == country)


@cache
def _links() -> dict[str, str]:
    """Names of zones that are other names for a zone: `Europe/Guernsey` for `Europe/London`."""
    return {row[2]: row[1] for line in _table("tzdata.zi") if (row := line.split())[0] == "L"}


def _table(name: str) -> list[str]:
    return importlib.resources.files("tzdata").joinpath("zoneinfo", name).read_text("utf-8").splitlines()


def _zones_of_number(number: str) -> frozenset[str]:
    """The zones that a number shows: those of its area code, else one to three clocks, else none."""
    names = frozenset(timezone.time_zones_for_number(phonenumbers.parse(number))) - {UNKNOWN_ZONE}
    zones = frozenset(_links().get(name, name) for name in names)
    area = zones_of_area(number)
    if area is not None:
        return area
    return zones if len(zones) <= MOST_ZONES_OF_A_NUMBER else frozenset()


def _states_of_number(number: str, *, country: str) -> frozenset[str]:
    """The states that the geocoder names for a number: `Chicago, IL`, `Nova Scotia/Prince Edward Island`; else all.

    An Australian number shows none, as area code 02 is that of New South Wales and of the capital.
    """
    described = geocoder.description_for_valid_number(phonenumbers.parse(number), "en")
    names = described.rpartition(",")[2].split("/") if country != "AU" else ()
    found = frozenset(code for name in names if (code := state_named(name, country=country)))
    return found or frozenset(STATES.get(country, ()))
