"""Reading a part of the turns of a call out of the text that holds them all."""

import json
from typing import Any

import orjson
import pytest

from callwright.service.rules.stored_turns import turns_between


def turn(index: int, text: str) -> dict[str, Any]:
    times = {"start_seconds": index * 2.0, "end_seconds": index * 2.0 + 1.5}
    about = {"language": "en-US", "source": "policy", "interrupted": False, "latency_ms": None, "tool_call": None}
    return {"index": index, "role": "contact", "text": text, **times, **about}


SAID = [
    'Plain words."',
    '},{"index":2,',
    '{"index":3,',
    "},{",
    "]",
    "}]\n",
    "\\",
    'ends with \\"},{"index":1,',
    "ключ 🎈",
    "[]",
    "",
]
TURNS = [turn(index, text) for index, text in enumerate(SAID)]


@pytest.mark.parametrize("first", range(len(SAID) + 2))
@pytest.mark.parametrize("count", [1, 2, 5, 200])
def test_a_part_is_what_a_slice_of_the_whole_is_whatever_was_said(first: int, count: int) -> None:
    found = turns_between(orjson.dumps(TURNS).decode(), first, first + count)
    assert [entry.model_dump() for entry in found] == TURNS[first : first + count]


def test_a_list_that_is_written_with_spaces_is_read_as_well() -> None:
    stored = json.dumps(TURNS, indent=1)
    assert [entry.index for entry in turns_between(stored, 3, 5)] == [3, 4]


def test_a_call_without_turns_has_none() -> None:
    assert turns_between("[]", 0, 200) == []


def test_nothing_but_the_part_is_parsed() -> None:
    stored = orjson.dumps(TURNS).decode().replace("Plain words", "not \\x JSON").replace('"text":"",', '"text":,')
    assert [entry.index for entry in turns_between(stored, 1, 3)] == [1, 2]
