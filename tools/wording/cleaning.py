"""Cleans text that an outsider wrote or said of what a person would not see (`contract.checks.visible`)."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

from callwright.contract.checks.visible import cleaned

__all__ = ["cleaned", "cleaned_at", "named_apart", "with_texts"]

Value = TypeVar("Value")


def cleaned_at(data: dict[str, Any], path: str) -> None:
    """Cleans, in place, the text at `path` in an answer: field names with dots, through every entry of a list.

    If the path ends at an object, such as the cells of a row by column, its names and values are cleaned.
    """
    name, _, rest = path.partition(".")
    found = data.get(name)
    if isinstance(found, str):
        data[name] = cleaned(found)
    elif isinstance(found, dict):
        inner = cast("dict[str, Any]", found)
        if rest:
            cleaned_at(inner, rest)
        else:
            data[name] = named_apart(
                (cleaned(cell), cleaned(value) if isinstance(value, str) else value) for cell, value in inner.items()
            )
    elif isinstance(found, list):
        entries = cast("list[Any]", found)
        data[name] = [cleaned(entry) if isinstance(entry, str) else entry for entry in entries]
        for entry in entries:
            if rest and isinstance(entry, dict):
                cleaned_at(cast("dict[str, Any]", entry), rest)


def named_apart(entries: Iterable[tuple[str, Value]]) -> dict[str, Value]:
    """Values by name. Names that became equal are numbered, so that no value is lost."""
    kept: dict[str, Value] = {}
    for shown, value in entries:
        name, number = shown, 2
        while name in kept:
            name, number = f"{shown} ({number})", number + 1
        kept[name] = value
    return kept


def with_texts(value: Any, changed: Callable[[str], str], *, named: Callable[[str], str] = cleaned) -> Any:
    """JSON with `changed` applied to every text, and `named` to the names of fields, at any depth."""
    if isinstance(value, str):
        return changed(value)
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {named(name): with_texts(entry, changed, named=named) for name, entry in fields.items()}
    if isinstance(value, list):
        return [with_texts(entry, changed, named=named) for entry in cast("list[Any]", value)]
    return value
