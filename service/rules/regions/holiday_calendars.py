"""Public holidays: whether a local date is one, by the calendar of a country or of a part of it.

Days observed in place of a holiday count as holidays. The library is loaded, and a year made, when it is asked for.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import date
from functools import lru_cache

OWN = "*"
"""The calendar of the place where the person is."""
_COUNTRY_LENGTH = 2
"""Letters of a country's code; the library has markets too, by four letters."""


@lru_cache(maxsize=1_000)
def is_calendar(name: str) -> bool:
    """Whether there is a calendar of this name: a country, or a country and its part (`US`, `US-AL`)."""
    import holidays  # needed only where a rule names holidays; it reads the calendar of one country alone

    country, dash, part = name.partition("-")
    if len(country) != _COUNTRY_LENGTH or (dash and not part):
        return False
    try:
        holidays.country_holidays(country, subdiv=part or None)
    except NotImplementedError:
        return False
    return True


@lru_cache(maxsize=4_000)
def _days(name: str, year: int) -> frozenset[date]:
    import holidays

    country, _, part = name.partition("-")
    return frozenset(holidays.country_holidays(country, subdiv=part or None, years=year))


def is_holiday(calendar: str, day: date, *, regions: Sequence[str] = ()) -> bool:
    """Whether a date is a holiday of a calendar; of `*`, where a person may be.

    That is a holiday of a whole country, or of at least half of its parts in which the person may be: of those that
    `regions` names (`US-AL`), or of all if it names none. So Easter Monday is one for every number of the United
    Kingdom although Scotland works, and the twelfth of July is one only for a person known to be in Northern Ireland.
    """
    if calendar != OWN:
        return day in _days(calendar, day.year)
    return day in _own_days(tuple(regions), day.year)


@lru_cache(maxsize=4_000)
def _own_days(regions: tuple[str, ...], year: int) -> frozenset[date]:
    countries = dict.fromkeys(region.partition("-")[0] for region in regions)
    found: set[date] = set()
    for country in countries:
        if is_calendar(country):
            named = tuple(region for region in regions if region.startswith(f"{country}-") and is_calendar(region))
            found |= _days(country, year) | _days_of_parts(named or _all_parts(country), year)
    return frozenset(found)


@lru_cache(maxsize=2_000)
def _days_of_parts(parts: tuple[str, ...], year: int) -> frozenset[date]:
    """The holidays of at least half of some parts."""
    counts = Counter(day for part in parts for day in _days(part, year))
    return frozenset(day for day, count in counts.items() if 2 * count >= len(parts))


@lru_cache(maxsize=300)
def _all_parts(country: str) -> tuple[str, ...]:
    import holidays

    return tuple(f"{country}-{part}" for part in holidays.country_holidays(country).subdivisions)
