"""Time zones as people write them in lists: names in any case, and the abbreviations of North America."""

import re
from collections.abc import Mapping
from functools import lru_cache

from callwright.contract.checks.time_zones import time_zones

_AMERICAN: Mapping[str, str] = {
    **dict.fromkeys(("est", "edt", "et", "eastern"), "America/New_York"),
    **dict.fromkeys(("cst", "cdt", "ct", "central"), "America/Chicago"),
    **dict.fromkeys(("mst", "mdt", "mt", "mountain"), "America/Denver"),
    **dict.fromkeys(("pst", "pdt", "pt", "pacific"), "America/Los_Angeles"),
    **dict.fromkeys(("akst", "akdt", "alaska", "alaskan"), "America/Anchorage"),
    **dict.fromkeys(("hst", "hawaii", "hawaiian"), "Pacific/Honolulu"),
}
"""What people with numbers that begin with +1 mean. To IANA, EST, MST and HST are offsets without summer time."""
_OFFSET = re.compile(r"^\((?:gmt|utc)[^)]*\)\s*")
"""What stands before the name in lists of time zones: `(GMT-08:00) Pacific Time (US & Canada)`."""
_LONG = re.compile(r"(?: (?:standard|daylight))?(?: time)?(?: \(us & canada\))?$")


@lru_cache(maxsize=1)
def _by_folded_name() -> dict[str, str]:
    return {name.casefold(): name for name in time_zones()}


@lru_cache(maxsize=10_000)
def zone_written(text: str, *, american: bool) -> str | None:
    """The IANA name of the time zone that a cell names; None if it names none.

    `american`: the person's number begins with +1. Only then abbreviations such as `EST` are understood, as the time of
    the place with its summer time; elsewhere they mean other things and name no zone.
    """
    said = " ".join(_OFFSET.sub("", text.casefold().strip()).replace("_", " ").split())
    short = _LONG.sub("", said, count=1)
    if short in _AMERICAN:
        return _AMERICAN[short] if american else None
    return _by_folded_name().get(said.replace(" / ", "/").replace(" ", "_"))
