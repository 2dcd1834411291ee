"""One rule of a rules file: its kind, what it says, for whom and when, and its source."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, cast, get_args

from callwright.contract.calls.calls import OUTCOMES
from callwright.service.rules.regions.holiday_calendars import OWN, is_calendar
from callwright.service.rules.regions.region_rules import (
    CapRule,
    ConsentKind,
    ConsentRule,
    HoursRule,
    PauseRule,
    Purpose,
    RecordingRule,
    RingRule,
    Rule,
    Source,
)
from callwright.service.rules.regions.rule_fields import Fields, RuleFileError

Kind = Literal["hours", "cap", "pause", "consent", "recording", "ring"]
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_SPAN = re.compile(r"([01]\d|2[0-4]):([0-5]\d)-([01]\d|2[0-4]):([0-5]\d)")
_DAY_MINUTES = 24 * 60
_YEAR_HOURS = 366 * 24
_MAX_SECONDS = 120
_MAX_SPANS = 10


def read_rule(region: str, entry: object, number: int) -> Rule:
    """A rule of a region; `number` is its place in the region's list, for errors before its id is known."""
    fields = Fields(f"region {region}, rule {number}", entry)
    name = fields.text("id", most=60)
    fields.where = f"region {region}, rule {name}"
    if not name.startswith(f"{region}."):
        raise fields.wrong("id", f"does not begin with its region; write {region}.hours or the like")
    kind = cast(Kind, fields.chosen("kind", get_args(Kind)))
    rule = _KINDS[kind](fields, _common(region, name, fields))
    fields.nothing_else()
    return rule


def _common(region: str, name: str, fields: Fields) -> dict[str, Any]:
    """What rules of every kind have."""
    purposes = fields.texts("purposes", most=len(get_args(Purpose)))
    for purpose in purposes:
        if purpose not in get_args(Purpose):
            raise fields.wrong("purposes", f"has {purpose!r}; write some of {', '.join(get_args(Purpose))}")
    since, until = fields.day("since"), fields.day("until")
    if since is not None and until is not None and until <= since:
        raise fields.wrong(
            "until", "is not after `since`; write the first day on which the rule does not hold any more"
        )
    return {
        "id": name,
        "region": region,
        "source": _source(fields),
        "purposes": purposes,
        "since": since,
        "until": until,
    }


def _source(fields: Fields) -> Source:
    source = Fields(f"{fields.where}, source", fields.given("source"))
    title, url = source.text("title", most=300), source.text_if_given("url", most=500)
    if url is not None and not url.startswith(("https://", "http://")):
        raise source.wrong("url", "is no address; begin it with https://, or leave it out")
    read = source.flag("read")
    source.nothing_else()
    return Source(title, url, read)


def _hours(fields: Fields, common: dict[str, Any]) -> Rule:
    holidays = fields.text_if_given("holidays", most=10)
    if holidays is not None and holidays != OWN and not is_calendar(holidays):
        raise fields.wrong(
            "holidays", f"is {holidays!r}, of which no calendar is known; write a country or a part, or *"
        )
    return HoursRule(**common, windows=_windows(fields), holidays=holidays)


def _windows(fields: Fields) -> tuple[tuple[tuple[int, int], ...], ...]:
    spans: dict[str, tuple[tuple[int, int], ...]] = {}
    for days, written in fields.table("windows").items():
        first, _, last = days.partition("-")
        last = last or first
        if first not in _WEEKDAYS or last not in _WEEKDAYS[_WEEKDAYS.index(first) :]:
            raise fields.wrong("windows", f"has {days!r}, which are no weekdays; write mon, or mon-fri, Monday first")
        for day in _WEEKDAYS[_WEEKDAYS.index(first) : _WEEKDAYS.index(last) + 1]:
            if day in spans:
                raise fields.wrong("windows", f"names {day} twice; name each weekday once")
            spans[day] = _spans(fields, days, written)
    return tuple(spans.get(day, ()) for day in _WEEKDAYS)


def _spans(fields: Fields, days: str, written: object) -> tuple[tuple[int, int], ...]:
    parts = [part.strip() for part in written.split(",")] if isinstance(written, str) else []
    found: list[tuple[int, int]] = []
    for part in parts[: _MAX_SPANS + 1]:
        read = _SPAN.fullmatch(part)
        if read is None:
            break
        start, end = int(read[1]) * 60 + int(read[2]), int(read[3]) * 60 + int(read[4])
        if end <= start or end > _DAY_MINUTES:
            raise fields.wrong("windows", f"of {days} ends {part!r} before it starts, or after 24:00; put it right")
        if found and start < found[-1][1]:
            raise fields.wrong("windows", f"of {days} overlap at {part!r}; write them in order, one after the other")
        found.append((start, end))
    if len(found) < len(parts) or not found or len(found) > _MAX_SPANS:
        raise fields.wrong("windows", f"of {days} is {written!r}; write hours such as 09:00-13:00, 14:00-20:00")
    return tuple(found)


def _cap(fields: Fields, common: dict[str, Any]) -> Rule:
    return CapRule(**common, most=fields.number("most", most=1_000), hours=fields.number("hours", most=_YEAR_HOURS))


def _pause(fields: Fields, common: dict[str, Any]) -> Rule:
    outcomes = fields.texts("outcomes", most=len(OUTCOMES))
    if not outcomes or not set(outcomes) <= set(OUTCOMES):
        raise fields.wrong("outcomes", f"is {list(outcomes)}; write some of {', '.join(OUTCOMES)}")
    return PauseRule(**common, outcomes=outcomes, hours=fields.number("hours", most=_YEAR_HOURS))


def _consent(fields: Fields, common: dict[str, Any]) -> Rule:
    return ConsentRule(**common, needs=cast(ConsentKind, fields.chosen("needs", get_args(ConsentKind))))


def _recording(fields: Fields, common: dict[str, Any]) -> Rule:
    return RecordingRule(**common, announcement=fields.flag("announcement"))


def _ring(fields: Fields, common: dict[str, Any]) -> Rule:
    return RingRule(**common, least_seconds=fields.number("least_seconds", most=_MAX_SECONDS))


_KINDS: Mapping[Kind, Callable[[Fields, dict[str, Any]], Rule]] = {
    "hours": _hours,
    "cap": _cap,
    "pause": _pause,
    "consent": _consent,
    "recording": _recording,
    "ring": _ring,
}
__all__ = ["Kind", "RuleFileError", "read_rule"]
