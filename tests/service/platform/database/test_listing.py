"""Cursors and sort fields by themselves. How lists behave as a whole stands in the handlers' tests."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.contract.agents.agents import list_agents
from callwright.contract.declaration.pagination import Page, PageQuery
from callwright.contract.problems import INVALID_CURSOR, INVALID_FIELD
from callwright.service.platform.database.listing import Cursors, page_of_values, sort_fields
from callwright.service.platform.refusals import Refusal

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


def paged(asked: PageQuery, values: list[int]) -> Page[Any]:
    """A page of numbers that are held in memory."""
    return page_of_values(Cursors(b"secret"), list_agents, asked, values, org_id="org_1", key=str)


@given(count=st.integers(0, 60), per_page=st.integers(1, 20), gone=st.sets(st.integers(0, 59)))
def test_a_cursor_walks_over_values_once_though_some_are_taken_away(count: int, per_page: int, gone: set[int]) -> None:
    seen: list[int] = []
    page = paged(PageQuery(per_page=per_page), list(range(count)))
    begun = len(page.data)
    seen.extend(page.data)
    left = [value for value in range(count) if value not in gone or value in seen]
    while page.pagination.next_cursor is not None:
        page = paged(PageQuery(per_page=per_page, cursor=page.pagination.next_cursor), left)
        seen.extend(page.data)
    assert page.pagination.total == count
    assert seen == [*range(begun), *(value for value in left if value >= begun)]


def test_a_cursor_goes_on_at_its_place_where_its_entry_is_gone() -> None:
    first = paged(PageQuery(per_page=3), list(range(9)))
    page = paged(PageQuery(per_page=3, cursor=first.pagination.next_cursor), [0, 1, 3, 4, 5, 6])
    assert page.data == [4, 5, 6]


def test_page_and_cursor_exclude_each_other_for_values_too() -> None:
    first = paged(PageQuery(per_page=3), list(range(9)))
    with pytest.raises(Refusal, match="exclude each other"):
        paged(PageQuery(per_page=3, page=2, cursor=first.pagination.next_cursor), list(range(9)))


@given(count=st.integers(0, 60), per_page=st.integers(1, 20))
def test_pages_of_values_hold_everything_once(count: int, per_page: int) -> None:
    seen: list[int] = []
    for number in range(1, count + 3):
        page = paged(PageQuery(page=number, per_page=per_page), list(range(count)))
        seen.extend(page.data)
        assert page.pagination.total == count
        assert page.pagination.has_more == (number * per_page < count)
    assert seen == list(range(count))
