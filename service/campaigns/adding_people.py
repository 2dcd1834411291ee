"""Adding rows to an audience: they are read, deduplicated, stored and counted, and running deployments call them."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, Row, bindparam, case, func, insert, literal, null, select, update

from callwright.contract.audiences import MAX_ROWS
from callwright.contract.problems import AUDIENCE_FULL
from callwright.list_files.consent_columns import consent_columns_among
from callwright.list_files.phone_columns import column_like, phone_column_of
from callwright.list_files.place_columns import timezone_column_among
from callwright.service.campaigns.declined_rows import keep_noes
from callwright.service.campaigns.dial_order import due_at
from callwright.service.campaigns.spending_cap import SpendingKey, check_additions
from callwright.service.campaigns.unknown_countries import paused_for_countries
from callwright.service.dialling.eligibility.reasons import why_not
from callwright.service.platform.database.bulk import BulkInsert
from callwright.service.platform.ids import Ids
from callwright.service.platform.json_text import json_text
from callwright.service.platform.refusals import Refusal
from callwright.service.rules.columns import columns_of, empty_column, joined
from callwright.service.rules.consent_cells import noes_in
from callwright.service.rules.contact_columns import ContactColumns
from callwright.service.rules.prices.price_list import REST
from callwright.service.rules.rows import (
    BadRow,
    GoodRow,
    ReadRows,
    RowRules,
    no_that_counts,
    read_rows,
)
from callwright.service.tables import contacts_by_name
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
_COLUMNS = (
    *("id", "position", "org_id", "audience_id", "created_at"),
    *("phone", "country", "timezone", "external_id", "dedupe_key", "cells", "steering", "name_words"),
    *("priority", "not_before", "language"),
)
"""The columns of a row that is added; at the end those of a `GoodRow`, in its order."""
_PHONE = itemgetter(_COLUMNS.index("phone"))
_POSITIONED = itemgetter(_COLUMNS.index("position"), _COLUMNS.index("name_words"))
_INSERT = BulkInsert(audience_rows, _COLUMNS, skips=True)
_STORED = select(_R.id).where(_R.audience_id == bindparam("audience"), _R.position >= bindparam("first"))
_ALL = 1 << 62
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


class RulesChanged(Exception):
    """The audience reads rows by other rules than those by which they were read."""


def rules_of(audience: Row[Any], rows: Sequence[Mapping[str, Any]]) -> RowRules:
    """How the audience reads rows. A phone column that nobody named is found by the names and cells of the rows, a
    column of time zones by its name.
    """
    columns = dict.fromkeys(name for row in rows for name in row)
    phone_column = phone_column_of(rows) if audience.phone_column is None else audience.phone_column
    return rules_of_file(audience, columns, phone_column)


def rules_of_file(audience: Row[Any], columns: Iterable[str], phone_column: str) -> RowRules:
    """How the audience reads rows with these columns, of which `phone_column` holds the numbers."""
    columns = dict.fromkeys(columns)
    named: str | None = audience.timezone_column

    def like(name: str | None) -> str | None:
        return name and (column_like(name, columns) or name)

    return RowRules(
        phone_column,
        audience.default_country,
        timezone_column_among(columns) if named is None else like(named),
        like(audience.external_id_column),
        audience.dedupe,
        check_steering,
        ContactColumns(
            like(audience.priority_column), like(audience.not_before_column), like(audience.language_column)
        ),
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
    public_url: str | None = None,
) -> Intake:
    """Reads rows and adds them to an audience, in one transaction with its counters. Costs nothing.

    Raises:
        Refusal: as `add_read` does.
    """
    audience = connection.execute(_LOCKED, {"id": audience_id}).one()
    rules = rules_of(audience, rows)
    read = read_rows(list(enumerate(rows, 1)), rules)
    return _add(connection, ids, audience, read, rules, source=source, now_ms=now_ms, by=by, public_url=public_url)


def add_read(
    connection: Connection,
    ids: Ids,
    audience_id: str,
    read: ReadRows,
    rules: RowRules,
    header: Sequence[str],
    *,
    source: str,
    now_ms: int,
    by: SpendingKey,
    public_url: str | None,
) -> Intake:
    """Adds rows of a file to an audience, which were read by `rules`, in one transaction with its counters. Costs
    nothing.

    A campaign that has started calls the people too. It waits for a review where they live in a country without rules.
    `by` is the key that is charged for the rows' calls.

    Raises:
        RulesChanged: the audience reads the file by other rules by now; none of the rows is added.
        Refusal: spending_cap_reached when the key may not make the deployments that call the audience spend more.
        Refusal: audience_full when there would be more than `MAX_ROWS`; then none of them is added.
    """
    audience = connection.execute(_LOCKED, {"id": audience_id}).one()
    wanted = rules.phone_column if audience.phone_column is None else column_like(audience.phone_column, header)
    if wanted is None or rules_of_file(audience, header, wanted) != rules:
        raise RulesChanged
    return _add(connection, ids, audience, read, rules, source=source, now_ms=now_ms, by=by, public_url=public_url)


def _add(
    connection: Connection,
    ids: Ids,
    audience: Row[Any],
    read: ReadRows,
    rules: RowRules,
    *,
    source: str,
    now_ms: int,
    by: SpendingKey,
    public_url: str | None,
) -> Intake:
    intake = Intake(len(read.good) + len(read.bad), read.bad, read.duplicates)
    if audience.valid_count + len(read.good) > MAX_ROWS:
        details = {"limit": MAX_ROWS, "current": audience.valid_count}
        raise Refusal(AUDIENCE_FULL, f"rows: an audience has at most {MAX_ROWS:,} rows", field="rows", details=details)
    is_without_noes = audience.rows_without_noes == audience.row_count and not read.holds_noes
    added = _store(connection, ids, audience, read, intake, now_ms, is_without_noes=is_without_noes)
    intake.bad.sort(key=lambda bad: bad.row_number)
    columns = read.columns if len(added) == len(read.good) else columns_of(row.cells for row in added)
    declining = map(empty_column, sorted(intake.declining))
    connection.execute(
        update(audiences)
        .where(_A.id == audience.id)
        .values(
            status="ready" if audience.valid_count + intake.added else audience.status,
            source=audience.source or source,
            phone_column=rules.phone_column
            if intake.added and audience.phone_column is None
            else audience.phone_column,
            timezone_column=audience.timezone_column or (rules.timezone_column if intake.added else None),
            columns=json_text(joined(joined(json.loads(audience.columns), declining), columns)),
            countries=_countries(audience.countries, added),
            row_count=_A.row_count + intake.received,
            valid_count=_A.valid_count + intake.added,
            invalid_count=_A.invalid_count + intake.invalid,
            duplicate_count=_A.duplicate_count + intake.duplicates,
            last_imported_at=now_ms,
            updated_at=now_ms,
            rows_without_noes=audience.row_count + intake.received if is_without_noes else audience.rows_without_noes,
        )
    )
    if intake.added:
        check_additions(connection, by, audience.id)
        _join_running(connection, ids, audience.id, audience.row_count, now_ms, public_url)
    return intake


def _store(
    connection: Connection,
    ids: Ids,
    audience: Row[Any],
    read: ReadRows,
    intake: Intake,
    now_ms: int,
    *,
    is_without_noes: bool,
) -> list[GoodRow]:
    """Stores the rows that the audience does not have yet, and returns those; the others become duplicates.

    Of duplicates their noes are kept. There are none with `is_without_noes`, in these rows or in those of the audience.
    """
    good = read.good
    if not good:
        return []
    new_ids = ids.several("ctc", len(good))
    shared = (audience.org_id, audience.id, now_ms)
    rows = [
        (row_id, position, *shared, *row)
        for position, (row_id, (_, row)) in enumerate(zip(new_ids, good, strict=True), audience.row_count)
    ]
    rows.sort(key=_PHONE)  # neighbours in two indexes, so that fewer of their pages are touched; people stay in order
    added, there = [row for _, row in good], list[tuple[int, GoodRow]]()
    if _INSERT.run_values(connection, _COLUMNS, rows) < len(rows):
        this: dict[str, Any] = {"audience": audience.id, "first": audience.row_count}
        stored = set(connection.execute(_STORED, this).scalars())
        added = [row for row_id, (_, row) in zip(new_ids, good, strict=True) if row_id in stored]
        there = [one for row_id, one in zip(new_ids, good, strict=True) if row_id not in stored]
        rows = [row for row in rows if row[0] in stored]
    contacts_by_name.add(connection, audience.id, [_POSITIONED(row) for row in rows])
    dropped = [*read.dropped, *(row for _, row in there)]
    called = {} if is_without_noes else keep_noes(connection, audience, added=added, dropped=dropped)
    noes = sorted({name for row in dropped for name in noes_in(row.cells)})
    intake.declining = frozenset(consent_columns_among(tuple(noes)))
    for number, row in there:
        said = _ALREADY_THERE + no_that_counts(row, called.get(row.dedupe_key or "", {}))
        intake.bad.append(BadRow(number, "duplicate_in_audience", said, external_id=row.external_id))
    intake.duplicates += len(there)
    intake.added = len(added)
    return added


def _countries(known: str, added: Sequence[GoodRow]) -> str:
    """How many people the audience has in each country, with those who were added."""
    return json_text(Counter(json.loads(known)) + Counter(row.country or REST for row in added))


def _join_running(
    connection: Connection, ids: Ids, audience_id: str, from_position: int, now_ms: int, public_url: str | None
) -> None:
    for deployment in connection.execute(_STARTED, {"id": audience_id}).all():
        if deployment.contact_changes != "adding":  # else they are added with the others
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
    connection: Connection, deployment: Row[Any], *, due_ms: int, now_ms: int, since: int = 0, until: int = _ALL
) -> Counter[str]:
    """Makes contacts of the audience's rows from position `since` to before `until`, due at `due_ms`; returns the
    counts by state. Whom the list says not to call before a later time is due then.

    People who may not be called become suppressed contacts with the reason, so that they are counted too.
    """
    reason = why_not(connection, deployment, _R.phone, now_ms).label("reason")
    rows = (
        select(_R.id, _R.org_id, _R.position, _R.phone, _R.priority, due_at(due_ms), reason)
        .where(_R.audience_id == deployment.audience_id, _R.position >= since, _R.position < until)
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
        *[case((may, rows.c.due_at), else_=null())] * 2,
        literal("[]"),
        rows.c.priority,
    )
    names = ["deployment_id", "id", "org_id", "position", "phone", "status", "status_reason"]
    names += ["decided_by", "decided_at", "attempts", "due_at", "next_at", "attempt_times", "priority"]
    connection.execute(insert(deployment_contacts).from_select(names, chosen))
    made = select(_K.status, func.count()).where(
        _K.deployment_id == deployment.id, _K.position >= since, _K.position < until
    )
    return Counter({status: count for status, count in connection.execute(made.group_by(_K.status)).all()})
