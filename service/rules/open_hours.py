"""When a person may be called: inside the campaign's calling hours and the hours of every region and time zone that
they may be in. The first such moment, the stretches of such time, and the rule that forbids a moment.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache, reduce

from callwright.contract.deployments.dialling import WEEKDAYS, CallingHours
from callwright.service.platform.clock.clock import DAY, MINUTE, milliseconds, moment
from callwright.service.platform.clock.zones import zone_of
from callwright.service.rules.regions.holiday_calendars import OWN, is_holiday
from callwright.service.rules.regions.places import Place
from callwright.service.rules.regions.region_rules import DEFAULT, HoursRule, InForce, Purpose, RegionRules

DAYS_AHEAD = 100
"""Days ahead in which a moment is looked for."""
CALLING_HOURS = "calling_hours"
"""The name of the rule that the campaign's own calling hours are."""
PUBLIC_HOLIDAYS = "calling_hours.skip_public_holidays"
_HOLIDAYS = "holidays"
"""How the names of rules about holidays end."""
Span = tuple[int, int]
"""A start and an end (not included): minutes of a local day, or milliseconds since the epoch."""
Week = tuple[tuple[Span, ...], ...]
"""The spans of each weekday, Monday first, in minutes."""
_WHOLE_DAY: tuple[Span, ...] = ((0, 1_440),)


@dataclass(frozen=True)
class _Limit:
    """The spans of a local day at which one rule allows calls; `rule` is its name."""

    rule: str
    spans: tuple[Span, ...]


