"""Calls to people whose data was deleted: kept by a keyed hash of the line, so that they go on counting for the caps.

A call is kept as long as a rule can ask.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import BigInteger, Boolean, Connection, String, bindparam, delete, select

from callwright.service.platform.database.inserts import insert_ignoring_conflicts
from callwright.service.tables.line_hashes import hashes
from callwright.service.tables.schema import forgotten_calls

_F = forgotten_calls.c
_SINCE = select(_F.line, _F.dialled_at, _F.outcome).where(
    _F.org_id == bindparam("org", type_=String),
    _F.dialled_at > bindparam("since", type_=BigInteger),
    _F.simulated == bindparam("simulated", type_=Boolean),
)
_ANY = _SINCE.limit(1)
_OF_LINES = _SINCE.where(_F.line.in_(bindparam("lines", expanding=True)))
_OLD = delete(forgotten_calls).where(_F.org_id == bindparam("org"), _F.dialled_at <= bindparam("since"))


@dataclass(frozen=True)
class ForgottenCall:
    """A call to a line, whose person was deleted since."""

    call_id: str
    dialled_ms: int
    outcome: str | None
    simulated: bool


def keep(connection: Connection, org_id: str, line: str, calls: Sequence[ForgottenCall], since_ms: int) -> None:
    """Keeps calls to a line that were dialled since a moment; older ones of the organization are dropped."""
    connection.execute(_OLD, {"org": org_id, "since": since_ms})
    recent = [call for call in calls if call.dialled_ms > since_ms]
    if not recent:
        return
    (hashed,) = hashes(connection, org_id, [line])
    rows = [
        {
            "call_id": call.call_id,
            "org_id": org_id,
            "line": hashed,
            "dialled_at": call.dialled_ms,
            "outcome": call.outcome,
            "simulated": call.simulated,
        }
        for call in recent
    ]
    insert_ignoring_conflicts(connection, forgotten_calls, rows)


def since(
    connection: Connection, org_id: str, lines: Sequence[str], *, simulated: bool, since_ms: int
) -> list[tuple[str, int, str | None]]:
    """The kept calls to these lines since a moment: line, moment and outcome."""
    given = {"org": org_id, "since": since_ms, "simulated": simulated}
    if connection.execute(_ANY, given).first() is None:
        return []
    by_hash = dict(zip(hashes(connection, org_id, lines), lines, strict=True))
    found = connection.execute(_OF_LINES, {**given, "lines": list(by_hash)})
    return [(by_hash[hashed], dialled_ms, outcome) for hashed, dialled_ms, outcome in found]
