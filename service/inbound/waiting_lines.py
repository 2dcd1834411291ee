"""The lines of an inbound deployment over time, and the callers who wait for one, first come first served."""

import heapq
from collections.abc import Iterable
from dataclasses import replace

from callwright.contract.deployments.inbound import Overflow
from callwright.service.inbound.decision import BUSY, Decision
from callwright.service.platform.clock.clock import SECOND
from callwright.service.telephony.answering import Answering, Wait

MOST_WAITING = 20
"""Callers who may wait at a deployment at once; more get the busy tone."""
LONGEST_WAIT_S = 300.0
OVERFLOW, QUEUE_FULL = "overflow", "queue_full"


class WaitingLines:
    """The lines of one deployment. Callers come in the order of time.

    `taken_until` are the moments at which lines that are taken are free again, `waiting_until` those at which callers
    who wait have a line, or give up.
    """

    def __init__(self, most: int, taken_until: Iterable[int] = (), waiting_until: Iterable[int] = ()) -> None:
        self._most = most
        self._taken = sorted(taken_until)
        self._waiting = sorted(waiting_until)

    def _pass(self, at_ms: int) -> None:
        for moments in (self._taken, self._waiting):
            while moments and moments[0] <= at_ms:
                heapq.heappop(moments)

    def free_at(self, at_ms: int) -> int:
        """When a caller who comes at this moment has a line, behind all who wait."""
        self._pass(at_ms)
        if not self._most:  # others have all lines, and nothing says until when: longer than anybody waits
            return at_ms + round(2 * LONGEST_WAIT_S * SECOND)
        over = len(self._taken) - self._most
        return at_ms if over < 0 else max(at_ms, heapq.nsmallest(over + 1, self._taken)[-1])

    def given(self, decision: Decision, overflow: Overflow, at_ms: int) -> Decision:
        """The decision for a caller whom the agent is to answer: at once, after a wait, or as `overflow` says."""
        free_ms = self.free_at(at_ms)
        if free_ms <= at_ms:
            return decision
        if overflow.action == "forward":
            forward = Answering("forward", forward_to=overflow.forward_to)
            return replace(decision, answering=forward, reason=OVERFLOW)
        if overflow.action == "busy":
            return replace(decision, answering=BUSY, reason=OVERFLOW)
        if len(self._waiting) >= MOST_WAITING:
            return replace(decision, answering=BUSY, reason=QUEUE_FULL)
        wait = Wait(len(self._waiting) + 1, LONGEST_WAIT_S, (free_ms - at_ms) / SECOND)
        return replace(decision, answering=replace(decision.answering, wait=wait), reason=OVERFLOW)

    def take(self, until_ms: int) -> None:
        """A caller has a line until then."""
        heapq.heappush(self._taken, until_ms)

    def wait(self, until_ms: int) -> None:
        """A caller waits until then."""
        heapq.heappush(self._waiting, until_ms)
