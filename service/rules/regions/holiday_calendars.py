"""Public holidays: whether a local date is one, by the calendar of a country or of a part of it.

Days observed in place of a holiday count as holidays. The library is loaded, and a year made, when it is asked for.
"""

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


@lru_cache(maxsize=2_000)
def _days(name: str, year: int) -> frozenset[date]:
    import holidays

    country, _, part = name.partition("-")
    return frozenset(holidays.country_holidays(country, subdiv=part or None, years=year))


def is_holiday(calendar: str, day: date, *, regions: Sequence[str] = ()) -> bool:
    """Whether a date is a holiday of a calendar; of `*`, in the regions where a person may be.

    Of a country in which the part is not known, only the holidays of the whole country count.
    """
    if calendar != OWN:
        return day in _days(calendar, day.year)
    return any(day in _days(name, day.year) for name in _of_regions(tuple(regions)))


@lru_cache(maxsize=2_000)
def _of_regions(regions: tuple[str, ...]) -> tuple[str, ...]:
    countries = dict.fromkeys(region.partition("-")[0] for region in regions)
    names = list(countries)
    for country in countries:
        parts = [region for region in regions if region.startswith(f"{country}-")]
        names += parts if len(parts) == 1 else []
    return tuple(name for name in names if is_calendar(name))
