"""Suggests similar names when no name matches exactly."""

import unicodedata
from collections.abc import Iterable
from difflib import SequenceMatcher
from typing import TypeVar

MOST_NEAR = 5
_ALIKE = 0.6
_LONGEST = 100
"""Characters that are compared: the time for it grows with their square."""

Thing = TypeVar("Thing")


def nearest(wanted: str, named: Iterable[tuple[Thing, Iterable[str]]]) -> list[Thing]:
    """Up to five things with names similar to `wanted`: equal but for case, then same beginning, then by similarity."""
    folded = _folded(wanted)
    if not folded:
        return []
    found = [(_distance(folded, names), thing) for thing, names in named]
    near = sorted((entry for entry in found if entry[0] is not None), key=lambda entry: entry[0] or 0.0)
    return [thing for _, thing in near[:MOST_NEAR]]


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text[:_LONGEST]).casefold().split())


def _distance(wanted: str, names: Iterable[str]) -> float | None:
    """0 means equal but for case, below 2 same beginning or contained, above it similar; None means not similar."""
    distances = [one for name in names if (one := _one(wanted, _folded(name))) is not None]
    return min(distances, default=None)


def _one(wanted: str, name: str) -> float | None:
    if not name:
        return None
    if name == wanted:
        return 0.0
    if name.startswith(wanted) or (len(name) > 2 and wanted.startswith(name)):
        return 1.0
    if len(wanted) > 2 and wanted in name:
        return 1.5
    matcher = SequenceMatcher(None, wanted, name, autojunk=False)
    if matcher.real_quick_ratio() < _ALIKE or matcher.quick_ratio() < _ALIKE:
        return None
    ratio = matcher.ratio()
    return None if ratio < _ALIKE else 3.0 - ratio
