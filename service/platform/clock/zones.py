"""Time zones from the package `tzdata`, which the lock file pins, and not from the machine.

Python prefers the machine's tables. Where these are older than a country's last change of its clocks, people would be
called outside the hours, and two processes of one service would disagree.
"""

from functools import lru_cache
from importlib.resources import files
from zoneinfo import ZoneInfo


@lru_cache(maxsize=1)
def _by_country() -> dict[str, tuple[str, ...]]:
    """The zones of each country, as the package's `zone.tab` lists them."""
    text = files("tzdata").joinpath("zoneinfo", "zone.tab").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    countries = dict.fromkeys(row[0] for row in rows)
    return {country: tuple(row[2] for row in rows if row[0] == country) for country in countries}


def zones_of_country(country: str) -> tuple[str, ...]:
    """All time zones of a country (ISO 3166-1 alpha-2)."""
    return _by_country().get(country, ())


@lru_cache(maxsize=1_000)
def zone_of(name: str) -> ZoneInfo:
    """The time zone of this name (IANA); the machine's if the package does not have it.

    Raises:
        ZoneInfoNotFoundError: neither has it.
    """
    table = files("tzdata").joinpath("zoneinfo", *name.split("/"))
    if not table.is_file():
        return ZoneInfo(name)
    with table.open("rb") as opened:
        return ZoneInfo.from_file(opened, key=name)
