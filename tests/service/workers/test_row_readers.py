"""Rows that are read in processes of their own: the same rows in the same order, whatever happens to a process."""

import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest

from callwright.list_files.unreadable import UnreadableList
from callwright.service.rules.list_pieces import Piece, ReadPiece, read_piece
from callwright.service.rules.rows import RowRules
from callwright.service.telephony.simulated.steering import check_steering
from callwright.service.workers.read_pieces import PackedPiece
from callwright.service.workers.row_readers import ALONE_BELOW, processes_for, read_with
from tests.support.campaigns import phone

RULES = RowRules("phone", None, "zone", "id", "phone", check_steering)
HEADER = ("phone", "name", "zone", "id")


def pieces(count: int, rows: int = 3) -> list[Piece]:
    """Pieces with a good row, a duplicate or a bad zone, and a row that does not fit the header."""
    made: list[Piece] = []
    for index in range(count):
        number = phone(index)
        cells = [[number, "Ada", "EST", "7"], [number, "Bea", "Mars" if index % 2 else "", "8"], ["x"]]
        made.append(Piece(rows * index, HEADER, [rows * index + place + 2 for place in range(rows)], cells))
    return made


@dataclass
class Source:
    """Gives pieces, then fails if it has an `error`."""

    left: list[Piece]
    error: Exception | None = None
    taken: list[ReadPiece] = field(default_factory=list[ReadPiece])

    async def next(self) -> Piece:
        if self.left:
            return self.left.pop(0)
        if self.error is not None:
            raise self.error
        return Piece(0, HEADER, [], [])

    async def take(self, read: AsyncIterator[PackedPiece]) -> None:
        async for piece in read:
            self.taken.append(piece.unpacked())


@pytest.mark.parametrize("processes", [0, 2])
async def test_pieces_are_read_in_the_order_of_the_file(processes: int) -> None:
    source = Source(pieces(20))
    await read_with(processes, RULES, source.next, source.take)
    assert source.taken == [read_piece(piece, RULES) for piece in pieces(20)]
    assert [(len(piece.rows.good), len(piece.rows.bad)) for piece in source.taken] == [(1, 2)] * 20
    assert source.taken[1].line_of(6) == 7


@pytest.mark.parametrize("processes", [0, 2])
async def test_a_file_that_breaks_off_fails_behind_the_pieces_before_it(processes: int) -> None:
    source = Source(pieces(5), UnreadableList("it ends too early"))
    with pytest.raises(UnreadableList, match="too early"):
        await read_with(processes, RULES, source.next, source.take)
    assert [piece.begin for piece in source.taken] == [0, 3, 6, 9, 12]


async def test_what_goes_wrong_while_rows_are_taken_is_raised_as_it_is() -> None:
    async def fail(read: AsyncIterator[PackedPiece]) -> None:
        async for piece in read:
            raise LookupError(piece.begin)

    with pytest.raises(LookupError, match="0"):
        await read_with(2, RULES, Source(pieces(50)).next, fail)


@pytest.mark.parametrize("program", ["/does/not/exist", "/bin/true"], ids=["no program", "one that ends at once"])
async def test_without_its_processes_a_file_is_read_all_the_same(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", program)
    source = Source(pieces(10))
    await read_with(2, RULES, source.next, source.take)
    assert [piece.begin for piece in source.taken] == list(range(0, 30, 3))


def test_a_short_file_starts_no_process() -> None:
    assert processes_for(ALONE_BELOW - 1) == 0
    assert processes_for(5_000_000) >= 1
