"""Counts in sentences."""


def count_of(count: int, one: str, many: str = "") -> str:
    """A count with its noun: `1 call`, `2 calls`; `many` where the plural is not the singular with an s."""
    return f"{count} {one if count == 1 else many or f'{one}s'}"
