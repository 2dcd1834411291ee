"""Which row of a list names the columns, where rows with a title or with groups of columns stand above it."""

from collections.abc import Sequence
from itertools import zip_longest

from callwright.list_files.phone_columns import named_for_numbers

LOOKED_AT = 10
"""Rows among which the header is looked for, the first ones."""
_DIGITS_OF_A_PERSON = 5


def rows_above_header(rows: Sequence[Sequence[str]]) -> int:
    """How many of the first rows, which are not empty, stand above the header.

    The header is the first row of several cells one of which is named for numbers. The rows above it are titles, with
    one filled cell each and no name for telephone numbers, or name groups of columns, and leave columns without a name
    that the header names. If there is no such row, the first one is the header.
    """
    fitting = [above for above in range(len(rows[:LOOKED_AT])) if _fits(rows[above], rows[:above])]
    # A group may have the name of a column, as `Contact` above `Name` and `Phone`.
    return next((above for above in fitting if above + 1 not in fitting), 0)


def _fits(header: Sequence[str], above: Sequence[Sequence[str]]) -> bool:
    if _filled(header) < 2 or not any(map(named_for_numbers, header)) or any(map(_is_of_a_person, header)):
        return False
    return all(_is_title(row) or _names_groups(row, header) for row in above)


def _is_of_a_person(cell: str) -> bool:
    """Whether a cell has so many digits that it belongs to a person, as no name of a column does."""
    return sum(map(str.isdigit, cell)) >= _DIGITS_OF_A_PERSON


def _is_title(row: Sequence[str]) -> bool:
    return _filled(row) == 1 and not any(map(named_for_numbers, row))


def _names_groups(row: Sequence[str], header: Sequence[str]) -> bool:
    """Whether a row has gaps where the row below has names; where cells are merged, the first one has the text."""
    if not 1 < _filled(row) < _filled(header):
        return False
    return any(name.strip() and not group.strip() for group, name in zip_longest(row, header, fillvalue=""))


def _filled(row: Sequence[str]) -> int:
    return sum(bool(cell.strip()) for cell in row)
