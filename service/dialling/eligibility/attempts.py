"""How often a number may be called: the caps and pauses of the regions, over all campaigns of the organization."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import BigInteger, Boolean, Connection, String, bindparam, select

from callwright.service.platform.clock.clock import HOUR
from callwright.service.platform.phone import line_of, notations_of
from callwright.service.rules.regions.region_rules import CapRule, InForce, PauseRule, RegionRules
from callwright.service.tables import forgotten_calls
from callwright.service.tables.schema import calls

_C = calls.c
_RECENT = select(_C.to_number, _C.created_at, _C.outcome).where(
    _C.org_id == bindparam("org", type_=String),
    _C.to_number.in_(bindparam("numbers", expanding=True)),
    _C.created_at > bindparam("since", type_=BigInteger),
    _C.simulated == bindparam("simulated", type_=Boolean),
)


@dataclass(frozen=True)
class PastCall:
    """A call to a number: when it was dialled, and its outcome once it has ended."""

    dialled_ms: int
    outcome: str | None


NumberCalls = dict[str, tuple[PastCall, ...]]
"""The calls to the line of each number. A number that was not called is not in it."""


def longest_memory_ms(rules: RegionRules) -> int:
    """For how long a past call can forbid a further one, by any rule of the file."""
    hours = [rule.hours for rule in rules.rules() if isinstance(rule, CapRule | PauseRule)]
    return max(hours, default=0) * HOUR


def calls_to(
    connection: Connection, org_id: str, numbers: Sequence[str], *, simulated: bool, since_ms: int
) -> NumberCalls:
    """The calls of an organization to these numbers since a moment, also those that other campaigns make.

    A call to another notation of a number counts, for it has rung on the same line, and one whose person was deleted.
    Calls later than the moment of a decision count too: simulated campaigns each have a clock of their own.
    """
    if not numbers:
        return {}
    notations = list(dict.fromkeys(notation for number in numbers for notation in notations_of(number)))
    given = {"org": org_id, "numbers": notations, "since": since_ms, "simulated": simulated}
    found: defaultdict[str, list[PastCall]] = defaultdict(list)
    for number, dialled_ms, outcome in connection.execute(_RECENT, given):
        found[line_of(number)].append(PastCall(dialled_ms, outcome))
    lines = list(dict.fromkeys(line_of(number) for number in numbers))
    for line, dialled_ms, outcome in forgotten_calls.since(
        connection, org_id, lines, simulated=simulated, since_ms=since_ms
    ):
        found[line].append(PastCall(dialled_ms, outcome))
    return {number: tuple(found[line]) for number in numbers if (line := line_of(number)) in found}


def first_within(past: Sequence[PastCall], in_force: InForce, at_ms: int) -> tuple[int, str | None]:
    """The first moment from `at_ms` on at which the caps and pauses allow a call, and the rule that forbids `at_ms`.

    A cap holds for every stretch of its length that has the call in it, also where calls come after it.
    """
    rule = _forbidding(past, in_force, at_ms)
    if rule is None:
        return at_ms, None
    for later_ms in sorted(_ends(past, in_force, at_ms)):
        if _forbidding(past, in_force, later_ms) is None:
            return later_ms, rule
    raise AssertionError("after the last of these moments no past call counts any more")


def _ends(past: Sequence[PastCall], in_force: InForce, at_ms: int) -> Iterator[int]:
    """The moments after `at_ms` at which a past call ceases to count for a rule."""
    for rule in (*in_force.caps, *in_force.pauses):
        for call in past:
            if call.dialled_ms + rule.hours * HOUR > at_ms:
                yield call.dialled_ms + rule.hours * HOUR


def _forbidding(past: Sequence[PastCall], in_force: InForce, at_ms: int) -> str | None:
    """The rule that forbids a call at a moment; None if none does."""
    for cap in in_force.caps:
        length_ms = cap.hours * HOUR
        near = sorted(call.dialled_ms for call in past if abs(call.dialled_ms - at_ms) < length_ms)
        if _most_together([*near, at_ms], at_ms, length_ms) > cap.most:
            return cap.id
    for pause in in_force.pauses:
        for call in past:
            if call.outcome in pause.outcomes and 0 <= at_ms - call.dialled_ms < pause.hours * HOUR:
                return pause.id
    return None


def _most_together(times_ms: Sequence[int], at_ms: int, length_ms: int) -> int:
    """The most calls in any stretch of this length that has the call at `at_ms` in it."""
    starts = [one for one in times_ms if at_ms - length_ms < one <= at_ms]
    return max(sum(start <= one < start + length_ms for one in times_ms) for start in starts)
