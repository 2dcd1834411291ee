"""Questions to a person that a tool asks and that are answered on a page: kept, answered, and the answer taken once.

A key asks (`ask`) and takes the answer by asking the same again. Only a person who is logged in answers (`answer`),
which no operation does. A question waits ten minutes; its yes counts for ten minutes more, for the same call of the
same tool by the same key, while who gave it is in the organization and may change things. Everything is deleted a day
after it was asked.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Row, and_, bindparam, case, delete, func, insert, or_, select, update

from callwright.service.accounts.memberships import VIEWER, role_of
from callwright.service.accounts.principals import UserActor
from callwright.service.accounts.records import add_audit_entry, before_and_after
from callwright.service.platform.clock.clock import DAY, MINUTE
from callwright.service.platform.ids import Ids
from callwright.service.tables.schema import api_keys, confirmations, deployments, memberships, users

WAITS_MS = 10 * MINUTE
"""How long a question waits for an answer, and how long a yes counts after it was given."""
KEPT_MS = DAY
MOST_OF_ONE = 50
"""Questions that are kept of one key; a new one takes the place of the oldest."""
MOST_SHOWN = 100
SHOWN_MS = 60 * MINUTE
"""How long an answered question stays on the page."""

_C = confirmations.c
_CREATORS = users.alias("creators")
_ANSWERED_BY = users.alias("answered_by")
_GIVERS = memberships.alias("givers")
_MAY_ANSWER = and_(_GIVERS.c.left_at.is_(None), _GIVERS.c.role != VIEWER)
_SHOWN = (
    select(
        confirmations,
        api_keys.c.label.label("key_label"),
        api_keys.c.identity.label("key_identity"),
        func.coalesce(_CREATORS.c.name, _CREATORS.c.email).label("key_maker"),
        func.coalesce(_ANSWERED_BY.c.name, _ANSWERED_BY.c.email).label("answered_by"),
        case((_MAY_ANSWER, 1), else_=0).label("answer_counts"),
        deployments.c.name.label("deployment_name"),
    )
    .outerjoin(api_keys, and_(api_keys.c.id == _C.asked_by, api_keys.c.org_id == _C.org_id))
    .outerjoin(_CREATORS, _CREATORS.c.id == api_keys.c.created_by_user_id)
    .outerjoin(_ANSWERED_BY, _ANSWERED_BY.c.id == _C.answered_by_user_id)
    .outerjoin(_GIVERS, and_(_GIVERS.c.user_id == _C.answered_by_user_id, _GIVERS.c.org_id == _C.org_id))
    .outerjoin(deployments, and_(deployments.c.id == _C.deployment_id, deployments.c.org_id == _C.org_id))
)


@dataclass(frozen=True)
class Question:
    """What a tool asks. `about` is a hash of the call, `mark` eight random digits for a new question."""

    tool: str
    about: str
    mark: str
    text: str
    deployment_id: str | None = None
    people: int | None = None
    cost_micros: int | None = None


@dataclass(frozen=True)
class Asked:
    """Where a question stands for the tool. `is_late`: the one before ended without an answer that was taken."""

    id: str
    status: Literal["waiting", "yes", "no", "used", "withdrawn"]
    mark: str
    asked_at_ms: int
    ends_at_ms: int
    is_late: bool = False


def ask(connection: Connection, ids: Ids, org_id: str, asked_by: str, question: Question, now_ms: int) -> Asked:
    """The answer to the same question, which is taken with that; or the question, kept if it is a new one.

    A yes of somebody who has left since, or may change nothing any more, ends its question: it is asked anew.
    """
    found = _latest(connection, org_id, asked_by, question)
    is_late = False
    if found is not None and found.taken_at is None and found.status != "withdrawn":
        if now_ms < found.ends_at and found.status == "yes" and not _counts(connection, found):
            connection.execute(update(confirmations).where(_C.id == found.id).values(ends_at=now_ms))
        elif now_ms < found.ends_at and (found.status == "waiting" or _taken(connection, found.id, now_ms)):
            return _asked(found, found.status)
        is_late = 0 <= now_ms - found.ends_at < SHOWN_MS
    kept = _keep(connection, ids, org_id, asked_by, question, now_ms, status="waiting")
    return Asked(kept, "waiting", question.mark, now_ms, now_ms + WAITS_MS, is_late)


def withdraw(connection: Connection, ids: Ids, org_id: str, asked_by: str, question: Question, now_ms: int) -> Asked:
    """Ends the question with this mark, because the person has agreed in the conversation.

    The status is `used` if an answer to it was taken before, and `no` if somebody has said no on the page.
    """
    found = _latest(connection, org_id, asked_by, question, mark=question.mark)
    if found is None:
        kept = _keep(connection, ids, org_id, asked_by, question, now_ms, status="withdrawn")
        return Asked(kept, "withdrawn", question.mark, now_ms, now_ms)
    if found.status == "no":
        return _asked(found, "no")
    open_ = (_C.id == found.id) & _C.taken_at.is_(None) & _C.status.in_(("waiting", "yes"))
    ended = update(confirmations).where(open_).values(status="withdrawn", taken_at=now_ms, ends_at=now_ms)
    return _asked(found, "withdrawn" if connection.execute(ended).rowcount else "used")


def answer(
    connection: Connection, ids: Ids, org_id: str, confirmation_id: str, user_id: str, now_ms: int, *, agrees: bool
) -> bool:
    """Answers a question that waits. False if it does not wait any more: it was answered, withdrawn or is too old."""
    waiting = and_(_C.org_id == org_id, _C.id == confirmation_id, _waits(now_ms))
    word = "yes" if agrees else "no"
    values = {
        "status": word,
        "answered_at": now_ms,
        "answered_by_user_id": user_id,
        "ends_at": now_ms + WAITS_MS,
    }
    if not connection.execute(update(confirmations).where(waiting).values(values)).rowcount:
        return False
    row = connection.execute(select(_C.tool, _C.asked_by).where(_C.id == confirmation_id)).one()
    changes = {
        "answer": before_and_after(None, word),
        "tool": before_and_after(None, row.tool),
        "asked_by": before_and_after(None, row.asked_by),
    }
    add_audit_entry(
        connection, ids, org_id, "confirmation.answered", confirmation_id, now_ms, changes, by=UserActor(user_id)
    )
    return True


def find(connection: Connection, org_id: str, confirmation_id: str) -> Row[Any] | None:
    """A question with the key that asked, its maker, who has answered, and whether they still may (`answer_counts`).

    None if there is none.
    """
    return connection.execute(_SHOWN.where(_C.org_id == org_id, _C.id == confirmation_id)).one_or_none()


def shown(connection: Connection, org_id: str, now_ms: int) -> Sequence[Row[Any]]:
    """The questions that wait, the oldest first, and then those that have ended in the last hour, the newest first.

    Each is as `find` gives it. At most 100.
    """
    waits = case((_waits(now_ms), 0), else_=1)
    recent = or_(_waits(now_ms), _C.asked_at > now_ms - SHOWN_MS)
    order = (waits, case((_waits(now_ms), _C.asked_at), else_=-_C.asked_at), _C.id)
    return connection.execute(_SHOWN.where(_C.org_id == org_id, recent).order_by(*order).limit(MOST_SHOWN)).all()


_WAITING = (
    select(func.count())
    .select_from(confirmations)
    .where(_C.org_id == bindparam("org"), _C.status == "waiting", _C.ends_at > bindparam("now"))
)


def count_waiting(connection: Connection, org_id: str, now_ms: int) -> int:
    """How many questions of an organization wait for an answer."""
    return connection.execute(_WAITING, {"org": org_id, "now": now_ms}).scalar_one()


def are_old(connection: Connection, now_ms: int) -> bool:
    """Whether there is something for `forget_old` to delete."""
    return connection.execute(select(_C.id).where(_C.asked_at <= now_ms - KEPT_MS).limit(1)).first() is not None


def forget_old(connection: Connection, now_ms: int) -> None:
    """Deletes the questions that were asked more than a day ago."""
    connection.execute(delete(confirmations).where(_C.asked_at <= now_ms - KEPT_MS))


def forget_all(connection: Connection, org_id: str) -> None:
    """Deletes the questions of an organization, whose sentences may begin with a person's name. They are asked anew."""
    connection.execute(delete(confirmations).where(confirmations.c.org_id == org_id))


