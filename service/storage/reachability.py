"""Whether Postgres answers, and who has to know while it does not.

Each unit of work finds it out for itself. The log says so when it begins and every ten seconds at most, and when it is
over; workers wait a moment and try again.
"""

import logging
import time
from collections.abc import Callable

from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from .unavailable import StorageUnavailable

log = logging.getLogger(__name__)
SAID_EVERY_S = 10.0
LEAST_S = 1.0
"""Between any two lines, where it comes and goes as while it is stopped and started again."""
AWAY_ERRORS = (DBAPIError, PoolTimeout, TimeoutError)
"""What is raised where the server does not answer, among other things."""
_ENDS = ("08", "57P")
"""How codes begin that say the connection is lost, or the server shuts down, has crashed or only starts. Source:
PostgreSQL, "Error Codes".
"""


class DatabaseUnreachable(StorageUnavailable):
    """Postgres does not answer. Whether the unit of work was kept is not known if it was being committed."""

    def __init__(self) -> None:
        super().__init__("the database does not answer")


class Reachability:
    """Whether Postgres answered the last time, for one process."""

    def __init__(self, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._said_at: float | None = None
        self._is_said = self._is_away = False
        self._failed = 0

    @property
    def is_away(self) -> bool:
        """Whether the last unit of work found nobody."""
        return self._is_away

    def check(self, error: Exception) -> None:
        """Looks at what a unit of work has raised. Raises `DatabaseUnreachable` in its place if that is the reason."""
        if not _is_away(error):
            return
        self._is_away = True
        self._failed += 1
        now, pause_s = self._monotonic(), SAID_EVERY_S if self._is_said else LEAST_S
        if self._said_at is None or now - self._said_at >= pause_s:
            self._said_at, self._is_said = now, True
            said = "the database does not answer or has ended connections: nothing is stored or dialled meanwhile"
            log.error("%s (%s units of work)", said, self._failed)
        raise DatabaseUnreachable from error

    def answered(self) -> None:
        """A unit of work was done."""
        self._is_away = False
        if self._is_said and self._said_at is not None and self._monotonic() - self._said_at >= LEAST_S:
            log.warning("the database answers again (%s units of work had failed)", self._failed)
            self._said_at, self._is_said, self._failed = self._monotonic(), False, 0


def _is_away(error: Exception) -> bool:
    if isinstance(error, DBAPIError):
        state = getattr(error.orig, "sqlstate", None)
        return str(state).startswith(_ENDS) or (
            state is None and (error.connection_invalidated or _is_of_driver(error))
        )
    return isinstance(error, AWAY_ERRORS)


def _is_of_driver(error: DBAPIError) -> bool:
    """Whether the driver could not connect, or lost its connection. SQLite's errors have codes of their own."""
    return isinstance(error, OperationalError) and hasattr(error.orig, "sqlstate")
