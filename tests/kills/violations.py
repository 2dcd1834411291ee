"""What a killed campaign must not have done, read from the rows that it left behind."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import Connection, Row, Select, select

from callwright.service.platform.clock.clock import DAY
from callwright.service.tables.ledger import check
from callwright.service.tables.schema import (
    calls,
    deployment_contacts,
    deployments,
    outbox,
    phone_numbers,
    simulated_dials,
    transactions,
    wallets,
)
from tests.kills.campaigns import zone_of_person

FINAL = ("completed", "exhausted", "suppressed")
OPENS, CLOSES, SUNDAY = 9, 20, 6
"""Where a campaign has no calling hours, nobody is called outside these hours, nor on a Sunday."""
OF_A_CALL = ("call.started", "call.completed")
OF_A_DEPLOYMENT = ("deployment.started", "deployment.audience_exhausted", "deployment.completed")
_C = calls.c
_CALLS: Select[*tuple[Any, ...]] = select(
    *(_C.id, _C.deployment_id, _C.contact_id, _C.attempt_number, _C.created_at, _C.ended_at, _C.to_number),
    *(_C.phone_number_id, _C.driver, _C.evidence, _C.cost_micros),
).order_by(_C.created_at, _C.id)
MOST_TO_ONE = ((3, DAY), (7, 7 * DAY))
"""Calls that a person may get, over all campaigns, within any stretch of this length."""


@dataclass(frozen=True)
class Figures:
    """The rows that there are, and the violations by what they violate, each in words."""

    calls: int
    contacts: int
    drivers: int
    violations: dict[str, list[str]]

    @property
    def holds(self) -> bool:
        """Whether there is no violation."""
        return not any(self.violations.values())


class _Rows:
    """All rows of the campaigns of a database."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.deployments = connection.execute(select(deployments)).all()
        contacts = deployment_contacts.c
        self.contacts = connection.execute(
            select(contacts.deployment_id, contacts.id, contacts.status, contacts.attempts)
        ).all()
        self.calls = connection.execute(_CALLS).all()
        self.dials = connection.execute(select(simulated_dials)).all()
        self.numbers = connection.execute(select(phone_numbers.c.id, phone_numbers.c.max_calls_per_day)).all()

    def by(self, column: str) -> dict[str, list[Row[Any]]]:
        """The calls by a column of theirs, each group in order of time."""
        found: defaultdict[str, list[Row[Any]]] = defaultdict(list)
        for call in self.calls:
            found[getattr(call, column)].append(call)
        return found


def judged(connection: Connection) -> Figures:
    """What the campaigns of a database did, and what of it they must not have done."""
    rows = _Rows(connection)
    found = {name: list(violations(rows)) for name, violations in _VIOLATIONS.items()}
    return Figures(len(rows.calls), len(rows.contacts), len({call.driver for call in rows.calls}), found)


def _lost(rows: _Rows) -> Iterable[str]:
    made = Counter((call.deployment_id, call.contact_id) for call in rows.calls)
    for contact in rows.contacts:
        if contact.status not in FINAL:
            yield f"contact {contact.id} is {contact.status}"
        if contact.attempts != made[contact.deployment_id, contact.id]:
            yield f"contact {contact.id} has {contact.attempts} attempts and {made[contact.deployment_id, contact.id]}"
    by_deployment = rows.by("deployment_id")
    for one in rows.deployments:
        state = (one.status, one.in_flight, one.reserved_micros, one.attempts)
        if state != ("completed", 0, 0, len(by_deployment.get(one.id, ()))):
            yield f"deployment {one.id} is {state}, {one.status_reason}"


def _twice(rows: _Rows) -> Iterable[str]:
    dialled = {dial.call_id: dial for dial in rows.dials}
    yield from (f"call {dial.call_id} was dialled {dial.times} times" for dial in rows.dials if dial.times != 1)
    yield from (f"call {call_id} has no row" for call_id in dialled.keys() - {call.id for call in rows.calls})
    attempts = Counter((call.deployment_id, call.contact_id, call.attempt_number) for call in rows.calls)
    yield from (f"attempt {attempt} has {count} calls" for attempt, count in attempts.items() if count > 1)
    for call in rows.calls:
        if call.id not in dialled or dialled[call.id].dialled_at != call.created_at:
            yield f"call {call.id} was not dialled when its row says"
        if call.ended_at is None:
            yield f"call {call.id} has not ended"


