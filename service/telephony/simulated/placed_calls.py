"""The simulated network's own record of what was dialled, apart from the dialler's rows.

It is written before a call has any effect, in transactions of its own, so that after a crash the network still knows
which calls it made. `times` above 1 would mean that a call was really dialled twice.
"""

from collections.abc import Sequence

from sqlalchemy import Connection, bindparam, select, update

from callwright.service.platform.database.inserts import insert_ignoring_conflicts
from callwright.service.tables.schema import simulated_dials
from callwright.service.telephony.engine import CallRequest

_C = simulated_dials.c
_KNOWN = select(_C.call_id).where(_C.call_id.in_(bindparam("ids", expanding=True)))
_AGAIN = update(simulated_dials).where(_C.call_id == bindparam("b_id")).values(times=_C.times + 1)


def known(connection: Connection, call_ids: Sequence[str]) -> set[str]:
    """Those of the calls that the network has made already."""
    return set(connection.execute(_KNOWN, {"ids": list(call_ids)}).scalars())


def record(connection: Connection, dialled: Sequence[tuple[CallRequest, int]]) -> None:
    """Stores calls with their times of dialling. For a call that is stored already, increases `times`."""
    rows = [
        {
            "call_id": request.call_id,
            "deployment_id": request.deployment_id,
            "contact_id": request.contact_id,
            "attempt": request.attempt,
            "dialled_at": at_ms,
            "times": 1,
        }
        for request, at_ms in dialled
    ]
    made = insert_ignoring_conflicts(connection, simulated_dials, rows)
    again = [{"b_id": row["call_id"]} for row in rows if row["call_id"] not in made]
    if again:
        connection.execute(_AGAIN, again)
