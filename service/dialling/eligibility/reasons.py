"""The reasons in the database why a person is never called: the do-not-call list and missing consent."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Row,
    Select,
    String,
    and_,
    bindparam,
    case,
    exists,
    func,
    literal,
    literal_column,
    null,
    or_,
    select,
)

from callwright.contract.deployments.dialling import CONSENT_GIVEN
from callwright.service.dialling.eligibility import consent
from callwright.service.dialling.eligibility.gate import DO_NOT_CALL, NO_CONSENT, NeverReason
from callwright.service.platform.phone import MOBILE_PREFIXES
from callwright.service.tables.schema import audience_rows, deployment_contacts, do_not_call

_R, _K, _N = audience_rows.c, deployment_contacts.c, do_not_call.c


def why_not(row: Row[Any], phone: ColumnElement[str], now_ms: int) -> ColumnElement[str | None]:
    """An expression: why a deployment may not call a number; null if it may.

    If the deployment needs consent, the statement must join `audience_rows`. `now_ms` is the time of the service.
    """
    return _why_not(phone, consent.consent_column(row), row.simulated, literal(row.org_id), literal(now_ms))


def _why_not(
    phone: ColumnElement[str],
    consent_column: str | None,
    simulated: bool,
    org_id: ColumnElement[str],
    now_ms: ColumnElement[int],
) -> ColumnElement[str | None]:
    def on_list(number: ColumnElement[str]) -> ColumnElement[bool]:
        return exists().where(
            _N.org_id == org_id,
            _N.simulated == literal(simulated),
            _N.number == number,
            or_(_N.expires_at.is_(None), _N.expires_at > now_ms),
        )

    reasons: list[tuple[ColumnElement[bool], ColumnElement[str]]] = [(on_list(phone), _word(DO_NOT_CALL))]
    reasons += [(and_(may_have, on_list(other)), _word(DO_NOT_CALL)) for may_have, other in _other_notations(phone)]
    answer = consent.answer_of(consent_column)
    if answer is not None:
        reasons.append((answer.not_in(CONSENT_GIVEN), _word(NO_CONSENT)))
    return case(*reasons, else_=null())


def _other_notations(phone: ColumnElement[str]) -> Iterator[tuple[ColumnElement[bool], ColumnElement[str]]]:
    """Other notations of a number, each with the condition under which the number has it."""
    for mobile, plain in MOBILE_PREFIXES.items():
        without = literal(plain, String).concat(func.substr(phone, len(mobile) + 1))
        with_digit = literal(mobile, String).concat(func.substr(phone, len(plain) + 1))
        yield phone.startswith(plain), case((phone.startswith(mobile), without), else_=with_digit)


def _word(word: str) -> ColumnElement[str]:
    return literal_column(f"'{word}'", String)


def of_audience(connection: Connection, row: Row[Any], now_ms: int) -> Counter[str | None]:
    """The people of the audience, counted by reason; under None those who may be called."""
    reason = why_not(row, _R.phone, now_ms).label("reason")
    return _counted(connection, select(reason).where(_R.audience_id == row.audience_id))


def of_waiting(connection: Connection, row: Row[Any], now_ms: int) -> Counter[str | None]:
    """A deployment's waiting contacts, counted in the same way."""
    return _counted(connection, _contacts(row, now_ms).where(_K.status.in_(("pending", "retry_waiting"))))


@lru_cache(maxsize=256)
def why_not_by_params(consent_column: str | None, simulated: bool) -> ColumnElement[str | None]:
    """`why_not` of contacts for a statement that runs often. Its parameters are those of `why_not_params`."""
    return _why_not(
        _K.phone, consent_column, simulated, bindparam("r_org", type_=String), bindparam("r_now", type_=BigInteger)
    )


def why_not_params(row: Row[Any], now_ms: int) -> dict[str, Any]:
    """The parameters of `why_not_by_params`."""
    return {"r_org": row.org_id, "r_now": now_ms}


@lru_cache(maxsize=256)
def _of_contacts(consent_column: str | None, simulated: bool) -> Select[*tuple[Any, ...]]:
    reason = why_not_by_params(consent_column, simulated).label("reason")
    joined = deployment_contacts.outerjoin(audience_rows, _R.id == _K.id)
    these = (_K.deployment_id == bindparam("r_deployment"), _K.id.in_(bindparam("r_ids", expanding=True)))
    return select(_K.id, reason).select_from(joined).where(*these)


def of_contacts(connection: Connection, row: Row[Any], ids: Sequence[str], now_ms: int) -> dict[str, NeverReason]:
    """Why contacts may not be called, by id. Contacts that may be called are left out."""
    these = {"r_deployment": row.id, "r_ids": list(ids), **why_not_params(row, now_ms)}
    found = connection.execute(_of_contacts(consent.consent_column(row), row.simulated), these).all()
    return {contact.id: contact.reason for contact in found if contact.reason is not None}


def _contacts(row: Row[Any], now_ms: int) -> Select[*tuple[Any, ...]]:
    joined = deployment_contacts.outerjoin(audience_rows, _R.id == _K.id)
    return select(why_not(row, _K.phone, now_ms).label("reason")).select_from(joined).where(_K.deployment_id == row.id)


def _counted(connection: Connection, reasons: Any) -> Counter[str | None]:
    each = reasons.subquery()
    counts = connection.execute(select(each.c.reason, func.count()).group_by(each.c.reason)).all()
    return Counter({reason: count for reason, count in counts})