def _waits(now_ms: int) -> ColumnElement[bool]:
    return and_(_C.status == "waiting", _C.ends_at > now_ms)


def _latest(
    connection: Connection, org_id: str, asked_by: str, question: Question, *, mark: str | None = None
) -> Row[Any] | None:
    """The newest question about the same call of the same tool by the same key."""
    same = [_C.org_id == org_id, _C.asked_by == asked_by, _C.tool == question.tool, _C.about == question.about]
    if mark is not None:
        same.append(_C.mark == mark)
    order = (_C.asked_at.desc(), case((_C.taken_at.is_(None), 0), else_=1), _C.id)
    newest = select(confirmations).where(*same).order_by(*order).limit(1)
    return connection.execute(newest).one_or_none()


def _counts(connection: Connection, row: Row[Any]) -> bool:
    """Whether who has answered is in the organization now, and may change things."""
    return role_of(connection, row.org_id, row.answered_by_user_id) not in (None, VIEWER)


def _taken(connection: Connection, confirmation_id: str, now_ms: int) -> bool:
    """Takes an answer. False if somebody else has taken it meanwhile."""
    mine = update(confirmations).where(_C.id == confirmation_id, _C.taken_at.is_(None)).values(taken_at=now_ms)
    return connection.execute(mine).rowcount == 1


def _keep(
    connection: Connection, ids: Ids, org_id: str, asked_by: str, question: Question, now_ms: int, *, status: str
) -> str:
    """Keeps a question in place of the oldest one, if the key has too many; returns its id."""
    mine = select(_C.id).where(_C.org_id == org_id, _C.asked_by == asked_by)
    surplus = connection.execute(mine.order_by(_C.asked_at.desc(), _C.id.desc()).offset(MOST_OF_ONE - 1)).scalars()
    if old := surplus.all():
        connection.execute(delete(confirmations).where(_C.id.in_(old)))
    kept = ids.new("cnf")
    row = {
        "id": kept,
        "org_id": org_id,
        "asked_by": asked_by,
        "tool": question.tool,
        "about": question.about,
        "mark": question.mark,
        "question": question.text,
        "deployment_id": question.deployment_id,
        "people": question.people,
        "cost_micros": question.cost_micros,
        "status": status,
        "asked_at": now_ms,
        "ends_at": now_ms + (WAITS_MS if status == "waiting" else 0),
        "taken_at": None if status == "waiting" else now_ms,
    }
    connection.execute(insert(confirmations), row)
    return kept


def _asked(row: Row[Any], status: Literal["waiting", "yes", "no", "used", "withdrawn"]) -> Asked:
    return Asked(row.id, status, row.mark, row.asked_at, row.ends_at)
