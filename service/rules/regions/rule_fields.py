"""The fields of a table in a rules file, each read by its kind; a wrong one is an error that names it."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any, cast

from callwright.contract.checks.time_zones import time_zones


class RuleFileError(ValueError):
    """A rules file is wrong: the text names region, rule and field, and says what to do."""


def is_zone(name: str) -> bool:
    """Whether this is the name of an IANA time zone."""
    return name in time_zones()


class Fields:
    """The fields of one table. `where` is how errors name it. What was not read, `nothing_else` refuses."""

    def __init__(self, where: str, table: object) -> None:
        if not isinstance(table, dict):
            raise RuleFileError(f"{where}: is no table; write its fields below a line in square brackets")
        self.where = where
        self._table = cast(dict[str, Any], table)
        self._read: set[str] = set()

    def wrong(self, field: str, why: str) -> RuleFileError:
        """The error that a field of this table is wrong."""
        return RuleFileError(f"{self.where}, {field}: {why}")

    def given(self, field: str) -> Any:
        """The value of a field, None if it is left out."""
        self._read.add(field)
        return self._table.get(field)

    def text(self, field: str, *, most: int) -> str:
        """A text of at least one character."""
        value = self.given(field)
        if not isinstance(value, str) or not value.strip() or len(value) > most:
            raise self.wrong(field, f"is no text; write one of 1 to {most} characters, in quotes")
        return value

    def text_if_given(self, field: str, *, most: int) -> str | None:
        """A text, None if it is left out."""
        return None if self.given(field) is None else self.text(field, most=most)

    def texts(self, field: str, *, most: int) -> tuple[str, ...]:
        """A list of texts without repetition; empty if it is left out."""
        value = self.given(field)
        if value is None:
            return ()
        listed = cast(list[object], value) if isinstance(value, list) else None
        if listed is None or not all(isinstance(item, str) for item in listed):
            raise self.wrong(field, 'is no list of texts; write one such as ["a", "b"]')
        texts = cast(list[str], listed)
        if len(texts) > most or len(set(texts)) < len(texts):
            raise self.wrong(field, f"has too much; write at most {most}, each once")
        return tuple(texts)

    def chosen(self, field: str, choices: Sequence[str]) -> str:
        """One text of several."""
        value = self.given(field)
        if value not in choices:
            raise self.wrong(field, f"is {value!r}; write one of {', '.join(choices)}")
        return cast(str, value)

    def number(self, field: str, *, most: int) -> int:
        """A whole number from 1."""
        value = self.given(field)
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
            raise self.wrong(field, f"is no number from 1 to {most:,}; write one, without quotes")
        return value

    def flag(self, field: str) -> bool:
        """True or false."""
        value = self.given(field)
        if not isinstance(value, bool):
            raise self.wrong(field, "is neither true nor false; write one of them, without quotes")
        return value

    def day(self, field: str) -> date | None:
        """A day, None if it is left out."""
        value = self.given(field)
        if value is None:
            return None
        if not isinstance(value, date) or isinstance(value, datetime):
            raise self.wrong(field, "is no day of the calendar; write one such as 2026-11-26, without quotes")
        return value

    def table(self, field: str) -> dict[str, object]:
        """A table in this one."""
        value = self.given(field)
        if not isinstance(value, dict) or not value:
            raise self.wrong(field, f"is missing; add a table of this name: [{field}.…]")
        return cast(dict[str, object], value)

    def entries(self, field: str) -> list[object]:
        """A list of tables; empty if it is left out."""
        value = self.given(field)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.wrong(field, "is no list of tables; begin each with a line in double square brackets")
        return cast(list[object], value)

    def nothing_else(self) -> None:
        """Refuses fields that nobody has read."""
        unknown = sorted(set(self._table) - self._read)
        if unknown:
            known = ", ".join(sorted(self._read))
            raise self.wrong(unknown[0], f"is no field here; remove it, or write one of {known}")
