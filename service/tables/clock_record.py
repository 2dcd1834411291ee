"""Stores what was seen of the clock, for `clock.clock_verifier` after a start. On Postgres all processes share it."""

import json

from sqlalchemy import Connection, select, update

from callwright.service.platform.clock.clock import MINUTE, SystemClock
from callwright.service.platform.clock.clock_verifier import ClockReading
from callwright.service.platform.database.database import Database
from callwright.service.platform.database.inserts import insert_ignoring_conflicts
from callwright.service.platform.database.units import brief
from callwright.service.tables.schema import service_state

LOOK_S = 5.0
"""Seconds between two looks at the clock."""
KEEP_MS = MINUTE
"""Time between two writes of what was seen, while it is as expected."""
_NAME = "clock"
_S = service_state.c
_FIND = select(_S.value).where(_S.name == _NAME)


async def look(database: Database, clock: SystemClock) -> None:
    """Looks at the clock once. Stores the result if the stored one is old or the clock has jumped."""
    kept = await database.read(_kept)
    seen = clock.look(kept)
    if kept is None or not 0 <= seen.shown_ms - kept.shown_ms < KEEP_MS:
        await database.write(_keep, seen, kept)


@brief
def _kept(connection: Connection) -> ClockReading | None:
    found = connection.execute(_FIND).scalar()
    return None if found is None else ClockReading(*json.loads(found))


def _keep(connection: Connection, seen: ClockReading, before: ClockReading | None) -> None:
    """Replaces `before` by `seen`. If another process has written since then, its value stays for the next look."""
    if before is None:
        insert_ignoring_conflicts(connection, service_state, [{"name": _NAME, "value": _written(seen)}])
    else:
        same = (_S.name == _NAME) & (_S.value == _written(before))
        connection.execute(update(service_state).where(same).values(value=_written(seen)))


def _written(seen: ClockReading) -> str:
    return json.dumps([seen.confirmed_ms, seen.shown_ms, seen.since_ms])
