"""Which cases of a test with several parameters run every time.

A test of 62 tools with 4 texts has 248 cases. An ordinary run takes each tool once, the texts in turn; of three
parameters it takes a selection in which every pair of values of the smaller ones meets. `--whole` takes all cases.
"""

from collections import defaultdict
from collections.abc import Hashable, Sequence

import pytest

Column = tuple[Hashable, ...]


def left_out(cases: Sequence[pytest.Item], *, but: str) -> list[pytest.Item]:
    """The cases of one function that an ordinary run does without. The parameter `but` does not count."""
    columns = [column for column in _factors([_values(case, but) for case in cases]) if max(column) > 0]
    if len(columns) < 2:
        return []
    step = min(max(column) for column in columns) + 1
    return [case for case, numbers in zip(cases, zip(*columns, strict=True), strict=True) if sum(numbers) % step]


def _values(case: pytest.Item, but: str) -> dict[str, int]:
    """The parameters of a case, with what tells their values apart."""
    callspec = getattr(case, "callspec", None)
    return {} if callspec is None else {name: id(value) for name, value in callspec.params.items() if name != but}


def _factors(cases: Sequence[dict[str, int]]) -> list[tuple[int, ...]]:
    """The lists whose product the cases are. Parameters that are given together, as rows, are one list."""
    factors: list[tuple[int, ...]] = []
    for name in cases[0] if cases else ():
        factor = _numbered(tuple(case.get(name) for case in cases))
        for other in tuple(factors):
            if len(set(zip(factor, other, strict=True))) < (max(factor) + 1) * (max(other) + 1):
                factors.remove(other)
                factor = _numbered(tuple(zip(factor, other, strict=True)))
        factors.append(factor)
    return factors


def _numbered(column: Column) -> tuple[int, ...]:
    """The values of a list, numbered as they come."""
    numbers: defaultdict[Hashable, int] = defaultdict(lambda: len(numbers))
    return tuple(numbers[value] for value in column)
