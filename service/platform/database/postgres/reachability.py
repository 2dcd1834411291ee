"""Whether Postgres answers, and what is logged while it does not.

Each unit of work finds out for itself. The log reports the begin of an outage, at most one line every ten seconds
while it lasts, and its end. Workers wait a moment and try again.
"""

import logging
import time
from collections.abc import Callable

from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from callwright.service.platform.database.unavailable import StorageUnavailable

log = logging.getLogger(__name__)
SAID_EVERY_S = 10.0
LEAST_S = 1.0
"""Seconds between any two lines, for a server that comes and goes while it restarts."""
AWAY_ERRORS = (DBAPIError, PoolTimeout, TimeoutError)
"""The errors that are raised if the server does not answer. They have other causes too."""
NO_ANSWER = "does not answer"
TAKES_NO_WRITES = "takes no writes"
_WHY = {
    "08": NO_ANSWER,
    "57P": NO_ANSWER,
    "57014": "took too long",
    "53300": "has no connection free",
    "28": "refuses the account",
    "3D000": "is not there",
    "25006": TAKES_NO_WRITES,
}
"""The meaning of error codes, by their first characters. Source: PostgreSQL, "Error Codes"."""


class DatabaseUnreachable(StorageUnavailable):
    """Postgres cannot be used just now. Whether the unit of work was kept is not known if it was being committed."""

    def __init__(self, why: str = NO_ANSWER) -> None:
        super().__init__(f"the database {why}")
        self.why = why


class Reachability:
    """Whether Postgres answered the last time, for one process."""

    def __init__(self, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._said_at: float | None = None
        self._is_said = False
        self.is_away = False
        """Whether the database could not be used by the last unit of work."""
        self._reads_only = False
        self._failed = 0

    def check(self, error: Exception) -> None:
        """Looks at what a unit of work has raised. Raises `DatabaseUnreachable` in its place if that is the reason."""
        why = _why(error)
        if why is None:
            return
        self._reads_only = why == TAKES_NO_WRITES
        self.is_away = True
        self._failed += 1
        now, pause_s = self._monotonic(), SAID_EVERY_S if self._is_said else LEAST_S
        if self._said_at is None or now - self._said_at >= pause_s:
            self._said_at, self._is_said = now, True
            said = "does not answer or has ended connections" if why == NO_ANSWER else why
            log.error("the database %s (%s requests and tasks failed)", said, self._failed)
        raise DatabaseUnreachable(why) from error

    def answered(self, *, wrote: bool = True) -> None:
        """Records that a unit of work succeeded. If the database took no writes, only one that `wrote` counts."""
        if self._reads_only and not wrote:
            return
        self.is_away = self._reads_only = False
        if self._is_said and self._said_at is not None and self._monotonic() - self._said_at >= LEAST_S:
            log.warning("the database answers again (%s had failed)", self._failed)
            self._said_at, self._is_said, self._failed = self._monotonic(), False, 0


def _why(error: Exception) -> str | None:
    """Why Postgres cannot be used, if an error says so."""
    if not isinstance(error, DBAPIError):
        return NO_ANSWER if isinstance(error, AWAY_ERRORS) else None
    state: str | None = getattr(error.orig, "sqlstate", None)
    if state is None:
        return NO_ANSWER if error.connection_invalidated or _is_of_driver(error) else None
    return next((why for begin, why in _WHY.items() if state.startswith(begin)), None)


def _is_of_driver(error: DBAPIError) -> bool:
    """Whether the driver could not connect, or lost its connection. SQLite's errors have codes of their own."""
    return isinstance(error, OperationalError) and hasattr(error.orig, "sqlstate")
