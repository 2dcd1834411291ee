"""The numbers that an organization does not call. An entry holds in every campaign, from the next call on.

Entries of the simulated network are separate from real ones. An entry stays when the campaign and audience are deleted.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    String,
    and_,
    bindparam,
    case,
    delete,
    exists,
    func,
    literal,
    or_,
    select,
    update,
)

from callwright.service.accounts.principals import SERVICE
from callwright.service.platform.database.inserts import upsert
from callwright.service.platform.ids import Ids
from callwright.service.platform.phone import MOBILE_PREFIXES
from callwright.service.tables import audit_log
from callwright.service.tables.schema import do_not_call, organizations

_N, _O = do_not_call.c, organizations.c
_REMOVALS = select(_O.do_not_call_removals).where(_O.id == bindparam("org"))
_REMOVED = (
    update(organizations).where(_O.id == bindparam("b_org")).values(do_not_call_removals=_O.do_not_call_removals + 1)
)
OPTED_OUT = "opted_out"
"""The reason of an entry whose person asked, on a call, not to be called again."""


def listed_conditions(
    phone: ColumnElement[str], org_id: ColumnElement[str], *, simulated: bool, now_ms: ColumnElement[int]
) -> Iterator[ColumnElement[bool]]:
    """Conditions, one of which is met if the number, in one of its notations, is on the list."""

    def listed(number: ColumnElement[str]) -> ColumnElement[bool]:
        return exists().where(
            _N.org_id == org_id,
            _N.simulated == literal(simulated),
            _N.number == number,
            or_(_N.expires_at.is_(None), _N.expires_at > now_ms),
        )

    yield listed(phone)
    for may_have, other in _other_notations(phone):
        yield and_(may_have, listed(other))


def _other_notations(phone: ColumnElement[str]) -> Iterator[tuple[ColumnElement[bool], ColumnElement[str]]]:
    """Other notations of a number, each with the condition under which the number has it."""
    for mobile, plain in MOBILE_PREFIXES.items():
        without = literal(plain, String).concat(func.substr(phone, len(mobile) + 1))
        with_digit = literal(mobile, String).concat(func.substr(phone, len(plain) + 1))
        yield phone.startswith(plain), case((phone.startswith(mobile), without), else_=with_digit)


def opt_out(
    connection: Connection, ids: Ids, org_id: str, numbers: Mapping[str, str], *, simulated: bool, now_ms: int
) -> None:
    """Adds numbers to the list for good, each with the id of the call on which the person asked for it.

    An entry that would expire is made permanent; a permanent entry stays as it is.
    """
    if not numbers:
        return
    rows = [
        {
            "id": ids.new("dnc"),
            "org_id": org_id,
            "number": number,
            "simulated": simulated,
            "reason": OPTED_OUT,
            "source_call_id": numbers[number],
            "created_at": now_ms,
            "expires_at": None,
        }
        for number in sorted(numbers)  # one order, so that two cannot deadlock
    ]
    kept = upsert(
        connection,
        do_not_call,
        rows,
        unique=(_N.org_id, _N.simulated, _N.number),
        replaces=("reason", "source_call_id", "created_at", "expires_at"),
        where=_N.expires_at.is_not(None),
        returning=(_N.id, _N.source_call_id),
    )
    entries: list[dict[str, Any]] = []
    for entry in kept:
        changes = {"call_id": entry.source_call_id}
        entries.append(
            audit_log.entry_row(ids, org_id, "do_not_call.added", entry.id, by=SERVICE, at_ms=now_ms, changes=changes)
        )
    audit_log.add_entries(connection, entries)


def clear_simulated(connection: Connection, org_id: str) -> int:
    """Removes all entries of the simulated network, so that a campaign there can be repeated exactly.

    Returns how many they were. Real entries stay. Plans made before become stale, because more people may be called.
    """
    removed = connection.execute(delete(do_not_call).where(_N.org_id == org_id, _N.simulated.is_(True))).rowcount
    if removed:
        connection.execute(_REMOVED, {"b_org": org_id})
    return removed


def removals(connection: Connection, org_id: str) -> int:
    """How often entries were removed, after which more people may be called."""
    return connection.execute(_REMOVALS, {"org": org_id}).scalar_one()