class OpenHours:
    """The moments at which a person at a place may be called. It keeps the days that it has worked out, and what it was
    asked last. Several threads ask it, so what is kept is read once and checked."""

    def __init__(self, rules: RegionRules, place: Place, hours: CallingHours | None, purpose: Purpose) -> None:
        self.place = place
        self._rules = rules
        self._hours = hours
        self._purpose: Purpose = purpose
        self._own = None if hours is None else _by_weekday(hours)
        fixed = hours is not None and hours.timezone_mode == "fixed"
        self._own_zones = (hours.timezone or "UTC",) if fixed and hours is not None else place.zones
        known = tuple(code for code in place.regions if code in rules.regions)
        self._calendars = (*known, *place.calendars) if known else ()
        self._days: dict[int, tuple[Span, ...]] = {}
        self._beside: tuple[int, str] | None = None
        self._hours_on: tuple[date, tuple[HoursRule, ...]] | None = None
        self._day_at: tuple[int, date] | None = None
        self._forbidding_at: tuple[int, str | None] | None = None

    def first(self, at_ms: int) -> int | None:
        """The first moment from `at_ms` on at which a call is allowed; None if there is none within 100 days."""
        for start_ms, end_ms in self.spans(at_ms):
            return max(start_ms, at_ms) if end_ms > at_ms else None
        return None

    def spans(self, at_ms: int) -> Iterator[Span]:
        """The stretches of allowed time that end after `at_ms`, in order; one that crosses midnight (UTC) comes in
        two parts."""
        first = at_ms // DAY
        for day in range(first, first + DAYS_AHEAD):
            for span in self._day(day):
                if span[1] > at_ms:
                    yield span

    def in_force(self, at_ms: int) -> InForce:
        """The rules that hold for the person at a moment, by the date in their first time zone."""
        return self._in_force(self._local_day(at_ms))

    def _local_day(self, at_ms: int) -> date:
        """The date in the first time zone. A round of dialling asks many times about one moment."""
        kept = self._day_at
        if kept is None or kept[0] != at_ms:
            kept = self._day_at = at_ms, moment(at_ms).astimezone(zone_of(self.place.zones[0])).date()
        return kept[1]

    def _in_force(self, day: date) -> InForce:
        return self._rules.in_force(self.place.regions, self._purpose, day)

    def hours_rules(self, at_ms: int) -> tuple[HoursRule, ...]:
        """The rules about hours that hold for the person at a moment."""
        return self._hours_rules(self._local_day(at_ms))

    def _hours_rules(self, day: date) -> tuple[HoursRule, ...]:
        """The hours of the regions, and where the campaign has none of its own also the default's."""
        kept = self._hours_on
        if kept is None or kept[0] != day:
            default = self._rules.regions[DEFAULT].rules if self._hours is None else ()
            own = (rule for rule in default if isinstance(rule, HoursRule))
            kept = self._hours_on = day, tuple(dict.fromkeys((*self._in_force(day).hours, *own)))
        return kept[1]

    def week(self, at_ms: int) -> Week:
        """The hours that the rules in force at a moment give in the person's time zones, without holidays."""
        return _week(self.hours_rules(at_ms))

    def forbidding(self, at_ms: int) -> str | None:
        """The rule that forbids a call at a moment; None if none does."""
        kept = self._forbidding_at
        if kept is None or kept[0] != at_ms:
            kept = self._forbidding_at = at_ms, next(self._all_forbidding(at_ms), None)
        return kept[1]

    def _all_forbidding(self, at_ms: int) -> Iterator[str]:
        """All rules that forbid a call at a moment."""
        at = moment(at_ms)
        for name in dict.fromkeys((*self.place.zones, *self._own_zones)):
            local = at.astimezone(zone_of(name))
            minute = local.hour * 60 + local.minute
            for limit in self._limits(name, local.date()):
                if not any(start <= minute < end for start, end in limit.spans):
                    yield limit.rule

    def beside_own(self, at_ms: int) -> str:
        """The rule of a region that most often forbids calls within the campaign's own hours; these if none does.

        Looked for in steps of five minutes of the week from the day of `at_ms` on. A rule about holidays is named only
        if there is no other.
        """
        first_ms = at_ms // DAY * DAY
        kept = self._beside
        if kept is None or kept[0] != first_ms:
            kept = self._beside = first_ms, self._most_beside_own(first_ms)
        return kept[1]

    def _most_beside_own(self, first_ms: int) -> str:
        counts: Counter[str] = Counter()
        for moment_ms in range(first_ms, first_ms + 7 * DAY, 5 * MINUTE):
            rules = list(self._all_forbidding(moment_ms))
            if CALLING_HOURS not in rules:
                counts.update(rules[:1])
        most = [rule for rule, _ in counts.most_common()]
        return next((rule for rule in most if not rule.endswith(_HOLIDAYS)), next(iter(most), CALLING_HOURS))

    def _day(self, day: int) -> tuple[Span, ...]:
        """The stretches of allowed time of a day (UTC, counted from the epoch)."""
        found = self._days.get(day)
        if found is None:
            begin_ms = day * DAY
            zones = dict.fromkeys((*self.place.zones, *self._own_zones))
            whole: Sequence[Span] = ((begin_ms, begin_ms + DAY),)
            found = tuple(reduce(intersected, (self._in_zone(name, day) for name in zones), whole))
            if len(self._days) > 2 * DAYS_AHEAD:
                self._days.clear()
            self._days[day] = found
        return found

    def _in_zone(self, name: str, day: int) -> list[Span]:
        first = date(1970, 1, 1) + timedelta(days=day - 1)
        return [
            span
            for local_day in (first, first + timedelta(days=1), first + timedelta(days=2))
            for span in _moments(name, local_day, reduce(intersected, (o.spans for o in self._limits(name, local_day))))
        ]

    def _limits(self, zone: str, day: date) -> list[_Limit]:
        """What limits calls on a local day in a zone: the campaign's hours in their own zones, the regions' in the
        person's."""
        limits = [_Limit("", _WHOLE_DAY)]
        if self._own is not None and zone in self._own_zones:
            limits.append(_Limit(CALLING_HOURS, self._own[day.weekday()]))
        if zone in self.place.zones:
            everywhere = (*self.place.regions, *self.place.calendars)
            hours = self._hours_rules(day)
            if not hours:  # a day of which no rule says the hours is closed
                limits.append(_Limit(CALLING_HOURS, ()))
            for rule in hours:
                if rule.holidays is not None and is_holiday(rule.holidays, day, regions=everywhere):
                    limits.append(_Limit(f"{rule.id}.{_HOLIDAYS}", ()))
                else:
                    limits.append(_Limit(rule.id, rule.windows[day.weekday()]))
            skips = self._hours is not None and self._hours.skip_public_holidays
            if skips and is_holiday(OWN, day, regions=self._calendars):
                limits.append(_Limit(PUBLIC_HOLIDAYS, ()))
        return limits


