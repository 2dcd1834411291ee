"""Lists for the benchmark of imports: random people, and rows that cannot be taken, of which the reason is known.

The same for the same number of rows.
"""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_SEED = 20
BAD_EVERY = 97
_BAD = (
    (",Ada,Springfield", "missing_phone"),
    ("none,Ada,Springfield", "invalid_phone"),
    ("+19005550100,Ada,Springfield", "not_dialable"),
    ("+12125550100,Ada", "column_count_mismatch"),
    ("2125550100,Ada,Springfield", "ambiguous_country"),
)
_BEGINS = ("+1212", "+1415", "+1646", "+33612", "+33678", "+4915112")
"""Of numbers that all exist with these many digits behind them."""
_DIGITS = {"+1": (2_000_000, 9_999_999), "+3": (100_000, 999_999), "+4": (100_000, 999_999)}


class Row(NamedTuple):
    """A row of the list: its text, its number, and why it is refused if it is."""

    text: str
    phone: str
    code: str | None


def rows_of(rows: int) -> Iterator[Row]:
    """The rows of a list, without its header."""
    chance = random.Random(_SEED)
    for index in range(1, rows + 1):
        if index % BAD_EVERY == 0:
            text, code = _BAD[index // BAD_EVERY % len(_BAD)]
            yield Row(text, "", code)
            continue
        begin = chance.choice(_BEGINS)
        phone = f"{begin}{chance.randint(*_DIGITS[begin[:2]])}"
        yield Row(f"{phone},Ada {index % 1_000},Springfield", phone, None)


def write_list(file: Path, rows: int) -> None:
    """Writes a list as CSV."""
    with file.open("w", encoding="utf-8") as opened:
        opened.write("phone,first_name,city\n")
        opened.writelines(f"{row.text}\n" for row in rows_of(rows))
