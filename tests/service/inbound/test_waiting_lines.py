"""The lines of an inbound deployment, against a plain simulation of lines and a queue."""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from callwright.contract.deployments.inbound import Overflow
from callwright.service.inbound.decision import Decision
from callwright.service.inbound.waiting_lines import MOST_WAITING, OVERFLOW, QUEUE_FULL, WaitingLines
from callwright.service.telephony.answering import Answering

AGENT = Decision(Answering("agent"), "deployment")
QUEUE, SHUT = Overflow(action="queue"), Overflow(action="busy")


@dataclass(frozen=True)
class Comes:
    """A caller: how long after the one before, how long they talk, and how long they would wait."""

    after_ms: int
    talks_ms: int
    patience_ms: int


CALLERS = st.lists(
    st.builds(Comes, st.integers(0, 50), st.integers(1, 200), st.integers(0, 300)), min_size=1, max_size=40
)


def served_at(most: int, callers: list[Comes]) -> list[int | None]:
    """When each caller has a line, first come first served; None for those who give up. Millisecond by millisecond."""
    arrivals, at_ms = list[int](), 0
    for caller in callers:
        at_ms += caller.after_ms
        arrivals.append(at_ms)
    served: list[int | None] = [None] * len(callers)
    lines = [0] * most
    for index, (caller, came_ms) in enumerate(zip(callers, arrivals, strict=True)):
        line = min(range(most), key=lambda one: lines[one])
        at = max(came_ms, lines[line])
        if at - came_ms > caller.patience_ms:
            continue  # gives up, and holds no line
        served[index], lines[line] = at, at + caller.talks_ms
    return served


@given(st.integers(1, 4), CALLERS)
def test_callers_are_served_first_come_first_served(most: int, callers: list[Comes]) -> None:
    lines, at_ms, found = WaitingLines(most), 0, list[int | None]()
    for caller in callers:
        at_ms += caller.after_ms
        free_ms = lines.free_at(at_ms)
        if free_ms - at_ms > caller.patience_ms:
            lines.wait(at_ms + caller.patience_ms)
            found.append(None)
            continue
        if free_ms > at_ms:
            lines.wait(free_ms)
        lines.take(free_ms + caller.talks_ms)
        found.append(free_ms)
    assert found == served_at(most, callers)


def test_a_caller_waits_behind_those_who_wait_and_hears_the_place() -> None:
    lines = WaitingLines(1, taken_until=[10_000])
    first = lines.given(AGENT, QUEUE, 1_000)
    assert first.answering.wait is not None
    assert (first.answering.wait.position, first.answering.wait.waits_s, first.reason) == (1, 9.0, OVERFLOW)
    lines.wait(10_000)
    lines.take(30_000)
    second = lines.given(AGENT, QUEUE, 2_000)
    assert second.answering.wait is not None
    assert (second.answering.wait.position, second.answering.wait.waits_s) == (2, 28.0)


def test_overflow_forwards_or_is_busy() -> None:
    lines = WaitingLines(1, taken_until=[10_000])
    assert lines.given(AGENT, SHUT, 0).answering == Answering("reject", "busy")
    forward = lines.given(AGENT, Overflow(action="forward", forward_to="+14155550177"), 0)
    assert forward.answering == Answering("forward", forward_to="+14155550177")
    assert lines.given(AGENT, SHUT, 10_000) == AGENT


def test_a_queue_has_a_size() -> None:
    lines = WaitingLines(1, taken_until=[10_000], waiting_until=[10_000] * MOST_WAITING)
    full = lines.given(AGENT, QUEUE, 0)
    assert (full.answering, full.reason) == (Answering("reject", "busy"), QUEUE_FULL)
