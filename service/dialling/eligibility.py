"""Whether a person may be called at all: asked by a preview, at the start, and again in the claim of each call."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    String,
    and_,
    case,
    exists,
    func,
    literal,
    literal_column,
    null,
    or_,
    select,
)

from callwright.contract.deployments.dialling import CONSENT_GIVEN, CONSENT_WORDS
from callwright.service.platform.database.json_cells import cell
from callwright.service.platform.phone import MOBILE_PREFIXES, redacted
from callwright.service.tables.campaign_settings import settings_of
from callwright.service.tables.schema import audience_rows, deployment_contacts, do_not_call

_R, _K, _N = audience_rows.c, deployment_contacts.c, do_not_call.c
DO_NOT_CALL, NO_CONSENT, CALLING_HOURS = "do_not_call", "no_consent", "calling_hours"
"""Why a contact is suppressed: the number is on the organization's list, the consent column does not say yes, or the
calling hours leave no moment of the week."""

_MOST_KINDS = 3
_SHORT_WORD = re.compile(r"[^\W\d_]{1,10}")


def why_not(connection: Connection, row: Row[Any], phone: ColumnElement[str], now_ms: int) -> ColumnElement[str | None]:
    """Why a deployment may not call a number, as a part of a statement; null when it may.

    Where the deployment asks for consent the statement has to join `audience_rows`. `now_ms` is the service's moment.
    """

    def on_list(number: ColumnElement[str]) -> ColumnElement[bool]:
        return exists().where(
            _N.org_id == row.org_id,
            _N.simulated == literal(row.simulated),
            _N.number == number,
            or_(_N.expires_at.is_(None), _N.expires_at > now_ms),
        )

    reasons: list[tuple[ColumnElement[bool], ColumnElement[str]]] = [(on_list(phone), _word(DO_NOT_CALL))]
    reasons += [(and_(may_have, on_list(other)), _word(DO_NOT_CALL)) for may_have, other in _other_notations(phone)]
    column = consent_column(row)
    if column is not None:
        agreed = func.lower(func.coalesce(cell(connection, _R.cells, column), "")).in_(CONSENT_GIVEN)
        reasons.append((~agreed, _word(NO_CONSENT)))
    return case(*reasons, else_=null())


def _other_notations(phone: ColumnElement[str]) -> Iterator[tuple[ColumnElement[bool], ColumnElement[str]]]:
    """How else the line of a number is written, each with whether the number is one of that kind."""
    for mobile, plain in MOBILE_PREFIXES.items():
        without = literal(plain, String).concat(func.substr(phone, len(mobile) + 1))
        with_digit = literal(mobile, String).concat(func.substr(phone, len(plain) + 1))
        yield phone.startswith(plain), case((phone.startswith(mobile), without), else_=with_digit)


def _word(word: str) -> ColumnElement[str]:
    return literal_column(f"'{word}'", String)


def consent_column(row: Row[Any]) -> str | None:
    """The column of the audience that says who agreed to be called; None where nobody is asked for it."""
    return settings_of(row).compliance.consent_column


def nobody_consents(connection: Connection, row: Row[Any]) -> str | None:
    """That nobody of the audience agrees to be called, with the words that do count; None where somebody does.

    It names what the column says in place of yes only where that is a few short words, which tell nothing of anybody.
    """
    column = consent_column(row)
    if column is None:
        return None
    value = func.lower(func.coalesce(cell(connection, _R.cells, column), "")).label("value")
    own = select(value).where(_R.audience_id == row.audience_id)
    if connection.execute(own.where(value.in_(CONSENT_GIVEN)).limit(1)).first() is not None:
        return None
    kinds = list(connection.execute(own.where(value != "").distinct().order_by(value).limit(_MOST_KINDS + 1)).scalars())
    if not kinds:
        said = " is empty"
    elif len(kinds) <= _MOST_KINDS and all(_SHORT_WORD.fullmatch(kind) for kind in kinds):
        said = f" says {' or '.join(kinds)}"
    else:
        said = " says other things"
    return f"nobody's consent column says yes: {redacted(column)!r}{said}; words that count: {CONSENT_WORDS}"


def of_audience(connection: Connection, row: Row[Any], now_ms: int) -> Counter[str | None]:
    """How many of the audience's people may be called (under None), and how many not for which reason."""
    reason = why_not(connection, row, _R.phone, now_ms).label("reason")
    return _counted(connection, select(reason).where(_R.audience_id == row.audience_id))


def of_waiting(connection: Connection, row: Row[Any], now_ms: int) -> Counter[str | None]:
    """The same of a deployment's contacts that wait to be called."""
    return _counted(connection, _contacts(connection, row, now_ms).where(_K.status.in_(("pending", "retry_waiting"))))


def of_contacts(connection: Connection, row: Row[Any], ids: Sequence[str], now_ms: int) -> dict[str, str]:
    """Why contacts may not be called, by their id; those that may are left out."""
    found = connection.execute(_contacts(connection, row, now_ms).add_columns(_K.id).where(_K.id.in_(ids))).all()
    return {contact.id: contact.reason for contact in found if contact.reason is not None}


def _contacts(connection: Connection, row: Row[Any], now_ms: int) -> Any:
    reason = why_not(connection, row, _K.phone, now_ms).label("reason")
    joined = deployment_contacts.outerjoin(audience_rows, _R.id == _K.id)
    return select(reason).select_from(joined).where(_K.deployment_id == row.id)


def _counted(connection: Connection, reasons: Any) -> Counter[str | None]:
    each = reasons.subquery()
    counts = connection.execute(select(each.c.reason, func.count()).group_by(each.c.reason)).all()
    return Counter({reason: count for reason, count in counts})
