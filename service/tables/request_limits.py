"""Counts requests by key and group of endpoints, and finds those above the limit.

On SQLite one process serves the folder, so the counts are in its memory. On Postgres all processes count in one table.
The day's count is stored every few seconds and read again after a start.
"""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, delete, select, text

from callwright.service.platform.database.database import Database
from callwright.service.platform.database.inserts import upsert
from callwright.service.platform.database.prepared import Prepared
from callwright.service.platform.database.units import brief
from callwright.service.rules.request_rate import (
    AHEAD_MS,
    RateLimitState,
    capacity,
    day_of,
    nearest,
    of_day,
    of_second,
    refilled,
)
from callwright.service.tables.schema import request_days

MOST_BUCKETS = 50_000
"""The most buckets in memory; beyond that those unused for a minute are dropped."""
KEPT_DAYS = 40
_STALE_MS = 60_000
_T = request_days
_MADE = select(_T.c.requests).where(_T.c.key_id == bindparam("b_key"), _T.c.day == bindparam("b_day"))
_OLD = delete(_T).where(_T.c.day < bindparam("before"))
# A bucket with less than one token returns no row, and the day is not counted. A day at its quota returns no row.
_TAKE = Prepared(
    text(
        """
    WITH bucket AS (
        INSERT INTO request_levels AS held (key_id, name, level, at)
        SELECT :key, :name, CAST(:most AS double precision) - 1, CAST(:now AS bigint) WHERE :by_second
        ON CONFLICT (key_id, name) DO UPDATE SET at = excluded.at, level = LEAST(
            :most, CASE WHEN held.at > excluded.at + :ahead THEN :most
            ELSE held.level + GREATEST(0, excluded.at - held.at) * CAST(:rate AS double precision) / 1000 END) - 1
        WHERE 1 <= LEAST(
            :most, CASE WHEN held.at > excluded.at + :ahead THEN :most
            ELSE held.level + GREATEST(0, excluded.at - held.at) * CAST(:rate AS double precision) / 1000 END)
        RETURNING level
    ), counted AS (
        INSERT INTO request_levels AS held (key_id, name, level, at)
        SELECT :key, 'day', before.made + 1, CAST(:day AS bigint) FROM (
            SELECT COALESCE(max(requests), 0) AS made FROM request_days WHERE key_id = :key AND day = :day
        ) AS before
        WHERE :by_day AND (NOT :by_second OR EXISTS (SELECT 1 FROM bucket)) AND before.made < :quota
        ON CONFLICT (key_id, name) DO UPDATE
        SET at = excluded.at, level = CASE WHEN held.at = excluded.at THEN held.level + 1 ELSE excluded.level END
        WHERE held.at <> excluded.at OR held.level < :quota
        RETURNING level
    )
    SELECT (SELECT level FROM bucket), (SELECT level FROM counted),
        CASE WHEN :by_second AND NOT EXISTS (SELECT 1 FROM bucket) THEN (
            SELECT held.level + GREATEST(0, CAST(:now AS bigint) - held.at) * CAST(:rate AS double precision) / 1000
            FROM request_levels AS held WHERE held.key_id = :key AND held.name = :name
        ) END
    """
    )
)
_KEEP = text(
    """
    INSERT INTO request_days (key_id, day, requests)
    SELECT key_id, at, CAST(level AS bigint) FROM request_levels WHERE name = 'day'
    ON CONFLICT (key_id, day) DO UPDATE SET requests = GREATEST(request_days.requests, excluded.requests)
    WHERE request_days.requests < excluded.requests
    """
)


@dataclass(frozen=True)
class Allowance:
    """The limits of a key for one group of endpoints; None for no limit."""

    key_id: str
    group: str
    per_second: float | None
    per_day: int | None

    @property
    def is_limited(self) -> bool:
        """Whether there is anything to count."""
        return self.per_second is not None or self.per_day is not None


@dataclass
class _Day:
    day: int
    made: int
    is_kept: bool = True


