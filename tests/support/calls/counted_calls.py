"""Counts of calls beside the calls themselves, counted here in the plainest way."""

from collections import Counter, defaultdict
from typing import Any

from sqlalchemy import Connection, delete, select

from callwright.service.platform.database.database import Database
from callwright.service.rules.value_counts import rounded
from callwright.service.tables.call_counts import add
from callwright.service.tables.schema import call_counts, call_kinds, calls

_KIND = [column.name for column in call_kinds.c if column.name != "id"]
_SPANS_MS = (0, 86_400_000, 3_600_000)


def _values(text: str) -> tuple[bool, Counter[int]]:
    """Whether the values of a text are rounded, and how often each is there."""
    found = Counter[int]()
    words = text.split()
    for word in words:
        if word != "~":
            value, _, count = word.partition("*")
            found[int(value)] += int(count or 1)
    return words[:1] == ["~"], found


def _agree(text: str, exact: list[int]) -> bool:
    is_rounded, found = _values(text)
    return found == Counter(map(rounded, exact) if is_rounded else exact)


def miscounted(connection: Connection) -> list[str]:
    """What the counts say otherwise than the calls that have ended."""
    expected: dict[tuple[Any, ...], list[Any]] = defaultdict(list[Any])
    for call in connection.execute(select(calls).where(calls.c.ended_at.is_not(None))):
        for span in _SPANS_MS:
            begins_at = call.created_at - call.created_at % span if span else 0
            expected[(*(getattr(call, name) for name in _KIND), span, begins_at)].append(call)
    counted = select(call_kinds, call_counts).join_from(
        call_counts, call_kinds, call_kinds.c.id == call_counts.c.kind_id
    )
    found: dict[tuple[Any, ...], Any] = {}
    for row in connection.execute(counted):
        found[(*(getattr(row, name) for name in _KIND), row.span_ms, row.begins_at)] = row
    problems = [f"counted, but no such call: {key}" for key in found.keys() - expected.keys() if found[key].calls]
    for key, group in expected.items():
        row: Any = found.get(key)
        if row is None:
            problems.append(f"not counted: {key}")
            continue
        durations = [call.duration_ms for call in group if call.outcome in ("answered", "transferred")]
        costs = [call.cost_micros for call in group if call.cost_micros]
        hang_ups = [
            call
            for call in group
            if call.outcome in ("answered", "transferred") and call.hangup_cause == "contact_hangup"
        ]
        sums = (len(group), len(hang_ups), sum(durations), len(costs), sum(costs))
        if sums != (row.calls, row.hang_ups, row.duration_ms, row.charged, row.cost_micros):
            problems.append(f"{key}: {sums}, not {tuple(row)}")
        if not _agree(row.durations, durations) or not _agree(row.costs, costs):
            problems.append(f"{key}: other values than {row.durations!r}, {row.costs!r}")
    return problems


def count_again(connection: Connection) -> None:
    """Counts every call anew, after a test has changed some by itself."""
    for table in (call_counts, call_kinds):
        connection.execute(delete(table))
    add(connection, connection.execute(select(calls.c.id)).scalars().all())


async def check_counts(database: Database) -> None:
    """Fails if calls are counted otherwise than they are stored."""
    found = await database.read(miscounted)
    assert not found, f"calls are miscounted: {found[:5]}"
