"""The names of time zones: those of IANA, without entries that are no place and no offset."""

from functools import lru_cache
from zoneinfo import available_timezones

_NO_ZONES = frozenset({"Factory", "localtime", "posixrules"})
"""Entries of a machine's table: its own clock, a placeholder, and what POSIX rules default to."""


@lru_cache(maxsize=1)
def time_zones() -> frozenset[str]:
    """The names of all time zones. Names below `posix` and `right` repeat others."""
    names = available_timezones() - _NO_ZONES
    return frozenset(name for name in names if not name.startswith(("posix/", "right/")))


def checked_zone(value: str) -> str:
    """The name itself. Raises ValueError, with words that follow its place, for one that is no time zone."""
    if value not in time_zones():
        raise ValueError("must be an IANA time zone, for example America/New_York")
    return value
