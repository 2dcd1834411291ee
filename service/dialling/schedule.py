"""When calls are dialled: lines that become free, a pace of new calls, calling hours. Pure; the caller stores it."""

import heapq
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from math import ceil

from callwright.contract.deployments.dialling import CallingHours
from callwright.service.rules.calling_hours import first_allowed

LOOK_AHEAD = 200
"""With calling hours: contacts looked at beyond those that can be called, so that many are put off at once."""


@dataclass(frozen=True)
class Slot:
    """A contact who may be called: due from `due_ms` on, allowed when all `zones` allow it."""

    contact_id: str
    due_ms: int
    zones: tuple[str, ...]


@dataclass(frozen=True)
class Planned:
    """A call with its moment."""

    contact_id: str
    dial_ms: int


@dataclass(frozen=True)
class Plan:
    """What a round dials, whom it puts off until when, and how the lines stand after it."""

    calls: tuple[Planned, ...]
    deferred: tuple[tuple[str, int], ...]
    never: tuple[str, ...]
    """Contacts whose zones and the calling hours leave no moment of the week."""
    lines: tuple[int, ...]
    last_dial_ms: int | None


def gap_ms(calls_per_second: float) -> int:
    """The least time between two dials."""
    return ceil(1_000 / calls_per_second)


def plan_round(
    slots: Sequence[Slot],
    *,
    lines: Sequence[int],
    last_dial_ms: int | None,
    calls_per_second: float,
    hours: CallingHours | None,
    lasts_ms: Callable[[str], int],
    most: int,
    end_ms: int | None,
    foreseen: Container[str],
) -> Plan:
    """Gives each contact, in their order, the first line that is free, at the pace and in the hours allowed.

    `lines` are the moments from which each line is free. `lasts_ms` says how long a contact's call occupies its line.
    At most `most` calls are planned, only of contacts `foreseen`, and none at or after `end_ms`; whoever may not be
    called at their turn is put off.
    """
    free = list(lines)
    heapq.heapify(free)
    planned: list[Planned] = []
    deferred: list[tuple[str, int]] = []
    never: list[str] = []
    for slot in slots:
        if len(planned) == most or not free:
            break
        paced = free[0] if last_dial_ms is None else max(free[0], last_dial_ms + gap_ms(calls_per_second))
        wanted = max(paced, slot.due_ms)
        if end_ms is not None and wanted >= end_ms:
            break
        allowed = first_allowed(hours, slot.zones, wanted)
        if allowed is None:
            never.append(slot.contact_id)
            continue
        if allowed > wanted:
            deferred.append((slot.contact_id, allowed))
            continue
        if slot.contact_id not in foreseen:
            break
        heapq.heapreplace(free, wanted + lasts_ms(slot.contact_id))
        last_dial_ms = wanted
        planned.append(Planned(slot.contact_id, wanted))
    return Plan(tuple(planned), tuple(deferred), tuple(never), tuple(sorted(free)), last_dial_ms)
