"""Taking rows into an audience: read, deduplicate, store, count, and let running deployments have them."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, bindparam, case, func, insert, literal, null, select, update

from callwright.contract.audiences import MAX_ROWS
from callwright.contract.checks.phone_columns import phone_column_of
from callwright.contract.problems import AUDIENCE_FULL
from callwright.service.campaigns.spending_cap import Answerable, check_joining
from callwright.service.dialling.eligibility.reasons import why_not
from callwright.service.platform.database.inserts import insert_ignoring_conflicts
from callwright.service.platform.ids import Ids
from callwright.service.platform.json_text import json_text
from callwright.service.platform.refusals import Refusal
from callwright.service.rules.rows import BadRow, GoodRow, RowRules, column_type, read_rows
from callwright.service.tables.schema import audience_rows, audiences, deployment_contacts, deployments
from callwright.service.telephony.simulated.steering import check_steering

_A = audiences.c
_R = audience_rows.c
_K = deployment_contacts.c
_LOCKED = select(audiences).where(_A.id == bindparam("id")).with_for_update()
_STARTED = (
    select(deployments)
    .where(
        deployments.c.audience_id == bindparam("id"),
        deployments.c.status.in_(("active", "paused")),
        deployments.c.started_at.is_not(None),
    )
    .with_for_update()
)
_ALREADY_THERE = "the audience has this person already, from before or from an earlier row of the same file"
"""A file is taken in pieces: which piece or import an earlier row came with is not known."""


class Taken:
    """What became of rows: how many were added, the refused ones, how many were duplicates."""

    def __init__(self, received: int) -> None:
        self.received = received
        self.added = 0
        self.duplicates = 0
        self.bad: list[BadRow] = []

    @property
    def invalid(self) -> int:
        """Refused rows that are not duplicates."""
        return len(self.bad) - self.duplicates


def rules_of(audience: Row[Any], rows: Sequence[Mapping[str, Any]]) -> RowRules:
    """How the audience reads rows; its phone column is found by the names of the first rows when nobody named it."""
    column = audience.phone_column
    if column is None:
        column = phone_column_of(rows)
    return RowRules(
        column,
        audience.default_country,
        audience.timezone_column,
        audience.external_id_column,
        audience.dedupe,
        check_steering,
    )


def take_rows(
    connection: Connection,
    ids: Ids,
    audience_id: str,
    rows: Sequence[Mapping[str, Any]],
    *,
    source: str,
    now_ms: int,
    by: Answerable,
    numbers: Sequence[int] | None = None,
    also_bad: Sequence[BadRow] = (),
) -> Taken:
    """Adds rows to an audience, in one transaction with its counters. Costs nothing.

    `numbers` are the rows' numbers in their source, 1, 2, 3 … when left out. `also_bad` are rows of the same source
    that could not even be read; they are counted. `by` is the key that adds them; it answers for what their calls cost.

    Raises:
        Refusal: spending_cap_reached when the key may not make what calls the audience spend more.
        Refusal: audience_full when there would be more than `MAX_ROWS`; then none of them is added.
    """
    audience = connection.execute(_LOCKED, {"id": audience_id}).one()
    rules = rules_of(audience, rows)
    read = read_rows(list(zip(numbers or range(1, len(rows) + 1), rows, strict=True)), rules)
    taken = Taken(len(rows) + len(also_bad))
    taken.bad = [*also_bad, *read.bad]
    taken.duplicates = read.duplicates
    if audience.valid_count + len(read.good) > MAX_ROWS:
        details = {"limit": MAX_ROWS, "current": audience.valid_count}
        raise Refusal(AUDIENCE_FULL, f"rows: an audience has at most {MAX_ROWS:,} rows", field="rows", details=details)
    added = _store(connection, ids, audience, read.good, taken, now_ms)
    taken.bad.sort(key=lambda bad: bad.number)
    connection.execute(
        update(audiences)
        .where(_A.id == audience_id)
        .values(
            status="ready" if audience.valid_count + taken.added else audience.status,
            source=audience.source or source,
            phone_column=rules.phone_column if taken.added else audience.phone_column,
            columns=json_text(_columns(json.loads(audience.columns), added)),
            row_count=_A.row_count + taken.received,
            valid_count=_A.valid_count + taken.added,
            invalid_count=_A.invalid_count + taken.invalid,
            duplicate_count=_A.duplicate_count + taken.duplicates,
            last_imported_at=now_ms,
            updated_at=now_ms,
        )
    )
    if taken.added:
        check_joining(connection, by, audience_id)
        _join_running(connection, audience_id, audience.row_count, now_ms)
    return taken


def _store(
    connection: Connection,
    ids: Ids,
    audience: Row[Any],
    good: Sequence[tuple[int, GoodRow]],
    taken: Taken,
    now_ms: int,
) -> list[GoodRow]:
    if not good:
        return []
    rows = [
        {
            "id": ids.new("ctc"),
            "org_id": audience.org_id,
            "audience_id": audience.id,
            "position": audience.row_count + index,
            "phone": row.phone,
            "country": row.country,
            "timezone": row.timezone,
            "external_id": row.external_id,
            "dedupe_key": row.dedupe_key,
            "cells": json_text(row.values),
            "steering": json_text(row.steering),
            "created_at": now_ms,
        }
        for index, (_, row) in enumerate(good)
    ]
    stored = insert_ignoring_conflicts(connection, audience_rows, rows)
    added: list[GoodRow] = []
    for values, (number, row) in zip(rows, good, strict=True):
        if values["id"] in stored:
            added.append(row)
        else:
            taken.duplicates += 1
            taken.bad.append(BadRow(number, "duplicate_in_audience", _ALREADY_THERE))
    taken.added = len(added)
    return added


def _columns(known: list[dict[str, Any]], added: Sequence[GoodRow]) -> list[dict[str, Any]]:
    columns = {column["name"]: column for column in known}
    for row in added:
        for name, value in row.values.items():
            column = columns.setdefault(name, {"name": name, "type": None, "sample": None, "filled": 0})
            if value:
                column["filled"] += 1
                found = column_type(value)
                column["type"] = found if column["type"] in (None, found) else "string"
                column["sample"] = column["sample"] or value[:60]
    return list(columns.values())


def _join_running(connection: Connection, audience_id: str, from_position: int, now_ms: int) -> None:
    for deployment in connection.execute(_STARTED, {"id": audience_id}).all():
        states = Counter[str](json.loads(deployment.states))
        states += insert_contacts(
            connection, deployment, due_ms=deployment.clock_ms, now_ms=now_ms, since=from_position
        )
        connection.execute(
            update(deployments)
            .where(deployments.c.id == deployment.id)
            .values(states=json_text(states), contacts=sum(states.values()))
        )


def insert_contacts(
    connection: Connection, deployment: Row[Any], *, due_ms: int, now_ms: int, since: int = 0
) -> Counter[str]:
    """Makes contacts of the audience's rows from a position on, due at once; returns how many are in which state.

    Those who may not be called become suppressed contacts, with the reason: they are counted and never called.
    """
    reason = why_not(deployment, _R.phone, now_ms).label("reason")
    rows = (
        select(_R.id, _R.org_id, _R.position, _R.phone, reason)
        .where(_R.audience_id == deployment.audience_id, _R.position >= since)
        .subquery()
    )
    may = rows.c.reason.is_(None)
    chosen = select(
        literal(deployment.id),
        *(rows.c.id, rows.c.org_id, rows.c.position, rows.c.phone),
        case((may, "pending"), else_="suppressed"),
        rows.c.reason,
        literal(0),
        *[case((may, due_ms), else_=null())] * 2,
        literal("[]"),
    )
    names = ["deployment_id", "id", "org_id", "position", "phone", "status", "status_reason", "attempts"]
    names += ["due_at", "next_at", "attempt_times"]
    connection.execute(insert(deployment_contacts).from_select(names, chosen))
    made = select(_K.status, func.count()).where(_K.deployment_id == deployment.id, _K.position >= since)
    return Counter({status: count for status, count in connection.execute(made.group_by(_K.status)).all()})
