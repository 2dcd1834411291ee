"""The list of numbers that an organization does not call. What is on it holds in every campaign, from the next call on.

Entries of the simulated network and real ones are apart: neither stands in the other's way. An entry outlives the
campaign and the audience it came from.
"""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, bindparam, delete, select, update

from callwright.service.accounts.principals import SERVICE
from callwright.service.platform.database.inserts import upsert
from callwright.service.platform.ids import Ids
from callwright.service.tables import audit_log
from callwright.service.tables.schema import do_not_call, organizations

_N, _O = do_not_call.c, organizations.c
_REMOVALS = select(_O.do_not_call_removals).where(_O.id == bindparam("org"))
_REMOVED = (
    update(organizations).where(_O.id == bindparam("b_org")).values(do_not_call_removals=_O.do_not_call_removals + 1)
)
OPTED_OUT = "opted_out"
"""The reason of an entry whose person asked, on a call, not to be called again."""


def opt_out(
    connection: Connection, ids: Ids, org_id: str, numbers: Mapping[str, str], *, simulated: bool, now_ms: int
) -> None:
    """Puts numbers on the list for good, each with the id of the call on which it was asked for.

    An entry that would have run out is kept for good from now on; one that is there for good stays as it is.
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
        for number in sorted(numbers)  # in one order, so that no two deadlock
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
    """Takes every number of the simulated network off the list, so that a campaign there can be run again exactly.

    Returns how many there were. Real entries stay. Plans from before are stale then, as more people would be called.
    """
    removed = connection.execute(delete(do_not_call).where(_N.org_id == org_id, _N.simulated.is_(True))).rowcount
    if removed:
        connection.execute(_REMOVED, {"b_org": org_id})
    return removed


def removals(connection: Connection, org_id: str) -> int:
    """How often numbers were taken off the list: who may be called has grown each time."""
    return connection.execute(_REMOVALS, {"org": org_id}).scalar_one()
