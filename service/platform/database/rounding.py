"""Columns as lists show them: rounded, as moments are to the second."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, literal_column, type_coerce

UNIT = 1_000
"""What is shown as one: a second, where the column has milliseconds."""


@dataclass(frozen=True)
class Rounded:
    """A column whose values are shown in thousands, rounded down; to the nearest one with `half` = 500."""

    column: ColumnElement[Any]
    half: int = 0

    @property
    def shown(self) -> ColumnElement[int]:
        """What the list shows, as the same expression that indexes have."""
        whole = self.column + self.half if self.half else self.column
        return type_coerce(whole // literal_column(f"{UNIT}", BigInteger), BigInteger)

    def not_beyond(self, shown: int, *, descends: bool) -> ColumnElement[bool]:
        """The condition of values that are shown as this or come after it, for which the column's index is used."""
        first = shown * UNIT - self.half
        return self.column < first + UNIT if descends else self.column >= first

    def not_after(self, shown: int, *, descends: bool) -> ColumnElement[bool]:
        """The condition of values that are shown as this or come before it."""
        return self.not_beyond(shown, descends=not descends)

    def of(self, value: int) -> int:
        """What is shown for a value."""
        return (value + self.half) // UNIT