def _events(rows: _Rows) -> Iterable[str]:
    told: Counter[tuple[str, str]] = Counter()
    for name, data in rows.connection.execute(select(outbox.c.type, outbox.c.data)):
        if name.startswith(("call.", "deployment.")):
            about = json.loads(data)
            told[about.get("call_id") or about["deployment_id"], name] += 1
    wanted = {(call.id, name) for call in rows.calls for name in OF_A_CALL}
    wanted |= {(one.id, name) for one in rows.deployments for name in OF_A_DEPLOYMENT}
    yield from (f"{about} has no {name}" for about, name in wanted - told.keys())
    yield from (f"{about} has {count} {name}" for (about, name), count in told.items() if count > 1)
    yield from (f"{about} has an odd {name}" for about, name in told.keys() - wanted)


def _lines(rows: _Rows) -> Iterable[str]:
    by_deployment = rows.by("deployment_id")
    for one in rows.deployments:
        made = by_deployment.get(one.id, [])
        edges = sorted([(call.ended_at, -1) for call in made] + [(call.created_at, 1) for call in made])
        running = most = 0
        for _, step in edges:
            running += step
            most = max(most, running)
        if most > one.max_concurrency:
            yield f"deployment {one.id} had {most} calls at once on {one.max_concurrency} lines"
        least_ms = 1_000 / json.loads(one.settings)["calls_per_second"]
        for before, after in pairwise(made):
            if after.created_at - before.created_at < least_ms:
                yield f"call {after.id} began too soon after {before.id}"


def _hours(rows: _Rows) -> Iterable[str]:
    for call in rows.calls:
        local = datetime.fromtimestamp(call.created_at / 1_000, UTC).astimezone(
            ZoneInfo(zone_of_person(call.to_number))
        )
        if not OPENS <= local.hour < CLOSES or local.weekday() == SUNDAY:
            yield f"call {call.id} was made on {local:%A at %H:%M}, local time"


def _caps(rows: _Rows) -> Iterable[str]:
    for made in rows.by("to_number").values():
        for most, length_ms in MOST_TO_ONE:
            yield from _too_many(made, most, length_ms)
    by_number = rows.by("phone_number_id")
    for number in rows.numbers:
        yield from _too_many(by_number.get(number.id, []), number.max_calls_per_day, DAY)


def _too_many(made: Sequence[Row[Any]], most: int, length_ms: int) -> Iterable[str]:
    for first, beyond in zip(made, made[most:], strict=False):
        if beyond.created_at - first.created_at < length_ms:
            yield f"call {beyond.id} is one more than {most} within {length_ms // DAY} days"


def _ledger(rows: _Rows) -> Iterable[str]:
    for wallet in rows.connection.execute(select(wallets)):
        yield from check(rows.connection, wallet.org_id)
        if wallet.reserved_micros:
            yield f"{wallet.reserved_micros} micros are still held back"
    kept = transactions.c
    charged = select(kept.reference_id, kept.amount_micros).where(kept.type == "call_charge")
    charges = Counter[str]()
    for call_id, micros in rows.connection.execute(charged):
        charges[call_id] -= micros
    for call in rows.calls:
        if charges[call.id] != call.cost_micros:
            yield f"call {call.id} costs {call.cost_micros} and was charged {charges[call.id]}"


_LOCAL_TIME = "%a %Y-%m-%d %H:%M:%S %z"
"""How evidence writes what clocks showed."""


def _evidence(rows: _Rows) -> Iterable[str]:
    for call in rows.calls:
        kept = json.loads(call.evidence or "{}")
        at = kept.get("local_time")
        if at is None or datetime.strptime(at, _LOCAL_TIME) != datetime.fromtimestamp(call.created_at // 1_000, UTC):
            yield f"call {call.id} has no evidence of its moment"
        elif not kept["rules"] or kept["calls_in_24_hours"] >= MOST_TO_ONE[0][0]:
            yield f"call {call.id} has evidence that does not allow it"


_VIOLATIONS: dict[str, Callable[[_Rows], Iterable[str]]] = {
    "lost": _lost,
    "dialled twice": _twice,
    "events": _events,
    "lines": _lines,
    "hours": _hours,
    "caps": _caps,
    "ledger": _ledger,
    "evidence": _evidence,
}
