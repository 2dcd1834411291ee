"""What a rule says in plain words, for pages and terminals."""

from collections.abc import Sequence

from callwright.service.rules.regions.holiday_calendars import OWN
from callwright.service.rules.regions.region_rules import (
    CapRule,
    ConsentRule,
    HoursRule,
    PauseRule,
    RecordingRule,
    RingRule,
    Rule,
)

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_DAY_HOURS = 24
UNVERIFIED = "unverified"


def says(rule: Rule) -> str:
    """What a rule asks of calls, as a sentence without a full stop."""
    match rule:
        case HoursRule():
            return _hours(rule)
        case CapRule():
            return f"At most {_count(rule.most, 'call')} to a number within {_span(rule.hours)}"
        case PauseRule():
            outcomes = " or ".join(f"`{outcome}`" for outcome in rule.outcomes)
            return f"After a call with the outcome {outcomes}, none to the number for {_span(rule.hours)}"
        case ConsentRule():
            return "Only with the person's written consent" if rule.needs == "written" else "Only with prior consent"
        case RecordingRule():
            return "Recording only after an announcement" if rule.announcement else "Recording needs no announcement"
        case RingRule():
            return f"The telephone rings for at least {_count(rule.least_seconds, 'second')}"
        case _:
            raise TypeError(f"no words for {type(rule).__name__}")


def purposes_of(rule: Rule) -> str:
    """The purposes of calls for which a rule holds."""
    return ", ".join(rule.purposes) or "all"


def dates_of(rule: Rule) -> str:
    """The days on which a rule holds; empty if always."""
    since = f"since {rule.since}" if rule.since else ""
    until = f"until {rule.until}" if rule.until else ""
    return " ".join(filter(None, (since, until)))


def verified(rule: Rule) -> str:
    """Whether the text of the source was read for the file."""
    return "verified" if rule.source.read else UNVERIFIED


def _hours(rule: HoursRule) -> str:
    groups: list[tuple[int, int]] = []
    for day in range(len(_WEEKDAYS)):
        if groups and rule.windows[day] == rule.windows[groups[-1][0]]:
            groups[-1] = (groups[-1][0], day)
        else:
            groups.append((day, day))
    open_days = [(first, last) for first, last in groups if rule.windows[first]]
    closed = [(first, last) for first, last in groups if not rule.windows[first]]
    parts = [f"{_days(first, last)} {_spans(rule.windows[first])}" for first, last in open_days]
    none_on = [_days(first, last) for first, last in closed]
    if rule.holidays is not None:
        none_on.append(f"holidays of {'the place' if rule.holidays == OWN else rule.holidays}")
    return ", ".join(parts) + (f"; none on {' and '.join(none_on)}" if none_on else "")


def _days(first: int, last: int) -> str:
    if (first, last) == (0, len(_WEEKDAYS) - 1):
        return "Every day"
    return _WEEKDAYS[first] if first == last else f"{_WEEKDAYS[first]} to {_WEEKDAYS[last]}"


def _spans(spans: Sequence[tuple[int, int]]) -> str:
    return " and ".join(f"{_clock(start)} to {_clock(end)}" for start, end in spans)


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02}:{minutes % 60:02}"


def _span(hours: int) -> str:
    days, rest = divmod(hours, _DAY_HOURS)
    return _count(days, "day") if days > 1 and not rest else _count(hours, "hour")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
