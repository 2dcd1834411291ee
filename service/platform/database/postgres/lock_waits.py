"""Waiting for locks without a connection: a unit of work that cannot get a lock soon is undone and tried again.

A lock lasts as long as the transaction that took it, and the process of that transaction may have been stopped.
Waiting for the lock in the database would occupy a connection, and a few such waits would occupy all of them.
"""

import random
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from typing import TypeVar

import anyio
from sqlalchemy.exc import DBAPIError

from callwright.service.platform.database.postgres.reachability import DatabaseUnreachable
from callwright.service.platform.database.sqlite.file_guard import DatabaseGone

T = TypeVar("T")

LOCK_NOT_AVAILABLE = "55P03"
"""The code with which Postgres says that it could not get a lock in time."""
PAUSE_S = 0.05
"""The first pause before another try; the following ones are longer, up to `LONGEST_PAUSE_S`."""
LONGEST_PAUSE_S = 0.4


class Locked(Exception):
    """Others held a lock for longer than this unit of work would wait; nothing of it was kept."""


def is_locked(error: BaseException) -> bool:
    """Whether a unit of work failed because it could not get a lock."""
    if isinstance(error, DBAPIError):
        return getattr(error.orig, "sqlstate", None) == LOCK_NOT_AVAILABLE
    return isinstance(error, Locked)


def unavailable_because(error: BaseException) -> str | None:
    """Why the database could not work at this time, in words; None for any other error."""
    if isinstance(error, Locked):
        return "Another process is changing the same rows"
    if isinstance(error, DatabaseGone):
        said = error.loss.value
        return f"{said[0].upper()}{said[1:]}, and somebody has to stop the service (docs/backups.md)"
    if isinstance(error, DatabaseUnreachable):
        return f"The database {error.why}"
    if isinstance(error, DBAPIError):
        if error.connection_invalidated:
            return "The database ended a transaction"
        error = error.orig or error
    if isinstance(error, sqlite3.OperationalError) and error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:
        return "Another process is writing into the database file"
    return None


class LockWaits:
    """Retries units of work. The retries of all units share a few places, so that the other places stay free."""

    def __init__(
        self, again: int, limit_ms: int, check: Callable[[], None], chance: Callable[[], float] = random.random
    ) -> None:
        """`limit_ms` bounds the wait for locks of one unit; `check` raises if another attempt makes no sense."""
        self._again = anyio.Semaphore(again)
        self._limit_s = limit_ms / 1_000
        self._check = check
        self._chance = chance

    async def run(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """The result of the unit of work, tried until it gets its locks.

        Raises:
            Locked: it did not get them within the limit.
        """
        deadline, pause_s = anyio.current_time() + self._limit_s, PAUSE_S
        last: DBAPIError | Locked | None = None
        while True:
            async with nullcontext() if last is None else self._again:
                if last is not None:
                    if anyio.current_time() >= deadline:
                        if isinstance(last, Locked):
                            raise last
                        raise Locked("could not get a lock in time") from last
                    self._check()
                try:
                    return await attempt()
                except (DBAPIError, Locked) as error:
                    if not is_locked(error):
                        raise
                    last = error
            await anyio.sleep(pause_s * (0.5 + self._chance()))
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
