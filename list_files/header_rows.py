"""Which row of a list names the columns, where rows with a title stand above it."""

from collections.abc import Sequence
from itertools import takewhile

from callwright.list_files.phone_columns import named_for_numbers

LOOKED_AT = 10
"""Rows among which the header is looked for, the first ones."""


def rows_above_header(rows: Sequence[Sequence[str]]) -> int:
    """How many of the first rows, which are not empty, stand above the header.

    They have one filled cell each, such as a title, and no name for telephone numbers. The row below them has several
    cells, one of which is named for numbers. If there is no such row, the first one is the header.
    """
    above = len(list(takewhile(_is_title, rows[:LOOKED_AT])))
    below = rows[above] if 0 < above < min(len(rows), LOOKED_AT) else ()
    return above if _filled(below) > 1 and any(map(named_for_numbers, below)) else 0


def _is_title(row: Sequence[str]) -> bool:
    return _filled(row) == 1 and not any(map(named_for_numbers, row))


def _filled(row: Sequence[str]) -> int:
    return sum(bool(cell.strip()) for cell in row)
