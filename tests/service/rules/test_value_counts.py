"""Values of many calls in one text: exact while they are few, then within 1/64."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from callwright.service.rules.percentiles import percentile
from callwright.service.rules.value_counts import EXACT, changed, percentiles, rounded

_VALUES = st.lists(st.integers(0, 10_000_000), max_size=100)


@given(st.integers(0, 10**12))
def test_a_value_is_rounded_by_at_most_a_sixty_fourth_and_only_once(value: int) -> None:
    assert abs(rounded(value) - value) * 64 <= value
    assert rounded(rounded(value)) == rounded(value)


@given(st.lists(st.integers(0, 10_000_000), min_size=1, max_size=EXACT))
def test_percentiles_of_few_values_are_exact(values: list[int]) -> None:
    text = changed("", values)
    assert percentiles(text, (50, 90)) == [percentile(values, 50), percentile(values, 90)]


@given(st.lists(_VALUES, min_size=1, max_size=5))
def test_percentiles_of_several_texts_are_within_a_sixty_fourth(groups: list[list[int]]) -> None:
    every = sorted(value for group in groups for value in group)
    text = " ".join(changed("", group) for group in groups)
    if not every:
        assert text.split() == []
        return
    for percent, found in zip((50, 90), percentiles(text, (50, 90)), strict=True):
        exact = percentile(every, percent)
        assert exact is not None
        assert abs(found - exact) * 63 <= exact


@given(_VALUES, _VALUES)
def test_values_that_are_taken_out_again_leave_those_that_stay(stay: list[int], go: list[int]) -> None:
    text = changed(changed(changed("", stay[: len(stay) // 2]), go), stay[len(stay) // 2 :])
    left = changed(text, [], go)
    is_rounded = left.startswith("~")
    values = Counter(map(rounded, stay) if is_rounded else stay)
    words = [str(value) if count == 1 else f"{value}*{count}" for value, count in sorted(values.items())]
    assert left.split() == (["~", *words] if is_rounded else words)
