"""What cells of a list say of how a person is called: how soon, not before when, and in which language."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from functools import lru_cache
from zoneinfo import ZoneInfo

from callwright.contract.declaration.field_types import LANGUAGE_TAG, LONGEST_LANGUAGE_TAG
from callwright.service.rules.regions.places import place_of
from callwright.service.rules.regions.rule_file import shipped_rules

HIGHEST_PRIORITY = 9
NO_PRIORITY = f"this is no priority; write a whole number from 0 to {HIGHEST_PRIORITY}, the highest first"
NO_MOMENT = "this is no time; write it as 2027-03-01, 2027-03-01 09:00 or 2027-03-01T09:00:00Z"
NO_LANGUAGE = "this is no language; write a BCP 47 tag such as de-DE, or leave the cell empty"
_PRIORITY = re.compile(r"([0-9])(?:\.0+)?")
"""A spreadsheet may write 3 as 3.0."""


@dataclass(frozen=True)
class ContactColumns:
    """Which columns of a list say how a person is called; None where none does."""

    priority: str | None = None
    not_before: str | None = None
    language: str | None = None

    @property
    def names(self) -> tuple[str | None, str | None, str | None]:
        """The columns in the order in which `contact_settings` takes their cells."""
        return self.priority, self.not_before, self.language


NO_COLUMNS = ContactColumns()


@dataclass(frozen=True)
class Unreadable:
    """A cell that cannot be read: the place of its column in `ContactColumns.names`, the code and what to write."""

    place: int
    code: str
    message: str


ContactSettings = tuple[int | None, int | None, str | None]
"""The priority, the moment before which nobody calls, and the language of a person; None where the list says none."""
NO_SETTINGS: ContactSettings = None, None, None


def contact_settings(cells: Sequence[str], phone_e164: str, timezone: str | None) -> ContactSettings | Unreadable:
    """What three cells say, empty ones where the list has none. `timezone` is the person's, if the list names it."""
    priority, moment, language = cells
    level = priority_written(priority) if priority else 0
    if level is None:
        return Unreadable(0, "invalid_priority", NO_PRIORITY)
    at_ms = moment_written(moment, _zones(phone_e164, timezone)) if moment else None
    if moment and at_ms is None:
        return Unreadable(1, "invalid_not_before", NO_MOMENT)
    tag = language_written(language) if language else None
    if language and tag is None:
        return Unreadable(2, "invalid_language", NO_LANGUAGE)
    return level or None, at_ms, tag


def _zones(phone_e164: str, timezone: str | None) -> tuple[str, ...]:
    return place_of(shipped_rules(), phone_e164, state=None, timezone=timezone, fallback_zone=None).zones


def priority_written(text: str) -> int | None:
    """The priority that a cell names, 0 to `HIGHEST_PRIORITY`; None if it names none."""
    found = _PRIORITY.fullmatch(text.strip())
    return int(found[1]) if found else None


@lru_cache(maxsize=1_000)
def language_written(text: str) -> str | None:
    """The language tag in a cell, in the usual case (`de-DE`); None if it is none."""
    said = text.strip().replace("_", "-")
    if len(said) > LONGEST_LANGUAGE_TAG or re.fullmatch(LANGUAGE_TAG, said) is None:
        return None
    first, *rest = said.split("-")
    return "-".join([first.lower(), *map(_subtag, rest)])


def _subtag(text: str) -> str:
    """A script as `Latn`, a region as `DE` (RFC 5646, section 2.1.1)."""
    return text.title() if len(text) == 4 else text.upper() if len(text) == 2 else text.lower()


@lru_cache(maxsize=10_000)
def moment_written(text: str, zones: Sequence[str]) -> int | None:
    """The moment that a cell names (ISO 8601), in milliseconds; None if it names none.

    A time without an offset is that of the person, a date is its midnight; where they may be in one of several `zones`,
    the moment at which it is that time in the last of them.
    """
    said = text.strip()
    try:
        at = datetime.combine(date.fromisoformat(said), time()) if len(said) == 10 else datetime.fromisoformat(said)
        found = [at] if at.tzinfo else [at.replace(tzinfo=ZoneInfo(zone)) for zone in zones or ("UTC",)]
        return max(round(one.astimezone(UTC).timestamp() * 1_000) for one in found)
    except (ValueError, OverflowError):
        return None
