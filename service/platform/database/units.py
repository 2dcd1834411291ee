"""Units of work: functions `work(connection, ...)` of synchronous SQLAlchemy Core, and how they are to run.

A unit may have a mark, from which the database knows how to run it: `brief`, `preempts`. A unit without one runs in a
thread. It must still be short: on SQLite it delays other units.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext
from dataclasses import dataclass
from enum import Enum
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from sqlalchemy import Connection

P = ParamSpec("P")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
ROWS_AT_ONCE = 2_500
"""Rows up to which a change is made in one unit: 30 to 80 ms in which nobody else writes on SQLite."""
PIECE_ROWS = 500
"""Rows of one piece of a larger change. Others wait for a piece and for the commit behind it."""


class Mark(Enum):
    """How a unit of work is to run."""

    NONE = "none"
    BRIEF = "brief"
    PREEMPTS = "preempts"


@dataclass(frozen=True, slots=True)
class Unit(Generic[P, T_co]):
    """A unit of work with its mark. To call it is to call the function."""

    work: Callable[Concatenate[Connection, P], T_co]
    mark: Mark

    def __call__(self, connection: Connection, *args: P.args, **kwargs: P.kwargs) -> T_co:
        return self.work(connection, *args, **kwargs)


def brief(work: Callable[Concatenate[Connection, P], T]) -> Unit[P, T]:
    """Marks a unit that touches a bounded number of rows by their keys, and takes some milliseconds at most.

    It runs on the event loop, because handing it to a thread and back takes longer; so it may wait for nothing but the
    database. One that reads waits for no lock. On Postgres each statement of one that reads is committed by itself: the
    statement sees the state at its own time, and what it counts is kept.
    """
    return Unit(work, Mark.BRIEF)


def preempts(work: Callable[Concatenate[Connection, P], T]) -> Unit[P, T]:
    """Marks a unit that stops something, and so must not wait for silent transactions.

    A transaction on Postgres that blocks it, and whose process has been silent for a second, is ended. That process
    gets an error at its next statement, and nothing of the transaction is kept.
    """
    return Unit(work, Mark.PREEMPTS)


def mark_of(work: Callable[..., Any]) -> Mark:
    return work.mark if isinstance(work, Unit) else Mark.NONE


class Executor(ABC):
    """Runs units of work on one database. An engine overrides the last five methods where it needs them."""

    takes_writes: Callable[[Connection], bool]
    """A unit that reads whether the database takes writes."""

    @abstractmethod
    def running(self) -> AbstractAsyncContextManager[None]:
        """Runs what the executor needs until the block ends. Then units that were accepted finish."""

    @abstractmethod
    async def read(self, work: Callable[[Connection], T], mark: Mark) -> T:
        """Runs a unit that changes nothing."""

    @abstractmethod
    async def write(self, work: Callable[[Connection], T], mark: Mark) -> T:
        """Runs a unit and returns once it is committed."""

    def generation(self) -> int | None:
        """A number that changes whenever anybody commits; None if it cannot be had cheaply."""
        return None

    async def keep_log(self) -> None:  # noqa: B027
        """Moves a log that was removed into the database file."""

    async def end_idle_transactions(self) -> None:  # noqa: B027
        """Ends transactions that hold locks and were silent for too long."""

    def limited(self) -> AbstractContextManager[None]:
        """Units of work that begin in the block share one time limit, if the engine has one."""
        return nullcontext()

    def shorten(self, limit_s: float) -> None:  # noqa: B027
        """Limits every unit from now on, those under way included, if the engine has such a limit."""
