"""Adding rows to an audience: they are read, deduplicated, stored and counted, and running deployments call them."""

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, bindparam, case, func, insert, literal, null, select, update

from callwright.contract.audiences import MAX_ROWS
from callwright.contract.problems import AUDIENCE_FULL
from callwright.list_files.consent_columns import consent_columns_among
from callwright.list_files.phone_columns import column_like, phone_column_of
from callwright.list_files.place_columns import timezone_column_among
from callwright.service.campaigns.declined_rows import keep_noes
from callwright.service.campaigns.spending_cap import SpendingKey, check_additions
from callwright.service.campaigns.unknown_countries import paused_for_countries
from callwright.service.dialling.eligibility.reasons import why_not
from callwright.service.platform.database.inserts import insert_ignoring_conflicts
from callwright.service.platform.ids import Ids
from callwright.service.platform.json_text import json_text
from callwright.service.platform.refusals import Refusal
from callwright.service.rules.consent_cells import noes_in
from callwright.service.rules.prices.price_list import REST
from callwright.service.rules.rows import (
    BadRow,
    GoodRow,
    ReadRows,
    RowRules,
    column_type,
    no_that_counts,
    read_rows,
)
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
"""A file is added in pieces, so it is not known which of the two it was."""


@dataclass
class Intake:
    """How many rows were received and added, how many were duplicates, and the rows that were refused."""

    received: int
    bad: list[BadRow]
    duplicates: int
    added: int = 0
    declining: frozenset[str] = frozenset()
    """The columns named for consent in which rows that were dropped say no."""

    @property
    def invalid(self) -> int:
        """Refused rows that are not duplicates."""
        return len(self.bad) - self.duplicates


def rules_of(audience: Row[Any], rows: Sequence[Mapping[str, Any]], phone_column: str | None = None) -> RowRules:
    """How the audience reads rows. A phone column that nobody named is found by the names and cells of the rows, a
    column of time zones by its name.

    `phone_column` is the column of the file from which the rows are.
    """
    columns = dict.fromkeys(name for row in rows for name in row)
    named: str | None = audience.timezone_column
    return RowRules(
        phone_column or (phone_column_of(rows) if audience.phone_column is None else audience.phone_column),
        audience.default_country,
        timezone_column_among(columns) if named is None else column_like(named, columns) or named,
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
    by: SpendingKey,
    numbers: Sequence[int] | None = None,
    also_bad: Sequence[BadRow] = (),
    phone_column: str | None = None,
    public_url: str | None = None,
) -> Intake:
    """Adds rows to an audience, in one transaction with its counters. Costs nothing.

    A campaign that has started calls the people too. It waits for a review where they live in a country without rules.

    `numbers` are the rows' numbers in their source; left out, they are 1, 2, 3 and so on. `also_bad` are rows of the
    same source that were refused before; they are counted too. `by` is the key that is charged for the rows' calls.

    Raises:
        Refusal: spending_cap_reached when the key may not make the deployments that call the audience spend more.
        Refusal: audience_full when there would be more than `MAX_ROWS`; then none of them is added.
    """
    audience = connection.execute(_LOCKED, {"id": audience_id}).one()
    rules = rules_of(audience, rows, phone_column)
    read = read_rows(list(zip(numbers or range(1, len(rows) + 1), rows, strict=True)), rules)
    intake = Intake(len(rows) + len(also_bad), [*also_bad, *read.bad], read.duplicates)
    if audience.valid_count + len(read.good) > MAX_ROWS:
        details = {"limit": MAX_ROWS, "current": audience.valid_count}
        raise Refusal(AUDIENCE_FULL, f"rows: an audience has at most {MAX_ROWS:,} rows", field="rows", details=details)
    added = _store(connection, ids, audience, read, intake, now_ms)
    intake.bad.sort(key=lambda bad: bad.row_number)
    connection.execute(
        update(audiences)
        .where(_A.id == audience_id)
        .values(
            status="ready" if audience.valid_count + intake.added else audience.status,
            source=audience.source or source,
            phone_column=rules.phone_column
            if intake.added and audience.phone_column is None
            else audience.phone_column,
            timezone_column=audience.timezone_column or (rules.timezone_column if intake.added else None),
            columns=json_text(_columns(json.loads(audience.columns), added, intake.declining)),
            countries=_countries(audience.countries, added),
            row_count=_A.row_count + intake.received,
            valid_count=_A.valid_count + intake.added,
            invalid_count=_A.invalid_count + intake.invalid,
            duplicate_count=_A.duplicate_count + intake.duplicates,
            last_imported_at=now_ms,
            updated_at=now_ms,
        )
    )
    if intake.added:
        check_additions(connection, by, audience_id)
        _join_running(connection, ids, audience_id, audience.row_count, now_ms, public_url)
    return intake


