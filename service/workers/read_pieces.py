"""The pieces of a file that were read, as bytes: what is known of each, and where they wait until they may be taken."""

import pickle
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, aclosing
from dataclasses import dataclass
from typing import IO, NamedTuple

import anyio
from anyio import to_thread

from callwright.service.platform.uploads import Uploads
from callwright.service.rules.list_pieces import ReadPiece

_IN_MEMORY = 4_000_000
"""Bytes that wait in memory; more of them wait on the disk."""
_SIZE_BYTES = 4


class PackedPiece(NamedTuple):
    """A piece that was read. Its rows stay packed until they are stored."""

    begin: int
    end: int
    bad: int
    """How many rows cannot be read. Duplicates are not among them."""
    bad_zones: int
    """How many of those for their time zone."""
    zone_column: str | None
    content: bytes

    def unpacked(self) -> ReadPiece:
        """The rows."""
        return unpacked(self.content)


def packed(piece: ReadPiece) -> PackedPiece:
    """A piece with what is to be known of it while its rows wait."""
    bad = piece.unreadable()
    zones = [one.column for one in bad if one.code == "invalid_timezone"]
    content = pickle.dumps(piece, pickle.HIGHEST_PROTOCOL)
    return PackedPiece(piece.begin, piece.end, len(bad), len(zones), next(iter(zones), None), content)


def unpacked(content: bytes) -> ReadPiece:
    """The rows of a piece. Only what this program has packed itself is read: pickle believes its input."""
    piece = pickle.loads(content)
    assert isinstance(piece, ReadPiece)
    return piece


@dataclass
class LookedOver:
    """What is known of a file of which a part was read: its rows, and how many of that part can and cannot be read."""

    rows: int
    good: int = 0
    bad: int = 0
    bad_zones: int = 0
    zone_column: str | None = None

    def add(self, piece: PackedPiece) -> None:
        """Counts a piece."""
        self.good += piece.end - piece.begin - piece.bad
        self.bad += piece.bad
        self.bad_zones += piece.bad_zones
        self.zone_column = self.zone_column or piece.zone_column

    @property
    def share(self) -> float:
        """How much was read of what has to be, from 0 to 1, unless more is bad."""
        return 2 * self.good / max(self.rows, 1)

    @property
    def is_good(self) -> bool:
        """Whether half of all rows are known to be good."""
        return 2 * self.good >= self.rows


def waiting_file(uploads: Uploads) -> AbstractContextManager[IO[bytes]]:
    """A file for what waits: in memory, and beyond some size on the disk, where it has no name and ends with the
    process.
    """
    return tempfile.SpooledTemporaryFile(_IN_MEMORY, dir=str(uploads.made_folder()))


class WaitingPieces:
    """Pieces that wait until it is known whether the file is good, in a file that `waiting_file` made."""

    def __init__(self, file: IO[bytes], uploads: Uploads) -> None:
        self._file, self._uploads = file, uploads
        self._is_read = False

    def add(self, piece: PackedPiece) -> None:
        """Keeps a piece behind the others. Raises `StorageFull`."""
        self._uploads.check_room(len(piece.content))
        self._file.write(len(piece.content).to_bytes(_SIZE_BYTES, "little"))
        self._file.write(piece.content)

    def next(self) -> ReadPiece | None:
        """The next piece in their order; None behind the last. Nothing is added any more."""
        if not self._is_read:
            self._file.seek(0)
            self._is_read = True
        head = self._file.read(_SIZE_BYTES)
        return unpacked(self._file.read(int.from_bytes(head, "little"))) if head else None


async def waited(waiting: WaitingPieces) -> AsyncGenerator[ReadPiece]:
    """The pieces that have waited, in their order. Nothing is added any more."""
    while (piece := await to_thread.run_sync(waiting.next)) is not None:
        yield piece


async def unpacked_each(pieces: AsyncIterator[PackedPiece]) -> AsyncGenerator[ReadPiece]:
    """The rows of pieces, in their order."""
    async for packed_piece in pieces:
        yield await to_thread.run_sync(packed_piece.unpacked)


async def take_each(pieces: AsyncGenerator[ReadPiece], take: Callable[[ReadPiece], Awaitable[bool]]) -> bool:
    """Takes the pieces in their order, and unpacks the next one while the database stores one. False once `take` says
    so; then no further one is taken. What unpacking raises is raised once the pieces before are taken.
    """
    async with aclosing(pieces):
        following = _Following()
        await following.get(pieces)
        while (piece := following.piece()) is not None:
            following, raised, is_taken = _Following(), None, False
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(following.get, pieces)
                try:
                    is_taken = await take(piece)
                except Exception as error:  # kept until the task has ended, so that it is raised as it is
                    raised = error
                if not is_taken:
                    tasks.cancel_scope.cancel()
            if raised is not None:
                raise raised
            if not is_taken:
                return False
        return True


class _Following:
    """The next piece, or why there is none."""

    def __init__(self) -> None:
        self._piece: ReadPiece | None = None
        self._raised: Exception | None = None

    async def get(self, pieces: AsyncIterator[ReadPiece]) -> None:
        try:
            self._piece = await anext(pieces, None)
        except Exception as error:
            self._raised = error

    def piece(self) -> ReadPiece | None:
        """None behind the last one. Raises what unpacking it has raised."""
        if self._raised is not None:
            raise self._raised
        return self._piece
