"""Percentiles by nearest rank."""

import pytest

from callwright.service.rules.percentiles import percentile


@pytest.mark.parametrize(
    ("values", "median", "p95"),
    [
        ([], None, None),
        ([7], 7, 7),
        ([4, 1], 1, 4),
        ([3, 1, 2], 2, 3),
        (list(range(100, 0, -1)), 50, 95),
        (list(range(1, 21)), 10, 19),
        (list(range(1, 22)), 11, 20),
    ],
)
def test_a_percentile_is_the_value_at_its_rank(values: list[int], median: int | None, p95: int | None) -> None:
    assert (percentile(values, 50), percentile(values, 95)) == (median, p95)
