"""The reasons in the database why a person is never called: the do-not-call list and missing consent."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Row,
    Select,
    String,
    bindparam,
    case,
    func,
    literal,
    literal_column,
    null,
    or_,
    select,
)

from callwright.service.dialling.eligibility import do_not_call
from callwright.service.dialling.eligibility.consent import ConsentColumns, consent_columns
from callwright.service.dialling.eligibility.gate import DO_NOT_CALL, NO_CONSENT, NeverReason
from callwright.service.tables.schema import audience_rows, deployment_contacts

_R, _K = audience_rows.c, deployment_contacts.c


def why_not(connection: Connection, row: Row[Any], phone: ColumnElement[str], now_ms: int) -> ColumnElement[str | None]:
    """An expression: why a deployment may not call a number; null if it may.

    The statement must join `audience_rows`. `now_ms` is the time of the service.
    """
    return _why_not(phone, consent_columns(connection, row), row.simulated, literal(row.org_id), literal(now_ms))


def _why_not(
    phone: ColumnElement[str],
    asked: ConsentColumns,
    simulated: bool,
    org_id: ColumnElement[str],
    now_ms: ColumnElement[int],
) -> ColumnElement[str | None]:
    listed = do_not_call.listed_conditions(phone, org_id, simulated=simulated, now_ms=now_ms)
    reasons: list[tuple[ColumnElement[bool], ColumnElement[str]]] = [(one, _word(DO_NOT_CALL)) for one in listed]
    forbids = asked.forbid()
    if forbids is not None:
        reasons.append((forbids, _word(NO_CONSENT)))
    return case(*reasons, else_=null())


def _word(word: str) -> ColumnElement[str]:
    return literal_column(f"'{word}'", String)


def of_audience(connection: Connection, row: Row[Any], now_ms: int) -> Counter[str | None]:
    """The people of the audience, counted by reason; under None those who may be called."""
    reason = why_not(connection, row, _R.phone, now_ms).label("reason")
    return _counted(connection, select(reason).where(_R.audience_id == row.audience_id))


def are_listed_in_earnest(connection: Connection, row: Row[Any], now_ms: int) -> bool:
    """Whether somebody of the audience is on the real do-not-call list."""
    listed = do_not_call.listed_conditions(_R.phone, literal(row.org_id), simulated=False, now_ms=literal(now_ms))
    found = select(_R.id).where(_R.audience_id == row.audience_id, or_(*listed)).limit(1)
    return connection.execute(found).first() is not None


def of_waiting(connection: Connection, row: Row[Any], now_ms: int) -> Counter[str | None]:
    """A deployment's waiting contacts, counted in the same way."""
    return _counted(connection, _contacts(connection, row, now_ms).where(_K.status.in_(("pending", "retry_waiting"))))


def of_suppressed(connection: Connection, row: Row[Any]) -> Counter[str]:
    """A deployment's suppressed contacts, counted by their reason."""
    reason = func.coalesce(_K.status_reason, "suppressed")
    found = select(reason, func.count()).where(_K.deployment_id == row.id, _K.status == "suppressed")
    return Counter({why: count for why, count in connection.execute(found.group_by(reason)).all()})


@lru_cache(maxsize=256)
def why_not_by_params(asked: ConsentColumns, simulated: bool) -> ColumnElement[str | None]:
    """`why_not` of contacts for a statement that runs often. Its parameters are those of `why_not_params`."""
    return _why_not(_K.phone, asked, simulated, bindparam("r_org", type_=String), bindparam("r_now", type_=BigInteger))


def why_not_params(row: Row[Any], now_ms: int) -> dict[str, Any]:
    """The parameters of `why_not_by_params`."""
    return {"r_org": row.org_id, "r_now": now_ms}


@lru_cache(maxsize=256)
def _of_contacts(asked: ConsentColumns, simulated: bool) -> Select[*tuple[Any, ...]]:
    reason = why_not_by_params(asked, simulated).label("reason")
    joined = deployment_contacts.outerjoin(audience_rows, _R.id == _K.id)
    waiting = _K.status.in_(("pending", "retry_waiting"))
    these = (_K.deployment_id == bindparam("r_deployment"), _K.id.in_(bindparam("r_ids", expanding=True)), waiting)
    return select(_K.id, reason).select_from(joined).where(*these)


def of_contacts(
    connection: Connection, row: Row[Any], ids: Sequence[str], now_ms: int
) -> dict[str, NeverReason | None]:
    """Those of the contacts that still wait, by id, each with why it may not be called; None if it may."""
    these = {"r_deployment": row.id, "r_ids": list(ids), **why_not_params(row, now_ms)}
    found = connection.execute(_of_contacts(consent_columns(connection, row), row.simulated), these).all()
    return {contact.id: contact.reason for contact in found}


def _contacts(connection: Connection, row: Row[Any], now_ms: int) -> Select[*tuple[Any, ...]]:
    joined = deployment_contacts.outerjoin(audience_rows, _R.id == _K.id)
    reason = why_not(connection, row, _K.phone, now_ms).label("reason")
    return select(reason).select_from(joined).where(_K.deployment_id == row.id)


def _counted(connection: Connection, reasons: Any) -> Counter[str | None]:
    each = reasons.subquery()
    counts = connection.execute(select(each.c.reason, func.count()).group_by(each.c.reason)).all()
    return Counter({reason: count for reason, count in counts})
