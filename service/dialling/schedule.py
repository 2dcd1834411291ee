"""When calls are dialled, by free channels, the pace of new calls and the gate. Pure functions, nothing is stored."""

import heapq
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from math import ceil, sqrt

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
    ends_ms: tuple[int, ...] = ()
    """When each call ends."""
    next_dial_ms: int | None = None
    """When a further call could be dialled, of a round that defers contacts; None if there is no channel."""

    def only(self, contact_ids: Collection[str], channel_free_at: Sequence[int]) -> "Schedule":
        """The schedule with these calls alone: the channels of the others stay as free as they were."""
        if len(contact_ids) == len(self.calls):
            return self
        free = list(channel_free_at)
        heapq.heapify(free)
        made = [pair for pair in zip(self.calls, self.ends_ms, strict=True) if pair[0].contact_id in contact_ids]
        for _, end_ms in made:
            heapq.heapreplace(free, end_ms)
        calls, ends = tuple(call for call, _ in made), tuple(end_ms for _, end_ms in made)
        return replace(self, calls=calls, ends_ms=ends, channel_free_at=tuple(sorted(free)))

    @property
    def is_empty(self) -> bool:
        """Whether the round changes nothing."""
        return not (self.calls or self.deferred or self.never)


@dataclass(frozen=True)
class DialPace:
    """How fast calls are dialled: `calls_per_second`, reached `ramp_up_ms` after `since_ms`.

    That is the start or resume until the first call after it is made, and then that call.
    """

    calls_per_second: float
    ramp_up_ms: int = 0
    since_ms: int = 0

    @property
    def first(self) -> float:
        """Calls a second at the start: one, or fewer."""
        return min(1.0, self.calls_per_second)

    def at(self, at_ms: int) -> float:
        """Calls a second at a moment. The pace grows evenly."""
        passed_ms = max(0, at_ms - self.since_ms)
        if passed_ms >= self.ramp_up_ms:
            return self.calls_per_second
        return self.first + (self.calls_per_second - self.first) * passed_ms / self.ramp_up_ms

    def gap_ms(self, at_ms: int) -> int:
        """The least time from a dial at a moment to the next one."""
        return ceil(1_000 / self.at(at_ms))

    def lasts_s(self, calls: int, *, most_per_second: float) -> float:
        """About how long it takes to begin so many calls, if there are lines for `most_per_second`."""
        most = min(self.calls_per_second, most_per_second)
        slower = max(0.0, most - self.first)
        if not (self.ramp_up_ms and slower):
            return calls / most
        growing_s = self.ramp_up_ms / 1_000 * slower / (self.calls_per_second - self.first)
        within = (self.first + most) / 2 * growing_s
        if calls >= within:
            return growing_s + (calls - within) / most
        grows = slower / growing_s
        return (sqrt(self.first**2 + 2 * grows * calls) - self.first) / grows


def schedule_round(
    candidates: Sequence[Candidate],
    *,
    channel_free_at: Sequence[int],
    last_dial_ms: int | None,
    pace: DialPace,
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
    ends: list[int] = []
    deferred: list[tuple[str, Deferred]] = []
    never: list[tuple[str, Never]] = []

    def paced() -> int:
        return free[0] if last_dial_ms is None else max(free[0], last_dial_ms + pace.gap_ms(last_dial_ms))

    for candidate in candidates:
        if len(planned) == most or not free:
            break
        wanted = first_free(max(paced(), candidate.due_ms))
        if end_ms is not None and wanted >= end_ms:
            break
        if last_dial_ms is None or last_dial_ms < pace.since_ms <= wanted:
            pace = replace(pace, since_ms=wanted)  # the pace grows from the first call, not while nobody is called
        decision = gate(candidate, wanted)
        if isinstance(decision, Never):
            never.append((candidate.contact_id, decision))
        elif isinstance(decision, Deferred):
            deferred.append((candidate.contact_id, decision))
        else:
            call = Planned(candidate.contact_id, wanted)
            ends.append(wanted + lasts_ms(call))
            heapq.heapreplace(free, ends[-1])
            last_dial_ms = wanted
            planned.append(call)
    next_dial_ms = first_free(paced()) if deferred and free else None
    channels = tuple(sorted(free))
    return Schedule(tuple(planned), tuple(deferred), tuple(never), channels, last_dial_ms, tuple(ends), next_dial_ms)
