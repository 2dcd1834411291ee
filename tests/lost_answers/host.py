"""A line host as a process: `python -m tests.lost_answers.host <database> <carrier> [queue | twilio <service>]`.

With `queue` it does what a work queue does: whoever leases a leg places it, also a leg that somebody may have placed.
It is there to see that people are rung twice without the fence.
"""

import sys
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import anyio
from sqlalchemy import Connection, Row, select, update

from callwright.service.platform.clock.clock import SystemClock
from callwright.service.platform.database.database import Database
from callwright.service.tables.schema import legs
from callwright.service.tables.schema.leases import LEGS
from callwright.service.telephony.legs import leg_rows
from callwright.service.telephony.legs.leg_results import PlacingTimes
from callwright.service.telephony.lines.line_host import LineHost
from callwright.service.telephony.lines.media_processes import MediaProcesses
from tests.lost_answers import twilio_lines
from tests.lost_answers.http_carrier import HttpCarrier

LINES = 8
LEASE_MS = 2_000
TIMES = PlacingTimes(place_s=1.0, list_lag_s=1.5, overhang_s=1.0)


def _fence_of_a_queue(connection: Connection, call_id: str, host: str, now_ms: int) -> bool:
    is_mine = update(legs).where(legs.c.call_id == call_id, legs.c.lease_owner == host, legs.c.state != "ended")
    return bool(connection.execute(is_mine.values(state="placing", placing_at=now_ms)).rowcount)


def _take_of_a_queue(
    connection: Connection, host: str, wanted: leg_rows.Wanted, most: int, *, now_ms: int, until_ms: int
) -> Sequence[Row[Any]]:
    waiting = select(legs).where(legs.c.state != "ended", legs.c.lease_owner.is_distinct_from(host))
    return LEGS.take(connection, waiting.order_by(legs.c.created_at).limit(most), host, now_ms, until_ms)


def _nothing_lost(*_: Any, **__: Any) -> Sequence[Row[Any]]:
    return ()


async def _run(database_url: str, carrier_url: str, service_url: str | None) -> None:
    async with Database.opened(database_url) as database, anyio.create_task_group() as tasks:
        media = MediaProcesses(1, command=twilio_lines.media_command())
        if service_url is not None:
            tasks.start_soon(media.run)
        carrier = (
            HttpCarrier(carrier_url)
            if service_url is None
            else twilio_lines.carrier_of(database, media, carrier_url, service_url)
        )
        host = LineHost(
            database,
            SystemClock(),
            f"hst_{uuid4().hex[:20]}",
            {"imitation": carrier},
            lines=LINES,
            may_place=lambda _connection, _request, _now_ms: True,
            ready={} if service_url is None else {"imitation": media.has_room},
            host_url=service_url,
            lease_ms=LEASE_MS,
            times=TIMES,
        )
        await host.run()


if __name__ == "__main__":
    if sys.argv[3:] == ["queue"]:
        leg_rows.begin_placing = _fence_of_a_queue
        leg_rows.take = _take_of_a_queue
        leg_rows.take_lost = _nothing_lost
    anyio.run(_run, sys.argv[1], sys.argv[2], sys.argv[4] if sys.argv[3:4] == ["twilio"] else None)
