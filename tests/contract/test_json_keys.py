"""Keys that stand twice in one object are found, in whatever writing."""

import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.contract.checks.json_containers import brackets
from callwright.contract.checks.json_keys import key_twice, keys_in

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(st.sampled_from('a":,\\{} \n'), max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.sampled_from('ab":\\'), max_size=3), inner),
    max_leaves=20,
)


def found(text: str) -> str | None:
    return key_twice(text.encode(), keys_in(orjson.loads(text), deepest=100))


@given(VALUES, st.sampled_from([None, 1]), st.booleans())
def test_what_was_written_by_a_program_has_no_key_twice(value: Any, indent: int | None, plain: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=plain)
    keys = keys_in(json.loads(text), deepest=100)
    assert keys_in(json.loads(text), deepest=100, containers=brackets(text.encode())) == keys
    assert key_twice(text.encode(), keys) is None
    assert key_twice(text.encode(), None) is None


@given(VALUES, VALUES)
def test_a_key_that_was_added_once_more_is_named(one: Any, other: Any) -> None:
    written = json.dumps(one)
    assert found(f'{{"twice": {written}, "c": {json.dumps(other)}, "twice": {written}}}') is not None


@pytest.mark.parametrize(
    "text",
    [
        '{"a":1,"a":2}',
        '{"b":":","a":"x", "a" :[]}',
        '[{"a":1},{"c":{"a":1,"\\u0061":2}}]',
        '{"x":"\\"a\\":","a":1,"y":"a\\\\","a"\n:2}',
        '{"k":"a","a":{"a":{"a":1}},"b":[{"b":1}],"a":0}',
    ],
)
def test_a_key_that_stands_twice_is_named(text: str) -> None:
    assert found(text) == "a"


def test_the_same_key_in_several_objects_stands_once_in_each() -> None:
    assert found('{"a":{"a":":"},"b":[{"a":1},{"a":"\\"a\\":"}]}') is None


def test_keys_are_counted_in_all_and_in_the_object_that_has_the_most() -> None:
    assert keys_in({"a": [{"b": 1, "c": 2, "d": 3}, {"b": 1}], "e": {}}, deepest=3) == (6, 3)


def test_levels_are_counted_from_the_value_itself() -> None:
    assert keys_in([], deepest=0) == keys_in(1, deepest=0) == (0, 0)
    assert keys_in([[{"a": 1}]], deepest=2) == (1, 1)
    assert keys_in([[{"a": 1}]], deepest=1) is None
    assert keys_in([[{"a": 1}]], deepest=1, containers=3) is None


def test_an_object_is_not_looked_into_where_its_text_holds_no_further_one() -> None:
    assert keys_in([{"a": {"b": 1}}], deepest=9, containers=2) == (1, 1)
