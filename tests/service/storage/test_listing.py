"""Cursors and sort fields by themselves. How lists behave as a whole stands in the handlers' tests."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.contract.agents import list_agents
from callwright.contract.pagination import PageQuery
from callwright.contract.problems import INVALID_CURSOR, INVALID_FIELD
from callwright.service.domain.refusals import Refusal
from callwright.service.storage.listing import Cursors, page_of_values, sort_fields

CURSORS = Cursors(b"secret")
VALUES = st.lists(st.one_of(st.integers(-(2**53), 2**53), st.text(max_size=50)), min_size=1, max_size=4)


@given(values=VALUES, page=st.integers(1, 10**6), total=st.integers(0, 10**9), binding=st.binary(max_size=40))
def test_a_cursor_gives_back_what_it_was_made_of(
    values: list[int | str], page: int, total: int, binding: bytes
) -> None:
    assert CURSORS.open(CURSORS.seal(values, page, total, binding), binding) == (values, page, total)


@given(text=st.text(max_size=200))
def test_any_other_text_is_refused_and_never_a_failure(text: str) -> None:
    with pytest.raises(Refusal) as caught:
        CURSORS.open(text, b"list")
    assert caught.value.problem is INVALID_CURSOR


def test_a_cursor_is_bound_to_its_list_and_its_secret() -> None:
    cursor = CURSORS.seal(["a", 1], 1, 10, b"list")
    for cursors, binding in ((CURSORS, b"another list"), (Cursors(b"another secret"), b"list")):
        with pytest.raises(Refusal) as caught:
            cursors.open(cursor, binding)
        assert caught.value.problem is INVALID_CURSOR


def test_sort_fields_are_read_with_their_direction() -> None:
    assert sort_fields(list_agents, "name, -created_at") == [("name", False), ("created_at", True)]
    for bad in ("", "-", "id", "name,", "--name", "Name"):
        with pytest.raises(Refusal) as caught:
            sort_fields(list_agents, bad)
        assert (caught.value.problem, caught.value.field) == (INVALID_FIELD, "sort")
        assert "created_at, updated_at, name" in caught.value.message


@given(count=st.integers(0, 60), per_page=st.integers(1, 20))
def test_pages_of_values_hold_everything_once(count: int, per_page: int) -> None:
    seen: list[int] = []
    for number in range(1, count + 3):
        page = page_of_values(PageQuery(page=number, per_page=per_page), list(range(count)))
        seen.extend(page.data)
        assert page.pagination.total == count
        assert page.pagination.has_more == (number * per_page < count)
    assert seen == list(range(count))
