"""Measures what the gate costs: the processor time of a simulated call with it, beside the same calls without.

A campaign of each size is prepared once, with half of its contacts called, or 20,000. Copies of it are driven for some
rounds by the rules of regions that are shipped, and in turn with a gate that everything passes. The hour is one at
which all may be called, so that both make the same calls. Everything runs in one process, on one core of Linux.
"""

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime
from math import inf
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

import anyio
from sqlalchemy import Connection, select
from tests.support.campaigns import CountedRounds, draft, make_audience, rent
from tests.support.service import open_service

from callwright.contract.deployments.dialling import RetryPolicy
from callwright.service.app import running
from callwright.service.dialling import claims, leases, schedule
from callwright.service.dialling.eligibility.campaign_hours import CampaignHours
from callwright.service.dialling.eligibility.gate import Allowed
from callwright.service.dialling.rounds import round as rounds
from callwright.service.dialling.rounds.runner import Runner
from callwright.service.platform.clock.clock import SystemClock, milliseconds
from callwright.service.platform.phone import number_facts
from callwright.service.rules.regions.region_rules import InForce
from callwright.service.rules.regions.rule_file import shipped_rules
from callwright.service.services import Services
from callwright.service.settings import ServiceSettings
from callwright.service.tables.schema import deployments
from callwright.service.workers import large_changes

SIZES = (1_000, 10_000, 100_000)
PAIRS = 5
PAIRS_OF_FEW = 25
"""Pairs for a campaign of at most 1,000, whose few calls one busy moment of the machine changes."""
FEW = 1_000
LINES = 100
"""A round claims so many calls at most."""
ROUNDS = 40
"""The most rounds of one measurement."""
BEFORE = 200
"""The most rounds that are driven before."""
MOST_RATIO = 1.2
BEGINS = SystemClock(milliseconds(datetime(2027, 3, 3, 16, tzinfo=UTC)))
"""A Wednesday, 11:00 in New York."""
_AREAS = ("212", "646", "305", "786", "404", "312")
_INTENTS = ("yes", "no", "later", "asks_first")
"""Nobody opts out: a review of many opt-outs would pause the campaign."""
_OWNER, LEASE_MS = "wrk_bench", 3_600_000


class _AnyHour:
    """The open hours of everybody when the gate is out: what is in force is the same for all, and known."""

    def __init__(self, in_force: InForce) -> None:
        self._in_force = in_force

    def in_force(self, _: int) -> InForce:
        """The rules of one place, among them whether a recording is announced."""
        return self._in_force


def _always(value: object) -> Callable[..., Any]:
    def answer(*_: object, **__: object) -> object:
        return value

    return answer


@contextmanager
def _without_gate() -> Generator[None]:
    """Until the block ends nobody is asked about: everything passes, no past calls are read, no evidence is kept."""
    any_hour = _AnyHour(shipped_rules().in_force(("US", "US-NY"), "informational", date(2027, 3, 3)))
    with (
        patch.object(schedule, "gate", _always(Allowed())),
        patch.object(claims, "gate", _always(Allowed())),
        patch.object(rounds, "calls_to", _always({})),
        patch.object(claims, "calls_to", _always({})),
        patch.object(claims, "evidence_of", _always("{}")),
        patch.object(CampaignHours, "of_person", _always(any_hour)),
    ):
        yield


