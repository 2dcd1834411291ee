"""The whole number of the person of a call, of a contact or of an entry of the do-not-call list.

Pages mask numbers. Whoever asks for one is written down, with what they asked about and without the number.
"""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, select

from callwright.contract.people import DELETED_NUMBER
from callwright.contract.problems import NOT_FOUND
from callwright.service.platform.ids import Ids
from callwright.service.platform.refusals import Refusal, not_found
from callwright.service.tables import audit_log
from callwright.service.tables.schema import calls, deployment_contacts, do_not_call

REVEALED = "number.revealed"
"""The action in the audit log."""
_C, _K, _N = calls.c, deployment_contacts.c, do_not_call.c
_CALL = select(_C.call_type, _C.from_number, _C.to_number).where(
    _C.id == bindparam("id"), _C.org_id == bindparam("org")
)
_CONTACT = select(_K.phone).where(
    _K.deployment_id == bindparam("deployment"), _K.id == bindparam("id"), _K.org_id == bindparam("org")
)
_ENTRY = select(_N.number).where(_N.id == bindparam("id"), _N.org_id == bindparam("org"))


@dataclass(frozen=True)
class NumberPlace:
    """Where a number stands: in a call, in an entry of the do-not-call list, or in a contact of a campaign."""

    id: str
    deployment_id: str | None = None
    """The campaign, of a contact alone."""


def number_of(connection: Connection, org_id: str, place: NumberPlace) -> str:
    """The person's number, in E.164: of a call that came in the caller's.

    Raises:
        Refusal: not_found, also where the person's data was deleted or the caller had no number.
    """
    number = _stored(connection, org_id, place)
    if number == DELETED_NUMBER:
        raise Refusal(NOT_FOUND, "The data of this person was deleted, and the number with it.")
    if not number.startswith("+"):
        raise Refusal(NOT_FOUND, "There is no telephone number here: the caller gave none, or spoke from a browser.")
    return number


def reveal(
    connection: Connection, ids: Ids, org_id: str, place: NumberPlace, *, by: audit_log.Actor, now_ms: int
) -> str:
    """The number, and an entry of the audit log that says who has asked for it. Raises `Refusal` as `number_of`."""
    number = number_of(connection, org_id, place)
    changes = {} if place.deployment_id is None else {"deployment_id": place.deployment_id}
    entry = audit_log.entry_row(ids, org_id, REVEALED, place.id, by=by, at_ms=now_ms, changes=changes)
    audit_log.add_entries(connection, [entry])
    return number


def _stored(connection: Connection, org_id: str, place: NumberPlace) -> str:
    given = {"id": place.id, "org": org_id}
    if place.deployment_id is not None:
        found: Any = connection.execute(_CONTACT, {**given, "deployment": place.deployment_id}).scalar()
    elif place.id.startswith("dnc_"):
        found = connection.execute(_ENTRY, given).scalar()
    else:
        row: Any = connection.execute(_CALL, given).one_or_none()
        found = None if row is None else row.from_number if row.call_type == "inbound" else row.to_number
    if found is None:
        raise not_found()
    return found
