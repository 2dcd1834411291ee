"""Reads the pieces of a file, in their order: a short one here, a long one in processes of its own on all cores."""

import logging
import os
import pickle
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

import anyio
from anyio import to_thread
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from callwright.service.rules.list_pieces import Piece, read_piece
from callwright.service.rules.rows import RowRules
from callwright.service.speech.synthesiser import worker_environment
from callwright.service.workers.read_pieces import PackedPiece, packed
from callwright.service.workers.row_reading import framed

log = logging.getLogger(__name__)
ALONE_BELOW = 20_000
"""Rows up to which a file is read in this process: others take half a second to start."""
MOST_PROCESSES = 4
"""Processes that read rows for one import; each takes about 60 MB."""
_AHEAD = 3
"""Pieces for each process that are under way or wait to be taken."""
_ANSWERS_WITHIN_S = 60.0
_ENDS_WITHIN_S = 5.0
_MOST_ANSWER_BYTES = 1_000_000_000

NextPiece = Callable[[], Awaitable[Piece]]
"""Gives the next piece of the file, and an empty one behind the last."""


def processes_for(rows: int) -> int:
    """How many processes read a file with so many rows; 0: it is read in this one."""
    return 0 if rows < ALONE_BELOW else min(_cores(), MOST_PROCESSES)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


async def read_with(
    processes: int,
    rules: RowRules,
    next_piece: NextPiece,
    take: Callable[[AsyncIterator[PackedPiece]], Awaitable[None]],
) -> None:
    """Runs `take` with the pieces of a file, read by the rules. Processes end with it.

    What `next_piece` raises is raised where `take` asks for the piece.
    """
    if processes == 0:
        await take(_read_here(rules, next_piece))
        return
    raised: Exception | None = None
    to_read, reads = anyio.create_memory_object_stream[_Slot](0)
    to_take, takes = anyio.create_memory_object_stream[_Slot](_AHEAD * processes)
    with to_read, reads, to_take, takes:
        async with anyio.create_task_group() as tasks:
            for _ in range(processes):
                tasks.start_soon(_work, rules, reads)
            tasks.start_soon(_hand_out, next_piece, to_read, to_take)
            try:
                await take(_in_order(takes))
            except Exception as error:  # kept until the processes have ended, so that it is raised as it is
                raised = error
            tasks.cancel_scope.cancel()
    if raised is not None:
        raise raised


async def _read_here(rules: RowRules, next_piece: NextPiece) -> AsyncIterator[PackedPiece]:
    while (piece := await next_piece()).cells:
        yield await _here(rules, piece)


async def _here(rules: RowRules, piece: Piece) -> PackedPiece:
    return await to_thread.run_sync(lambda: packed(read_piece(piece, rules)))


@dataclass(eq=False)
class _Slot:
    """The place of a piece in the order of the file. `error`: reading the file failed there."""

    piece: Piece | None = None
    error: Exception | None = None
    read: PackedPiece | None = None
    done: anyio.Event = field(default_factory=anyio.Event)


async def _hand_out(
    next_piece: NextPiece, to_read: MemoryObjectSendStream[_Slot], to_take: MemoryObjectSendStream[_Slot]
) -> None:
    with to_read, to_take:
        while True:
            try:
                piece = await next_piece()
            except Exception as error:
                await to_take.send(_Slot(error=error))
                return
            if not piece.cells:
                return
            slot = _Slot(piece)
            await to_take.send(slot)
            await to_read.send(slot)


async def _in_order(slots: MemoryObjectReceiveStream[_Slot]) -> AsyncIterator[PackedPiece]:
    async for slot in slots:
        if slot.error is not None:
            raise slot.error
        await slot.done.wait()
        assert slot.read is not None
        yield slot.read


async def _work(rules: RowRules, to_read: MemoryObjectReceiveStream[_Slot]) -> None:
    """Has a process read pieces until there are no more. If it fails, they are read here."""
    process: _RowReader | None = await _RowReader.started(rules)
    try:
        async for slot in to_read:
            assert slot.piece is not None
            slot.read = None if process is None else await process.read(slot.piece)
            if slot.read is None:
                if process is not None:
                    log.warning("a process that reads rows has ended; the rows are read without it")
                    await process.end()
                    process = None
                slot.read = await _here(rules, slot.piece)
            slot.done.set()
    finally:
        if process is not None:
            await process.end()


class _RowReader:
    def __init__(self, process: Process) -> None:
        assert process.stdin is not None  # both are pipes
        assert process.stdout is not None
        self._process, self._requests = process, process.stdin
        self._answers = BufferedByteReceiveStream(process.stdout)

    @classmethod
    async def started(cls, rules: RowRules) -> "_RowReader | None":
        """A new process with the rules; None if there can be none."""
        try:
            process = await anyio.open_process(
                [sys.executable, "-m", "callwright.service.workers.row_reading"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=worker_environment(os.environ) | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                start_new_session=True,  # Ctrl-C in the terminal is the parent's to handle
            )
        except OSError as error:
            log.warning("a process that reads rows could not be started", extra={"reason": str(error)})
            return None
        reader = cls(process)
        try:
            await reader._requests.send(framed(pickle.dumps(rules)))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            await reader.end()
            return None
        except BaseException:
            await reader.end()
            raise
        return reader

    async def read(self, piece: Piece) -> PackedPiece | None:
        """A piece, read; None if the process has failed."""
        try:
            with anyio.fail_after(_ANSWERS_WITHIN_S):
                await self._requests.send(framed(pickle.dumps(piece, pickle.HIGHEST_PROTOCOL)))
                size = int.from_bytes(await self._answers.receive_exactly(4), "little")
                if size > _MOST_ANSWER_BYTES:
                    return None
                answer = pickle.loads(await self._answers.receive_exactly(size))
        except (TimeoutError, anyio.IncompleteRead, anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            return None
        return answer if isinstance(answer, PackedPiece) else None

    async def end(self) -> None:
        """Ends the process, which holds nothing that could be lost."""
        with anyio.move_on_after(_ENDS_WITHIN_S, shield=True):
            if self._process.returncode is None:
                with suppress(ProcessLookupError):  # it ended a moment ago
                    self._process.kill()
            await self._process.aclose()
