"""Pieces of a list: some rows one after the other, as they stand in the file, and what becomes of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from callwright.contract.checks.counts import count_of
from callwright.service.rules.rows import BadRow, ReadRows, RowRules, read_lists


@dataclass(frozen=True)
class Piece:
    """Some rows of a file, as texts."""

    begin: int
    """How many rows stand before it."""
    header: tuple[str, ...]
    lines: Sequence[int]
    """The line in which each row begins."""
    cells: Sequence[Sequence[str]]

    @property
    def end(self) -> int:
        """The number of its last row, from 1."""
        return self.begin + len(self.cells)


@dataclass(frozen=True)
class ReadPiece:
    """The rows of a piece, read. Those whose cells do not fit the header are among the bad ones."""

    begin: int
    lines: Sequence[int]
    rows: ReadRows

    @property
    def end(self) -> int:
        """The number of its last row, from 1."""
        return self.begin + len(self.lines)

    def line_of(self, row_number: int) -> int:
        """The line in which a row begins."""
        return self.lines[row_number - 1 - self.begin]

    def unreadable(self) -> list[BadRow]:
        """The bad rows but for duplicates."""
        return [one for one in self.rows.bad if one.code != "duplicate_in_file"]


def read_piece(piece: Piece, rules: RowRules) -> ReadPiece:
    """Reads the rows of a piece. Nothing is stored."""
    width = len(piece.header)
    rows: list[tuple[int, tuple[str, ...], Sequence[str]]] = []
    misfits: list[BadRow] = []
    for number, cells in enumerate(piece.cells, piece.begin + 1):
        if len(cells) == width:
            rows.append((number, piece.header, cells))
        else:
            message = f"the row has {count_of(len(cells), 'cell')}, the header {width}"
            misfits.append(BadRow(number, "column_count_mismatch", message))
    read = read_lists(rows, rules)
    if misfits:
        read.bad = sorted([*read.bad, *misfits], key=lambda one: one.row_number)
    return ReadPiece(piece.begin, piece.lines, read)
