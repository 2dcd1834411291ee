"""What the gate says about the first people of a campaign at its beginning, and by when the others can be called."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row

from callwright.service.campaigns.dial_order import SAMPLE, next_people
from callwright.service.dialling.eligibility.attempts import calls_to, longest_memory_ms
from callwright.service.dialling.eligibility.gate import (
    CALLING_HOURS,
    NO_CONSENT,
    Candidate,
    Deferred,
    Never,
    NeverReason,
    gate,
)
from callwright.service.dialling.limits.caller_id import CallerIds
from callwright.service.dialling.queue import Rules, numbers_of
from callwright.service.platform.clock.clock import DAY
from callwright.service.rules.capped_calling import Allowance, CappedCalling
from callwright.service.rules.open_hours import DAYS_AHEAD, OpenHours, Week, default_week, merged
from callwright.service.rules.regions.region_rules import RegionRules

_AT_A_TIME = 500
"""Numbers whose past calls are read with one statement."""


@dataclass(frozen=True)
class DeferredBy:
    """So many people cannot be called at the beginning because of a rule, the last of them until `until_ms`."""

    rule: str
    count: int
    until_ms: int


@dataclass(frozen=True)
class FirstCall:
    """The first call of a deployment."""

    at_ms: int
    contact: Row[Any]
    """The person: `id`, `phone`, `timezone`, `cells`, `steering` and the `attempts` made so far."""


@dataclass(frozen=True)
class Outlook:
    """The first people who may be called, when each is due, and when the gate allows the next call to them.

    `whole`: nobody else is left. `calls_ms` has None for those who can never be called, `never` the reason and the rule
    of each of these. `deferred` is by rule, the most frequent first.
    """

    people: Sequence[Row[Any]]
    hours: Sequence[OpenHours]
    due_ms: Sequence[int]
    calls_ms: Sequence[int | None]
    never: Sequence[Never]
    deferred: Sequence[DeferredBy]
    whole: bool

    def never_by_reason(self) -> Counter[NeverReason]:
        """How many of the people can never be called, by reason."""
        return Counter(one.reason for one in self.never)

    @property
    def forbids_all(self) -> Never | None:
        """Why none of the people can ever be called, by most of them: hours or consent; None if somebody can."""
        if not self.people or len(self.never) < len(self.people):
            return None
        counts = Counter(one for one in self.never if one.reason in (CALLING_HOURS, NO_CONSENT))
        return counts.most_common(1)[0][0] if counts else None

    @property
    def open_places(self) -> set[OpenHours]:
        """The open hours of those who can be called at all."""
        return {hours for hours, at_ms in zip(self.hours, self.calls_ms, strict=True) if at_ms is not None}

    def week(self, regions: RegionRules, at_ms: int) -> Week | None:
        """The hours that the rules give to everybody alike; None where they differ, or may differ for those who are not
        among the first people."""
        weeks = {hours.week(at_ms) for hours in set(self.hours)}
        if not self.whole or not weeks:
            weeks.add(default_week(regions))
        return next(iter(weeks)) if len(weeks) == 1 else None

    def first(self, end_ms: int | None = None) -> FirstCall | None:
        """The first call to one of the people; None if the rules allow no call to any of them before the end."""
        found: list[tuple[int, int, int, int, int]] = []
        for index, (one, at_ms) in enumerate(zip(self.people, self.calls_ms, strict=True)):
            if at_ms is not None and (end_ms is None or at_ms < end_ms):
                # A deferred person is ordered by the time until which they are deferred.
                waited_for = min(one.next_at, at_ms) if at_ms == self.due_ms[index] else at_ms
                found.append((at_ms, -(one.priority or 0), waited_for, one.position, index))
        if not found:
            return None
        at_ms, _, _, _, index = min(found)
        return FirstCall(at_ms, self.people[index])

    def latest_ms(self) -> int | None:
        """The latest first moment of one of the people."""
        return max((at_ms for at_ms in self.calls_ms if at_ms is not None), default=None)

    def missed(
        self, people: int, *, begin_ms: int, end_ms: int, calling_ms: int, allowances: Sequence[Allowance] = ()
    ) -> int:
        """About how many of so many people are not called before the end, if calls to all of them take `calling_ms`.

        The people of the outlook stand for all: as many of them have no moment before the end, and the others share the
        time in which anybody may be called, and the `allowances` of the numbers' daily caps.
        """
        able = [index for index, at_ms in enumerate(self.calls_ms) if at_ms is not None]
        if not able or not people:
            return 0
        in_time = [index for index in able if (self.calls_ms[index] or 0) < end_ms]
        late = people - people * len(in_time) // len(able)
        places = {self.hours[index] for index in in_time}
        spans = _open(places, begin_ms, end_ms)
        open_ms = sum(end - start for start, end in spans)
        if allowances:
            open_ms = CappedCalling(allowances).within_ms(spans)
        room = round(people * open_ms / calling_ms) if calling_ms else people
        return max(late, people - room)


def _open(places: Iterable[OpenHours], begin_ms: int, end_ms: int) -> Sequence[tuple[int, int]]:
    """The stretches, at most 100 days ahead, in which somebody of these places may be called."""
    last_ms = min(end_ms, begin_ms + DAYS_AHEAD * DAY)
    found: list[tuple[int, int]] = []
    for place in places:
        for start, end in place.spans(begin_ms):
            if start >= last_ms:
                break
            found.append((max(start, begin_ms), min(end, last_ms)))
    return merged(sorted(found))


def begins_ms(row: Row[Any], now_ms: int) -> int:
    """When calls begin after a start or resume. On the simulated network a deployment has a clock of its own."""
    if row.started_at is not None:
        return row.clock_ms if row.simulated else max(row.clock_ms, now_ms)
    waits = row.status in ("draft", "paused")  # a start with a plan of a scheduled deployment does not wait
    return max(row.start_at or 0, now_ms) if waits else now_ms


def outlook(connection: Connection, rules: Rules, *, now_ms: int, most: int = SAMPLE) -> Outlook:
    """The outlook of a campaign that is started or resumed now, by its first people, at most `most` of them.

    They are judged as the dialler will judge them, with the calls to their numbers of all campaigns, at the first
    moment at which the campaign's own numbers may call.
    """
    begin_ms = begins_ms(rules.row, now_ms)
    caller_ids = CallerIds.read(connection, numbers_of(connection, rules.row.id), begin_ms, 0)
    may_call_ms = caller_ids.first_free(begin_ms) if caller_ids else begin_ms
    found = next_people(connection, rules.row, begin_ms=begin_ms, now_ms=now_ms, most=most + 1)
    people, whole = found[:most], len(found) <= most
    memory_ms = longest_memory_ms(rules.regions)
    past: dict[str, Any] = {}
    for first in range(0, len(people) if memory_ms else 0, _AT_A_TIME):
        numbers = [one.phone for one in people[first : first + _AT_A_TIME]]
        given: dict[str, Any] = {"simulated": rules.row.simulated, "since_ms": begin_ms - memory_ms}
        past |= calls_to(connection, rules.row.org_id, numbers, **given)
    hours: list[OpenHours] = []
    dues_ms: list[int] = []
    calls_ms: list[int | None] = []
    never: list[Never] = []
    counts: Counter[str] = Counter()
    until: dict[str, int] = {}
    for one in people:
        due_ms = max(one.next_at, may_call_ms)
        candidate: Candidate = rules.candidate(one, None, past, due_ms)
        hours.append(candidate.hours)
        dues_ms.append(due_ms)
        decision = gate(candidate, due_ms)
        calls_ms.append(due_ms)
        if isinstance(decision, Never):
            calls_ms[-1] = None
            never.append(decision)
        elif isinstance(decision, Deferred):
            calls_ms[-1] = decision.until_ms
            counts[decision.rule] += 1
            until[decision.rule] = max(until.get(decision.rule, 0), decision.until_ms)
    deferred = [DeferredBy(rule, count, until[rule]) for rule, count in counts.most_common()]
    return Outlook(people, hours, dues_ms, calls_ms, never, deferred, whole)