@lru_cache(maxsize=4_000)
def open_hours(rules: RegionRules, place: Place, hours: CallingHours | None, purpose: Purpose) -> OpenHours:
    """The open hours of a place, kept from one question to the next."""
    return OpenHours(rules, place, hours, purpose)


def default_week(rules: RegionRules) -> Week:
    """The hours of the rules of the default region."""
    return _week([rule for rule in rules.regions[DEFAULT].rules if isinstance(rule, HoursRule)])


def _week(rules: Sequence[HoursRule]) -> Week:
    """When all of these rules allow calls; never without one."""
    if not rules:
        return ((),) * len(WEEKDAYS)
    return tuple(tuple(reduce(intersected, (rule.windows[day] for rule in rules))) for day in range(len(WEEKDAYS)))


def finish_ms(begin_ms: int, calling_ms: int, hours: OpenHours) -> int | None:
    """When calling ends that begins at `begin_ms`, takes `calling_ms` and goes on only in allowed time.

    None when that is more than 100 days ahead.
    """
    left_ms = calling_ms
    for start_ms, end_ms in hours.spans(begin_ms):
        opens_ms = max(start_ms, begin_ms)
        if end_ms - opens_ms >= left_ms:
            return opens_ms + left_ms
        left_ms -= end_ms - opens_ms
    return None


@lru_cache(maxsize=1_000)
def _by_weekday(hours: CallingHours) -> tuple[tuple[Span, ...], ...]:
    """The windows of calling hours for each weekday, Monday first, in minutes, in order and without overlaps."""
    return tuple(
        merged(
            sorted((_minutes(one.start), _minutes(one.end)) for one in hours.windows if name in one.days),
        )
        for name in WEEKDAYS
    )


def _minutes(clock_time: str) -> int:
    hour, minute = clock_time.split(":")
    return int(hour) * 60 + int(minute)


def merged(spans: Sequence[Span]) -> tuple[Span, ...]:
    """Spans in order, of which those that overlap or touch are one."""
    found: list[Span] = []
    for start, end in spans:
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return tuple(found)


def intersected(left: Sequence[Span], right: Sequence[Span]) -> Sequence[Span]:
    """The spans that are in a span of both; both are in order and without overlaps."""
    found: list[Span] = []
    mine = other = 0
    while mine < len(left) and other < len(right):
        start, end = max(left[mine][0], right[other][0]), min(left[mine][1], right[other][1])
        if start < end:
            found.append((start, end))
        if left[mine][1] < right[other][1]:
            mine += 1
        else:
            other += 1
    return found


def _moments(zone: str, day: date, spans: Sequence[Span]) -> Iterator[Span]:
    """The moments, in milliseconds, at which the clocks of a zone show a minute of these spans on a day.

    An hour that a clock change skips has no moment; one that it repeats has its moments twice.
    """
    midnight_ms = milliseconds(datetime.combine(day, time(0), UTC))
    for begin_ms, end_ms, offset_ms in _offsets(zone, day):
        for start, end in spans:
            from_ms = max(begin_ms, midnight_ms + start * MINUTE - offset_ms)
            to_ms = min(end_ms, midnight_ms + end * MINUTE - offset_ms)
            if from_ms < to_ms:
                yield from_ms, to_ms


@lru_cache(maxsize=50_000)
def _offsets(name: str, day: date) -> tuple[tuple[int, int, int], ...]:
    """The stretches of a local day in which the zone keeps one offset from UTC: begin, end and offset."""
    zone = zone_of(name)
    begin, end = (datetime.combine(day + timedelta(days=days), time(0), zone).astimezone(UTC) for days in (0, 1))
    before, after = (_offset_ms(at.astimezone(zone)) for at in (begin, end - timedelta(seconds=1)))
    if before == after:
        return ((milliseconds(begin), milliseconds(end), before),)
    first, last = int(begin.timestamp()), int(end.timestamp())
    while last - first > 1:
        middle = (first + last) // 2
        changed = _offset_ms(datetime.fromtimestamp(middle, zone)) != before
        first, last = (first, middle) if changed else (middle, last)
    return (milliseconds(begin), last * 1_000, before), (last * 1_000, milliseconds(end), after)


def _offset_ms(local: datetime) -> int:
    offset = local.utcoffset()
    return 0 if offset is None else offset // timedelta(milliseconds=1)