class RequestLimits:
    """Counts requests; one for each process. On Postgres `take_on_postgres` counts, and this only stores the day's."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._buckets: dict[tuple[str, str], tuple[float, int]] = {}
        self._days: dict[str, _Day] = {}

    async def take(self, allowance: Allowance, now_ms: int) -> RateLimitState | None:
        """Counts one request on SQLite. The state's `refused` is set if the limit is exceeded; None if nothing is
        limited.
        """
        second = day = None
        if allowance.per_second is not None:
            second = self._from_bucket(allowance.key_id, allowance.group, allowance.per_second, now_ms)
        if allowance.per_day is not None and (second is None or second.refused is None):
            held = await self._day(allowance.key_id, day_of(now_ms))
            if held.made < allowance.per_day:
                held.made += 1
                held.is_kept = False
                day = of_day(held.made, allowance.per_day, now_ms)
            else:
                day = of_day(None, allowance.per_day, now_ms)
        return nearest(second, day)

    async def keep(self, confirmed_now_ms: int) -> None:
        """Stores the day's counts and deletes counts that are older than `KEPT_DAYS` by the confirmed time."""
        rows: list[dict[str, Any]] = [
            {"key_id": key_id, "day": held.day, "requests": held.made}
            for key_id, held in self._days.items()
            if not held.is_kept
        ]
        if self._database.is_shared:
            await self._database.write(_keep_levels, day_of(confirmed_now_ms))
        elif rows:
            await self._database.write(_keep, rows, day_of(confirmed_now_ms))
        for row in rows:
            held = self._days[row["key_id"]]
            held.is_kept = (held.day, held.made) == (row["day"], row["requests"])

    def _from_bucket(self, key_id: str, group: str, per_second: float, now_ms: int) -> RateLimitState:
        held = self._buckets.get((key_id, group))
        level = capacity(per_second) if held is None else refilled(*held, now_ms, per_second)
        if level < 1.0:
            if held is not None and held[1] > now_ms:  # used while the clock was ahead: it fills from now on
                self._buckets[key_id, group] = (level, now_ms)
            return of_second(level, per_second, now_ms, refused=True)
        if held is None and len(self._buckets) >= MOST_BUCKETS:
            self._buckets = {name: held for name, held in self._buckets.items() if now_ms - held[1] < _STALE_MS}
        self._buckets[key_id, group] = (level - 1.0, now_ms)
        return of_second(level - 1.0, per_second, now_ms)

    async def _day(self, key_id: str, day: int) -> _Day:
        held = self._days.get(key_id)
        if held is None:
            held = _Day(day, await self._database.read(_made, key_id, day))
            held = self._days.setdefault(key_id, held)
        if held.day != day:
            made = await self._database.read(_made, key_id, day)  # not 0 if the clock was set back
            if held.day != day:
                held.day, held.made, held.is_kept = day, made, True
        return held


@brief
def _made(connection: Connection, key_id: str, day: int) -> int:
    return connection.execute(_MADE, {"b_key": key_id, "b_day": day}).scalar() or 0


def take_on_postgres(connection: Connection, allowance: Allowance, now_ms: int) -> RateLimitState | None:
    """Counts one request on Postgres, by a statement that must be committed whatever happens afterwards."""
    if not allowance.is_limited:
        return None
    per_second, per_day, day = allowance.per_second, allowance.per_day, day_of(now_ms)
    asked = {
        "key": allowance.key_id,
        "name": allowance.group,
        "by_second": per_second is not None,
        "by_day": per_day is not None,
        "rate": per_second or 0.0,
        "most": capacity(per_second or 0.0),
        "ahead": AHEAD_MS,
        "quota": per_day or 0,
        "now": now_ms,
        "day": day,
    }
    level, counted, short = _TAKE.first(connection, asked)
    second = None
    if per_second is not None and level is not None:
        second = of_second(level, per_second, now_ms)
    elif per_second is not None:  # the level may have changed since the bucket was found empty
        second = of_second(min(1.0, short or 0.0), per_second, now_ms, refused=True)
    if per_day is None or (second is not None and second.refused is not None):
        return second
    return nearest(second, of_day(None if counted is None else int(counted), per_day, now_ms))


def _keep(connection: Connection, rows: list[dict[str, Any]], today: int) -> None:
    upsert(connection, _T, rows, unique=(_T.c.key_id, _T.c.day), replaces=("requests",), returning=(_T.c.key_id,))
    connection.execute(_OLD, {"before": today - KEPT_DAYS})


def _keep_levels(connection: Connection, today: int) -> None:
    connection.execute(_KEEP)
    connection.execute(_OLD, {"before": today - KEPT_DAYS})