def _people(count: int) -> list[dict[str, Any]]:
    return [
        {
            "phone_number": f"+1{_AREAS[index % len(_AREAS)]}{2_000_000 + index}",
            "first_name": f"Person {index}",
            "sim.intent": _INTENTS[index // len(_AREAS) % len(_INTENTS)],
        }
        for index in range(count)
    ]


def _row(connection: Connection) -> tuple[str, int]:
    row = connection.execute(select(deployments.c.id, deployments.c.attempts)).one()
    return row.id, row.attempts


async def _driven(services: Services, most_rounds: int) -> int:
    """Drives the campaign for so many rounds, or to its end; returns how many calls were made."""
    database, now_ms = services.database, services.clock.now_ms()
    deployment_id, before = await database.read(_row)
    await database.write(leases.take, [deployment_id], _OWNER, now_ms, now_ms + LEASE_MS)
    writes = CountedRounds(database=database, clock=services.clock, ids=services.ids, owner=_OWNER, lease_ms=LEASE_MS)
    await Runner(writes, time_scale=inf, ends=lambda: len(writes.rounds) >= most_rounds).drive(deployment_id)
    return (await database.read(_row))[1] - before


async def _prepared(folder: Path, contacts: int) -> None:
    async with open_service(
        _url(folder), folder, workers=False, extra_dollars=1_000_000, clock=BEGINS, checks_ledgers=False
    ) as tenant:
        number = await rent(tenant)
        await tenant.client.phone_numbers.update(id=number.id, max_calls_per_day=None)
        made = await draft(
            tenant,
            [],
            audience_id=(await make_audience(tenant, _people(contacts))).id,
            phone_number_ids=[number.id],
            max_concurrency=LINES,
            calls_per_second=100.0,
            retry_policy=RetryPolicy(max_attempts=2, interval_minutes=[60], different_time_of_day=False),
        )
        await tenant.client.deployments.start(id=made.id)
        while await large_changes.work_on_some(tenant.services):
            pass
        await _driven(tenant.services, min(contacts // 2 // LINES, BEFORE))


async def _seconds_a_call(folder: Path) -> tuple[float, int]:
    """Processor seconds of a call of the campaign in this folder, and how many calls were made."""
    settings = ServiceSettings(data=folder, database_url=_url(folder))
    async with running(settings, workers=False, clock=BEGINS) as service:
        begun_s = time.process_time()
        calls = await _driven(service.services, ROUNDS)
        return (time.process_time() - begun_s) / calls, calls


def _url(folder: Path) -> str:
    return f"sqlite:///{folder / 'bench.db'}"


def _measured(prepared: Path) -> tuple[float, int]:
    number_facts.cache_clear()  # of each measurement the people are new, as they are to a process that dials
    with tempfile.TemporaryDirectory(prefix="callwright-bench-") as name:
        for part in prepared.glob("bench.db*"):
            shutil.copy(part, Path(name) / part.name)
        return anyio.run(_seconds_a_call, Path(name))


def _compare(contacts: int, pairs: int) -> float:
    """Prints what a call of a campaign of this size costs; returns the median ratio of the pairs."""
    with tempfile.TemporaryDirectory(prefix="callwright-bench-") as name:
        anyio.run(_prepared, Path(name), contacts)
        found: list[tuple[float, float]] = []
        calls = other = 0
        _measured(Path(name))  # what is worked out once is not what a call costs
        for _ in range(pairs):
            with_gate, calls = _measured(Path(name))
            with _without_gate():
                without, other = _measured(Path(name))
            found.append((with_gate, without))
    ratio = median(a / b for a, b in found)
    ours, bare = (median(each) for each in zip(*found, strict=True))
    print(
        f"gate, {contacts:7,} contacts: {ours * 1e6:6.0f} µs a call, without {bare * 1e6:6.0f} µs, ratio {ratio:.2f} "
        f"({min(a / b for a, b in found):.2f} to {max(a / b for a, b in found):.2f})  ({calls:,} and {other:,} calls; "
        f"aim ≤ {MOST_RATIO} at each size)",
        flush=True,
    )
    return ratio


def main(pairs: int = PAIRS, sizes: Sequence[int] = SIZES) -> None:
    """Compares campaigns of each size."""
    os.environ.pop("CALLWRIGHT_RULES", None)  # the rules of regions that are shipped
    if sys.platform == "linux":
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    for contacts in sizes:
        _compare(contacts, pairs if contacts > FEW else max(pairs, PAIRS_OF_FEW))


if __name__ == "__main__":
    main(sizes=[int(size) for size in sys.argv[1:]] or SIZES)
