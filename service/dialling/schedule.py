"""When calls are dialled: channels that become free, a pace of new calls, the gate. Pure; the caller stores it."""

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil

from callwright.contract.deployments.dialling import CallingHours
from callwright.service.dialling.eligibility.gate import Candidate, Deferred, Never, gate

LOOK_AHEAD = 200
"""With calling hours: contacts looked at beyond those that can be called, so that many are deferred at once."""


@dataclass(frozen=True)
class Planned:
    """A call with its moment."""

    contact_id: str
    dial_ms: int


@dataclass(frozen=True)
class Schedule:
    """What a round dials, whom it defers until when, who may never be called and why, and the channels after it."""

    calls: tuple[Planned, ...]
    deferred: tuple[tuple[str, int], ...]
    never: tuple[tuple[str, str], ...]
    channel_free_at: tuple[int, ...]
    last_dial_ms: int | None

    @property
    def is_empty(self) -> bool:
        """Whether the round changes nothing."""
        return not (self.calls or self.deferred or self.never)


def gap_ms(calls_per_second: float) -> int:
    """The least time between two dials."""
    return ceil(1_000 / calls_per_second)


def schedule_round(
    candidates: Sequence[Candidate],
    *,
    channel_free_at: Sequence[int],
    last_dial_ms: int | None,
    calls_per_second: float,
    hours: CallingHours | None,
    lasts_ms: Callable[[Planned], int],
    most: int,
    end_ms: int | None,
) -> Schedule:
    """Gives each candidate, in their order, the first channel that is free, at the pace and in the hours allowed.

    `channel_free_at` are the moments from which each channel is free. `lasts_ms` says how long a call occupies its
    channel; it is asked once for each planned call, in their order. At most `most` calls are planned, and none at or
    after `end_ms`; whoever may not be called at their turn is deferred, or never called.
    """
    free = list(channel_free_at)
    heapq.heapify(free)
    planned: list[Planned] = []
    deferred: list[tuple[str, int]] = []
    never: list[tuple[str, str]] = []
    for candidate in candidates:
        if len(planned) == most or not free:
            break
        paced = free[0] if last_dial_ms is None else max(free[0], last_dial_ms + gap_ms(calls_per_second))
        wanted = max(paced, candidate.due_ms)
        if end_ms is not None and wanted >= end_ms:
            break
        decision = gate(candidate, hours, wanted)
        if isinstance(decision, Never):
            never.append((candidate.contact_id, decision.reason))
        elif isinstance(decision, Deferred):
            deferred.append((candidate.contact_id, decision.until_ms))
        else:
            call = Planned(candidate.contact_id, wanted)
            heapq.heapreplace(free, wanted + lasts_ms(call))
            last_dial_ms = wanted
            planned.append(call)
    return Schedule(tuple(planned), tuple(deferred), tuple(never), tuple(sorted(free)), last_dial_ms)
