"""Counts and lists in sentences."""

from collections.abc import Sequence


def count_of(count: int, one: str, many: str = "") -> str:
    """A count with its noun: `1 call`, `2 calls`; `many` where the plural is not the singular with an s."""
    return f"{count} {one if count == 1 else many or f'{one}s'}"


def first_of(names: Sequence[str], most: int) -> str:
    """Names with commas, at most so many: `a, b and 3 more`."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
