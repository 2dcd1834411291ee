"""Units of work: functions `work(connection, ...)` of synchronous SQLAlchemy Core, and how they are to run.

A unit may have a mark, from which the database knows how to run it: `brief`, `preempts`. A unit without one runs in a
thread. It must be short all the same: on SQLite it delays its neighbours.
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
    database. Where it reads, no lock keeps it waiting. On a database that processes share each statement of a reading
    is committed by itself: it sees the state of its moment, and what it counts is kept.
    """
    return Unit(work, Mark.BRIEF)


def preempts(work: Callable[Concatenate[Connection, P], T]) -> Unit[P, T]:
    """Marks a unit that stops something, and so waits for nobody who is silent.

    A transaction on Postgres that is in its way, and whose process has not said a word for a second, is ended. That
    process is told at its next statement, and nothing of what it was about to do is kept.
    """
    return Unit(work, Mark.PREEMPTS)


def mark_of(work: Callable[..., Any]) -> Mark:
    return work.mark if isinstance(work, Unit) else Mark.NONE


class Executor(ABC):
    """Runs units of work on one database. An engine overrides the last five methods where it needs them."""

    takes_writes: Callable[[Connection], bool]
    """The unit that tells, by a reading, whether the database takes writes."""

    @abstractmethod
    def running(self) -> AbstractAsyncContextManager[None]:
        """What has to run meanwhile. Units that were accepted finish at the end."""

    @abstractmethod
    async def read(self, work: Callable[[Connection], T], mark: Mark) -> T:
        """Runs a unit that changes nothing."""

    @abstractmethod
    async def write(self, work: Callable[[Connection], T], mark: Mark) -> T:
        """Runs a unit and returns once it is committed."""

    def generation(self) -> int | None:
        """A number that differs once anybody has committed anything; None where that cannot be told cheaply."""
        return None

    async def keep_log(self) -> None:  # noqa: B027
        """Keeps what stands in a log beside the database that was removed."""

    async def end_silent(self) -> None:  # noqa: B027
        """Ends what holds locks and has been silent for longer than it may."""

    def limited(self) -> AbstractContextManager[None]:
        """The units of work that are begun in the block end within a limit for all of them, where there is one."""
        return nullcontext()

    def shorten(self, limit_s: float) -> None:  # noqa: B027
        """From now on no unit may take longer than this, those under way included, where there is such a limit."""
