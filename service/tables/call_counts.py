"""Counts calls that have ended, by what statistics filter and group by. Statistics read the counts, not the calls.

Each call counts three times: in the hour and the day of UTC in which it was made, and among all of its kind. The caller
holds the lock of the organization's wallet, so that no two transactions change a count at once.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from callwright.service.platform.clock.clock import DAY, HOUR
from callwright.service.platform.database.inserts import insert_ignoring_conflicts
from callwright.service.rules import value_counts
from callwright.service.tables.counters import REACHED
from callwright.service.tables.schema import call_counts, call_kinds, calls

EVER = 0
"""The `span_ms` of counts of all calls of a kind, whenever they were made."""
SPANS = (EVER, DAY, HOUR)
CUT_OFF = "contact_hangup"
"""The cause of a call that the person ended before the agent had said goodbye."""
_AT_ONCE = 200
_C, _N = calls.c, call_counts.c
_KIND = tuple(column.name for column in call_kinds.c if column.name != "id")
_THESE = select(
    *(_C[name] for name in _KIND), _C.created_at, _C.hangup_cause, _C.duration_ms, func.coalesce(_C.cost_micros, 0)
).where(_C.id.in_(bindparam("ids", expanding=True)), _C.ended_at.is_not(None))
_OUTCOME = _KIND.index("outcome")
_SUMS = ("calls", "hang_ups", "duration_ms", "charged", "cost_micros")
_KEY = ("org_id", "span_ms", "begins_at", "kind_id")
_OWN = [_N.span_ms.in_(SPANS), *(_N[name].in_(bindparam(name, expanding=True)) for name in _KEY if name != "span_ms")]
_KNOWN = select(*(_N[name] for name in (*_KEY, *_SUMS, "durations", "costs"))).where(*_OWN)
_CHANGE = (
    update(call_counts)
    .where(*(_N[name] == bindparam(f"b_{name}") for name in _KEY))
    .values({name: bindparam(name) for name in (*_SUMS, "durations", "costs")})
)
_DISPOSITION = update(calls).where(_C.id == bindparam("b_id")).values(disposition=bindparam("b_disposition"))
_EMPTY = delete(call_counts).where(*(_N[name] == bindparam(f"b_{name}") for name in _KEY), _N.calls == 0)
_NO_KIND = delete(call_kinds).where(call_kinds.c.id == bindparam("b_kind_id"))
Key = tuple[str, int, int, int]


@dataclass
class _Change:
    """What is to be added to counts; sums are in the order of `_SUMS`."""

    sums: list[int] = field(default_factory=lambda: [0] * len(_SUMS))
    durations: list[int] = field(default_factory=list[int])
    costs: list[int] = field(default_factory=list[int])
    gone_durations: list[int] = field(default_factory=list[int])
    gone_costs: list[int] = field(default_factory=list[int])

    def add(self, other: "_Change") -> None:
        """Adds another one."""
        self.sums = [have + more for have, more in zip(self.sums, other.sums, strict=True)]
        self.durations += other.durations
        self.costs += other.costs
        self.gone_durations += other.gone_durations
        self.gone_costs += other.gone_costs

    def taken_back(self) -> "_Change":
        """The change that takes this one back."""
        sums = [-amount for amount in self.sums]
        return _Change(sums, self.gone_durations, self.gone_costs, self.durations, self.costs)


def add(connection: Connection, call_ids: Sequence[str]) -> None:
    """Counts calls that have just ended, as they are stored now. Each may be added only once."""
    _apply(connection, _counted(connection, call_ids))


def _counted(connection: Connection, call_ids: Sequence[str]) -> dict[tuple[Any, ...], _Change]:
    """What calls count, by the values of their kind and the number of their hour."""
    alike: dict[tuple[Any, ...], _Change] = {}
    for row in connection.execute(_THESE, {"ids": list(call_ids)}):
        call: tuple[Any, ...] = tuple(row)
        kind, (made_ms, hangup_cause, duration_ms, micros) = call[: len(_KIND)], call[len(_KIND) :]
        change = alike.setdefault((*kind, made_ms // HOUR), _Change())
        sums = change.sums
        sums[0] += 1
        if kind[_OUTCOME] in REACHED:
            sums[1] += hangup_cause == CUT_OFF
            sums[2] += duration_ms
            change.durations.append(duration_ms)
        if micros > 0:
            sums[3] += 1
            sums[4] += micros
            change.costs.append(micros)
    return alike


def change_disposition(connection: Connection, call_id: str, disposition: str) -> None:
    """Gives a call that has ended another disposition, and counts it among those calls from now on."""
    before = _counted(connection, [call_id])
    connection.execute(_DISPOSITION, {"b_id": call_id, "b_disposition": disposition})
    after = _counted(connection, [call_id])
    if before.keys() != after.keys():
        _apply(connection, {kind: change.taken_back() for kind, change in before.items()} | after)


def change_cost(connection: Connection, call_id: str, before_micros: int) -> None:
    """Counts a call of which only the cost has changed, from so much to what is stored now."""
    call: tuple[Any, ...] = tuple(connection.execute(_THESE, {"ids": [call_id]}).one())
    kind, (made_ms, _, _, micros) = call[: len(_KIND)], call[len(_KIND) :]
    change = _Change(costs=[micros] if micros > 0 else [], gone_costs=[before_micros] if before_micros > 0 else [])
    change.sums = [0, 0, 0, len(change.costs) - len(change.gone_costs), micros - before_micros]
    _apply(connection, {(*kind, made_ms // HOUR): change})


def _apply(connection: Connection, alike: Mapping[tuple[Any, ...], _Change]) -> None:
    """Changes counts. `alike` has what to add, by the values of a kind and the number of an hour."""
    if not alike:
        return
    kinds: dict[int, tuple[Any, ...]] = {}
    changes: dict[Key, _Change] = {}
    for (*values, hour), change in alike.items():
        kind = int.from_bytes(hashlib.blake2b(orjson.dumps(values), digest_size=8).digest(), signed=True)
        kinds[kind] = tuple(values)
        for span in SPANS:
            key = (values[0], span, hour * HOUR // span * span if span else 0, kind)
            changes.setdefault(key, _Change()).add(change)
    known = _known(connection, changes)
    new = [kind for _, span, _, kind in changes.keys() - known if span == EVER]
    rows = [dict(zip(_KIND, kinds[kind], strict=True)) | {"id": kind} for kind in new]
    insert_ignoring_conflicts(connection, call_kinds, rows)
    added = [_row(key, change, None) for key, change in changes.items() if key not in known]
    if added:
        connection.execute(insert(call_counts), added)
    changed = [_row(key, changes[key], row, "b_") for key, row in known.items() if key in changes]
    if changed:
        connection.execute(_CHANGE, changed)
    _forget_empty(connection, [row for row in changed if row["calls"] == 0])


def _forget_empty(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Removes counts of no calls, which statistics would show as a group, and kinds that no call is of any more."""
    if not rows:
        return
    keys = [{f"b_{name}": row[f"b_{name}"] for name in _KEY} for row in rows]
    connection.execute(_EMPTY, keys)
    gone = [{"b_kind_id": key["b_kind_id"]} for key in keys if key["b_span_ms"] == EVER]
    if gone:
        connection.execute(_NO_KIND, gone)


def _known(connection: Connection, keys: Collection[Key]) -> dict[Key, Sequence[Any]]:
    """The rows that there are, without their keys, and perhaps others."""
    found: dict[Key, Sequence[Any]] = {}
    orgs, _, times, kinds = (sorted(set(values)) for values in zip(*keys, strict=True))
    for first in range(0, len(times), _AT_ONCE):
        part = {"org_id": orgs, "begins_at": times[first : first + _AT_ONCE], "kind_id": kinds}
        for row in connection.execute(_KNOWN, part):
            org_id, span, begins_at, kind, *values = tuple[Any, ...](row)
            found[org_id, span, begins_at, kind] = values
    return found


def _row(key: Key, change: _Change, known: Sequence[Any] | None, prefix: str = "") -> dict[str, Any]:
    *sums, durations, costs = known or (*[0] * len(_SUMS), "", "")
    row: dict[str, Any] = {prefix + name: value for name, value in zip(_KEY, key, strict=True)}
    row |= {name: have + more for name, have, more in zip(_SUMS, sums, change.sums, strict=True)}
    row["durations"] = value_counts.changed(durations, change.durations, change.gone_durations)
    row["costs"] = value_counts.changed(costs, change.costs, change.gone_costs)
    return row
