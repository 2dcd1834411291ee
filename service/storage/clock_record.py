"""What is kept of the clock between two starts, for `domain.certainty`; on Postgres of all processes together."""

import json
import logging

import anyio
from sqlalchemy import Connection, select
from sqlalchemy.dialects.postgresql import insert as pg_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

from callwright.service.domain.certainty import Seen
from callwright.service.domain.clock import MINUTE, SECOND, SystemClock

from .database import Database
from .fullness import StorageFull
from .schema import service_state

log = logging.getLogger(__name__)
LOOK_MS = 5 * SECOND
"""Between two looks at the clock."""
KEEP_MS = MINUTE
"""Between two writes of what was seen, while it is as expected."""
_NAME = "clock"
_S = service_state.c
_FIND = select(_S.value).where(_S.name == _NAME)


async def look(database: Database, clock: SystemClock) -> None:
    """One look at the clock, written down when the last one was a while ago or showed something else."""
    kept = await database.look_up(_kept)
    seen = clock.look(kept)
    if kept is None or not 0 <= seen.shown_ms - kept.shown_ms < KEEP_MS:
        await database.write(_keep, seen)


async def keep_looking(database: Database, clock: SystemClock) -> None:
    """Looks at the clock again and again until cancelled."""
    while True:
        try:
            await look(database, clock)
        except StorageFull:  # whoever watches the disk says so
            pass
        except Exception:
            log.exception("comparing the clock with what it showed before failed")
        await anyio.sleep(LOOK_MS / SECOND)


def _kept(connection: Connection) -> Seen | None:
    found = connection.execute(_FIND).scalar()
    return None if found is None else Seen(*json.loads(found))


def _keep(connection: Connection, seen: Seen) -> None:
    insert = sqlite_insert if connection.dialect.name == "sqlite" else pg_insert
    value = json.dumps([seen.sure_ms, seen.shown_ms, seen.since_ms])
    added = insert(service_state).values(name=_NAME, value=value)
    connection.execute(added.on_conflict_do_update(index_elements=[_S.name], set_={"value": added.excluded.value}))
