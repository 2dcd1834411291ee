"""Running units of work on a file of SQLite.

Reads run in a few threads, brief ones on the event loop. Writes go through one writer (`group_commit.py`).
"""

from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import TypeVar

import anyio
from anyio import to_thread
from sqlalchemy import Connection, select

from callwright.service.platform.database.engines import READERS, file_of, make_engine
from callwright.service.platform.database.sqlite.checkpoints import Checkpoints
from callwright.service.platform.database.sqlite.disk_space import DRIVER_ERRORS, DiskSpace
from callwright.service.platform.database.sqlite.file_guard import DatabaseGone, FileGuard, FileLoss
from callwright.service.platform.database.sqlite.file_look_ups import FileLookUps
from callwright.service.platform.database.sqlite.group_commit import GroupCommit
from callwright.service.platform.database.units import Executor, Mark

T = TypeVar("T")

CLOSE_LIMIT_S = 30
"""How long closing waits for units of work under way."""


class FileExecutor(Executor):
    """Runs units of work in one process. With `checkpoints` only this process moves the log into the file."""

    def __init__(self, url: str, file_guard: FileGuard, disk_space: DiskSpace, *, checkpoints: bool) -> None:
        self._file_guard, self._disk_space = file_guard, disk_space
        writes = make_engine(url, writer=True, begins=False)
        moves = Checkpoints(file, writes, file_guard) if checkpoints and (file := file_of(url)) else None
        self._writer = GroupCommit(writes, file_guard, moves)
        self._engine = make_engine(url)
        self._look_ups = FileLookUps(url, file_guard)
        for engine in (writes, self._engine):
            file_guard.watch(engine)
        self._readers = anyio.CapacityLimiter(READERS)
        self.takes_writes = _answers

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Commits writes until the block ends."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._writer.serve)
                try:
                    yield
                finally:
                    self._writer.refuse_more()
        finally:
            await self._close()

    async def read(self, work: Callable[[Connection], T], mark: Mark) -> T:
        """Runs a unit that sees one consistent state."""
        if mark is Mark.BRIEF:
            with self._explained():
                if not self._look_ups.is_connected:
                    self._look_ups.connect()
                return self._look_ups.run(work)

        def run() -> T:
            with self._engine.connect() as connection, connection.begin():
                return work(connection)

        with self._explained():
            return await to_thread.run_sync(run, limiter=self._readers)

    async def write(self, work: Callable[[Connection], T], mark: Mark) -> T:
        """Commits a unit, and acknowledges it only if the database file is still in its place."""
        with self._explained():
            return await self._writer.run(work, is_brief=mark is Mark.BRIEF)

    def generation(self) -> int | None:
        return self._look_ups.generation()

    async def keep_log(self) -> None:
        if self._file_guard.loss is FileLoss.LOG_MOVED:
            with suppress(DatabaseGone):  # the log is moved after a group that is refused, too
                await self._writer.run(lambda _: None, is_brief=False)

    @contextmanager
    def _explained(self) -> Generator[None]:
        """Raises a more specific error in place of an engine's error, if there is one."""
        try:
            yield
        except DRIVER_ERRORS as error:
            self._file_guard.check()
            self._disk_space.check(error)
            raise

    async def _close(self) -> None:
        with anyio.move_on_after(CLOSE_LIMIT_S, shield=True):
            await self._writer.close()
            for _ in range(READERS):  # once every place is taken here, no unit runs
                await self._readers.acquire_on_behalf_of(object())
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(self._dispose)

    def _dispose(self) -> None:
        self._engine.dispose()
        self._look_ups.close()


def _answers(connection: Connection) -> bool:
    return connection.execute(select(1)).scalar_one() == 1
