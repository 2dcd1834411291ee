"""The rows of compliance reviews: added once for each subject and category, found by what they concern."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    RowMapping,
    Select,
    bindparam,
    func,
    literal_column,
    select,
    update,
)

from callwright.service.platform.database.inserts import insert_ignoring_conflicts
from callwright.service.rules.review_thresholds import NEWEST_CALLS, AnsweredCall
from callwright.service.tables.schema import calls, compliance_reviews

_R, _C = compliance_reviews.c, calls.c
MOST_EXPIRED = 100
"""Reviews that one unit of work expires."""
_UNDECIDED: ColumnElement[bool] = literal_column("compliance_reviews.decided_at IS NULL")
_OPEN: ColumnElement[bool] = literal_column("compliance_reviews.status = 'open'")
_ANSWERED: ColumnElement[bool] = literal_column("calls.outcome IN ('answered', 'transferred')")
"""Literals, so that both databases use the partial indexes."""
ANSWERED_WHEN_DECIDED = "answered_when_decided"
"""The fact of a decided review that says how many answered calls its campaign had then."""
CLOCK_WHEN_DECIDED = "clock_when_decided"
"""The fact of a decided review that says what its campaign's clock showed then, in milliseconds."""
_BLOCKING = (
    select(compliance_reviews)
    .where(_R.subject_id.in_(bindparam("subjects", expanding=True)), _R.blocking.is_(True), _R.status != "approved")
    .order_by(_R.created_at, _R.id)
)
_NEWEST = (
    select(compliance_reviews)
    .where(_R.subject_id == bindparam("subject"), _R.category == bindparam("category"))
    .order_by(_R.created_at.desc(), _R.id.desc())
    .limit(1)
)
_WAITING = select(func.count()).select_from(compliance_reviews).where(_R.org_id == bindparam("org"), _UNDECIDED)
_OVERDUE = (
    select(compliance_reviews).where(_OPEN, _R.due_at <= bindparam("now")).order_by(_R.due_at).limit(MOST_EXPIRED)
)
_NEWEST_ANSWERED: Select[*tuple[Any, ...]] = (
    select(_C.ended_at, _C.duration_ms, _C.disposition)
    .where(_C.deployment_id == bindparam("deployment"), _ANSWERED)
    .order_by(_C.ended_at.desc())
    .limit(NEWEST_CALLS)
)


def add(connection: Connection, row: Mapping[str, Any]) -> bool:
    """Adds a review; false if one of its category waits for a decision on its subject already."""
    return bool(insert_ignoring_conflicts(connection, compliance_reviews, [row]))


def blocking(connection: Connection, subjects: Sequence[str]) -> Sequence[Row[Any]]:
    """The reviews of these subjects that forbid a start: blocking ones that were not approved, the oldest first."""
    return connection.execute(_BLOCKING, {"subjects": list(subjects)}).all()


def newest(connection: Connection, subject_id: str, category: str) -> Row[Any] | None:
    """The last review of a category that a subject had; None if it had none."""
    return connection.execute(_NEWEST, {"subject": subject_id, "category": category}).one_or_none()


def undecided(connection: Connection, org_id: str) -> int:
    """How many reviews of an organization wait for a decision."""
    return connection.execute(_WAITING, {"org": org_id}).scalar_one()


def change(connection: Connection, review_id: str, **values: Any) -> None:
    """Sets columns of a review."""
    connection.execute(update(compliance_reviews).where(_R.id == review_id).values(**values))


def overdue(connection: Connection, now_ms: int) -> Sequence[RowMapping]:
    """Open reviews that are past due, locked; at most `MOST_EXPIRED`, the most overdue first."""
    return connection.execute(_OVERDUE.with_for_update(skip_locked=True), {"now": now_ms}).mappings().all()


def is_overdue(connection: Connection, now_ms: int) -> bool:
    """Whether an open review is past due."""
    return connection.execute(_OVERDUE.with_only_columns(_R.id).limit(1), {"now": now_ms}).first() is not None


def approved_at(review: Row[Any] | None) -> int | None:
    """How many answered calls the campaign had when its review was approved; None unless it was."""
    if review is None or review.status != "approved":
        return None
    return json.loads(review.facts).get(ANSWERED_WHEN_DECIDED)


def clock_at_approval(review: Row[Any] | None) -> int | None:
    """What the campaign's clock showed when its review was approved; None unless it was."""
    if review is None or review.status != "approved":
        return None
    return json.loads(review.facts).get(CLOCK_WHEN_DECIDED)


def newest_answered(connection: Connection, deployment_id: str) -> list[AnsweredCall]:
    """The newest answered calls of a deployment, at most `NEWEST_CALLS`, the last one first."""
    found = connection.execute(_NEWEST_ANSWERED, {"deployment": deployment_id}).all()
    return [AnsweredCall(call.ended_at, call.duration_ms, call.disposition == "do_not_call") for call in found]
