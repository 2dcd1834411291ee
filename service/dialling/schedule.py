"""When calls are dialled, by free channels, the pace of new calls and the gate. Pure functions, nothing is stored."""

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil

from callwright.service.dialling.eligibility.gate import Candidate, Deferred, Never, gate

LOOK_AHEAD = 200
"""After a round that deferred contacts: contacts that are read in addition, so that many are deferred in one round."""


@dataclass(frozen=True)
class Planned:
    """A call and when it is dialled."""

    contact_id: str
    dial_ms: int


@dataclass(frozen=True)
class Schedule:
    """The calls of a round, the contacts it defers and until when, those it never calls and why, and its channels."""

    calls: tuple[Planned, ...]
    deferred: tuple[tuple[str, Deferred], ...]
    never: tuple[tuple[str, Never], ...]
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
    first_free: Callable[[int], int],
    lasts_ms: Callable[[Planned], int],
    most: int,
    end_ms: int | None,
) -> Schedule:
    """Gives each candidate, in their order, the first channel that is free, at the pace and in the hours allowed.

    `channel_free_at` is when each channel is free, `first_free` the first moment from one on at which a number of the
    deployment may call. `lasts_ms` says how long a call occupies its channel; it is called
    once for each planned call, in their order. At most `most` calls are planned, and none at or after `end_ms`. The
    gate decides at the time of each call whether a candidate is called, deferred or never called.
    """
    free = list(channel_free_at)
    heapq.heapify(free)
    planned: list[Planned] = []
    deferred: list[tuple[str, Deferred]] = []
    never: list[tuple[str, Never]] = []
    for candidate in candidates:
        if len(planned) == most or not free:
            break
        paced = free[0] if last_dial_ms is None else max(free[0], last_dial_ms + gap_ms(calls_per_second))
        wanted = first_free(max(paced, candidate.due_ms))
        if end_ms is not None and wanted >= end_ms:
            break
        decision = gate(candidate, wanted)
        if isinstance(decision, Never):
            never.append((candidate.contact_id, decision))
        elif isinstance(decision, Deferred):
            deferred.append((candidate.contact_id, decision))
        else:
            call = Planned(candidate.contact_id, wanted)
            heapq.heapreplace(free, wanted + lasts_ms(call))
            last_dial_ms = wanted
            planned.append(call)
    return Schedule(tuple(planned), tuple(deferred), tuple(never), tuple(sorted(free)), last_dial_ms)
