"""The figures of a trial with killed databases, each printed as holding or failing its limit."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from bench.outages.load import NO_ANSWER, FinishedRequest, Record

LIMIT_S = 15.0
"""The longest time that a request may be open."""
HEALTH_LIMIT_S = 5.0
"""The longest time that the health check may take to report that the database does not answer."""
WINDOW_S, STEP_S = 0.5, 0.05
"""Length and step of the sliding window in which throughput is counted."""
BEFORE_S = 3.0
"""The throughput before a kill is the median of the windows in so many seconds before it."""
PART = 0.8
"""The share of the earlier throughput that has to return."""
BACK_LIMIT_S = 2.0
LINES_A_SECOND = 2
"""How many lines a second a process may log about its database: one, and one that a busy machine delays."""
_OF_THE_DATABASE = re.compile(r"database|postgres|OperationalError|connection", re.IGNORECASE)
_EXPECTED = {"GET": {200, 503}, "POST": {200, 201, 503}, "start": {200, 503}}

Lines = Sequence[tuple[float, str]]
"""Lines that a process wrote on its standard error, each with its time."""


@dataclass(frozen=True)
class Outage:
    """Times of `time.monotonic`: kill begun, server down, start begun, and connections accepted again."""

    killed_s: float
    down_s: float
    started_s: float
    up_s: float


class Verdict:
    """Prints the figures. `holds` says whether all of them are within their limits."""

    def __init__(self) -> None:
        self.holds = True

    def report(self, figure: str, *, holds: bool) -> None:
        """Prints one figure."""
        self.holds &= holds
        print(f"{'holds' if holds else 'FAILS'}  {figure}", flush=True)


def stored(verdict: Verdict, record: Record, found: Sequence[tuple[str, str]]) -> None:
    """Compares the acknowledged agents with those in the database. `found` are ids and names."""
    names = dict(found)
    missing = sum(names.get(agent_id) != name for name, agent_id in record.acknowledged.items())
    twice = sum(count > 1 for count in Counter(names.values()).values())
    verdict.report(
        f"acknowledged and lost: {missing} of {len(record.acknowledged)} agents; stored twice {twice}; "
        f"never answered {len(record.unanswered)}",
        holds=bool(record.acknowledged) and not (missing or twice or record.unanswered),
    )


def statuses(verdict: Verdict, record: Record) -> None:
    """Counts the answers by status and code, and those that are not allowed."""
    for what, expected in _EXPECTED.items():
        seen = [one for one in record.over if one.what == what]
        by_status = Counter(f"{one.status or 'no answer'}{f' {one.code}' if one.code else ''}" for one in seen)
        other = [one for one in seen if one.status not in expected and not one.is_to_be_repeated]
        verdict.report(f"answers to {what}: {_counts(by_status)}; others than expected {len(other)}", holds=not other)
    failed = [one for one in record.over if one.status >= 500]
    put_off = [one for one in failed if one.status == 503 and one.code == "service_unavailable" and one.says_when]
    verdict.report(
        f"answers in the outage: {len(put_off)} of 503 service_unavailable with Retry-After; "
        f"other 5xx {len(failed) - len(put_off)}",
        holds=len(failed) == len(put_off),
    )


def longest(verdict: Verdict, record: Record, longest_s: float, left_open: int) -> None:
    """The longest time that a request was open, and how many were given up, broken or left open."""
    broken = sum(one.status == NO_ANSWER for one in record.over) - record.given_up
    verdict.report(
        f"longest request {longest_s:.2f} s (limit {LIMIT_S:g} s), given up {record.given_up}, "
        f"connections broken {broken}, open at the end {left_open}",
        holds=longest_s <= LIMIT_S and left_open == 0,
    )


def health(verdict: Verdict, asked: Sequence[tuple[FinishedRequest, Outage]]) -> None:
    """Whether the health check reported the database while it was down, and in time."""
    right = [one for one, outage in asked if _says_it_is_down(one, outage)]
    statuses = Counter(str(one.status or "no answer") for one, _ in asked)
    slowest_s = max((one.took_s for one, _ in asked), default=0.0)
    verdict.report(
        f"health checks in the outages: {len(right)} of {len(asked)} right ({_counts(statuses)}), "
        f"slowest {slowest_s:.2f} s (limit {HEALTH_LIMIT_S:g} s)",
        holds=bool(asked) and len(right) == len(asked) and slowest_s <= HEALTH_LIMIT_S,
    )


def _says_it_is_down(asked: FinishedRequest, outage: Outage) -> bool:
    if asked.status == 200:  # the database may have come back meanwhile
        return asked.ended_s >= outage.started_s
    return asked.status == 503 and b'"database"' in asked.body


def back(verdict: Verdict, record: Record, outages: Sequence[Outage], end_s: float) -> None:
    """How long it took after each start until the throughput was back."""
    ends = [outage.killed_s for outage in outages[1:]] + [end_s]
    first = _median_before(record, outages[0])
    took: list[float] = []
    late = 0
    for outage, until_s in zip(outages, ends, strict=True):
        # The first throughput counts too, so that a lasting loss after one kill does not lower the target for the next.
        wanted = PART * max(_median_before(record, outage), PART * first)
        back_s = _back_s(record, outage.up_s, until_s, wanted)
        late += back_s is None
        took.append(until_s - outage.up_s if back_s is None else back_s)
    verdict.report(
        f"throughput back at {PART:.0%} of {first / WINDOW_S:.0f}/s: median {median(took):.2f} s, "
        f"longest {max(took):.2f} s (limit {BACK_LIMIT_S:g} s); not before the next kill {late} of {len(outages)}",
        holds=first > 0 and not late and max(took) <= BACK_LIMIT_S,
    )


def _median_before(record: Record, outage: Outage) -> float:
    begins = [outage.killed_s - BEFORE_S + index * WINDOW_S for index in range(round(BEFORE_S / WINDOW_S))]
    return median(record.good(begin_s, begin_s + WINDOW_S) for begin_s in begins)


def _back_s(record: Record, up_s: float, until_s: float, wanted: float) -> float | None:
    """Seconds until the end of the first window in which `wanted` requests were answered."""
    end_s = up_s + WINDOW_S
    while end_s <= until_s:
        if record.good(end_s - WINDOW_S, end_s) >= wanted:
            return end_s - up_s
        end_s += STEP_S
    return None


def places(verdict: Verdict, before: int, after: int, answered: Mapping[str, tuple[int, float]], wanted: int) -> None:
    """Compares the throughput after the last kill with that before the first, and checks that each process answers.

    `answered` has, for each process, how many of `wanted` simultaneous requests it answered, and the slowest's seconds.
    """
    ratio = after / before if before else 0.0
    verdict.report(f"throughput after the last kill: {ratio:.2f} of before (at least {PART})", holds=ratio >= PART)
    said = ", ".join(f"{name} {count} of {wanted} within {slow_s:.2f} s" for name, (count, slow_s) in answered.items())
    verdict.report(
        f"answered at once: {said}",
        holds=all(count == wanted for count, _ in answered.values()),
    )


def logged(verdict: Verdict, logs: Mapping[str, Lines], since_s: float, secrets: Collection[str]) -> None:
    """Checks each process's log: few lines about the database after `since_s`, no tracebacks, none of `secrets`."""
    for name, lines in logs.items():
        after = [(at_s, line) for at_s, line in lines if at_s >= since_s]
        at = [at_s for at_s, line in after if _OF_THE_DATABASE.search(line)]
        most = max((bisect_left(at, begin_s + 1) - index for index, begin_s in enumerate(at)), default=0)
        tracebacks = sum("Traceback (most recent call last)" in line for _, line in lines)
        told = [line for _, line in lines if any(secret in line for secret in secrets)]
        verdict.report(
            f"log of {name}: at most {most} lines a second about the database (limit {LINES_A_SECOND}), "
            f"{len(after)} lines, {tracebacks} tracebacks, {len(told)} lines with names, numbers or parameters",
            holds=most <= LINES_A_SECOND and not tracebacks and not told,
        )
        if told:
            print(f"       such as: {told[0][:200]}")
        begins = [index for index, (_, line) in enumerate(lines) if "Traceback (most recent call last)" in line]
        for _, line in lines[begins[0] - 1 : begins[0] + 80] if begins else ():
            print(f"       {line[:200]}")


def _counts(counted: Counter[str]) -> str:
    return ", ".join(f"{name}: {count}" for name, count in counted.most_common()) or "none"
