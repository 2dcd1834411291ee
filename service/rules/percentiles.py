"""Percentiles by nearest rank: each is one of the values, so that it is the same on every database and in memory."""

from collections.abc import Sequence
from typing import TypeVar

from sqlalchemy import ColumnElement

Count = TypeVar("Count", int, ColumnElement[int])


def nearest_rank(size: Count, percent: int) -> Count:
    """Which of `size` values in their order, counted from 1, is this percentile; also as SQL."""
    return (size * percent + 99) // 100


def percentile(values: Sequence[int], percent: int) -> int | None:
    """The percentile of values in any order; None without values."""
    return sorted(values)[nearest_rank(len(values), percent) - 1] if values else None