def _store(
    connection: Connection,
    ids: Ids,
    audience: Row[Any],
    read: ReadRows,
    intake: Intake,
    now_ms: int,
) -> list[GoodRow]:
    """Stores the rows that the audience does not have yet, and returns those; the others become duplicates.

    Of duplicates their noes are kept.
    """
    good = read.good
    if not good:
        return []
    rows = [
        {
            "id": ids.new("ctc"),
            "org_id": audience.org_id,
            "audience_id": audience.id,
            "position": audience.row_count + index,
            **vars(row),
            "cells": json_text(row.cells),
            "steering": json_text(row.steering),
            "created_at": now_ms,
        }
        for index, (_, row) in enumerate(good)
    ]
    stored = insert_ignoring_conflicts(connection, audience_rows, rows)
    added = [row for values, (_, row) in zip(rows, good, strict=True) if values["id"] in stored]
    there = [one for values, one in zip(rows, good, strict=True) if values["id"] not in stored]
    dropped = [*read.dropped, *(row for _, row in there)]
    called = keep_noes(connection, audience, added=added, dropped=dropped)
    noes = sorted({name for row in dropped for name in noes_in(row.cells)})
    intake.declining = frozenset(consent_columns_among(tuple(noes)))
    for number, row in there:
        said = _ALREADY_THERE + no_that_counts(row, called.get(row.dedupe_key or "", {}))
        intake.bad.append(BadRow(number, "duplicate_in_audience", said, external_id=row.external_id))
    intake.duplicates += len(there)
    intake.added = len(added)
    return added


def _columns(known: list[dict[str, Any]], added: Sequence[GoodRow], declining: Collection[str]) -> list[dict[str, Any]]:
    columns = {column["name"]: column for column in known}

    def column_of(name: str) -> dict[str, Any]:
        return columns.setdefault(name, {"name": name, "type": None, "sample": None, "filled": 0})

    for name in sorted(declining):
        column_of(name)
    for row in added:
        for name, value in row.cells.items():
            column = column_of(name)
            if value:
                column["filled"] += 1
                found = column_type(value)
                column["type"] = found if column["type"] in (None, found) else "string"
                column["sample"] = column["sample"] or value[:60]
    return list(columns.values())


def _countries(known: str, added: Sequence[GoodRow]) -> str:
    """How many people the audience has in each country, with those who were added."""
    return json_text(Counter(json.loads(known)) + Counter(row.country or REST for row in added))


def _join_running(
    connection: Connection, ids: Ids, audience_id: str, from_position: int, now_ms: int, public_url: str | None
) -> None:
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
        paused_for_countries(connection, ids, deployment, now_ms=now_ms, public_url=public_url)


def insert_contacts(
    connection: Connection, deployment: Row[Any], *, due_ms: int, now_ms: int, since: int = 0
) -> Counter[str]:
    """Makes contacts of the audience's rows from position `since` on, due at `due_ms`; returns the counts by state.

    People who may not be called become suppressed contacts with the reason, so that they are counted too.
    """
    reason = why_not(connection, deployment, _R.phone, now_ms).label("reason")
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
        *[rows.c.reason] * 2,
        case((may, null()), else_=due_ms),
        literal(0),
        *[case((may, due_ms), else_=null())] * 2,
        literal("[]"),
    )
    names = ["deployment_id", "id", "org_id", "position", "phone", "status", "status_reason"]
    names += ["decided_by", "decided_at", "attempts", "due_at", "next_at", "attempt_times"]
    connection.execute(insert(deployment_contacts).from_select(names, chosen))
    made = select(_K.status, func.count()).where(_K.deployment_id == deployment.id, _K.position >= since)
    return Counter({status: count for status, count in connection.execute(made.group_by(_K.status)).all()})
