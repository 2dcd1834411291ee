"""Parts of a transcript: by turns, seconds, speaker, around a match, and under a bound of tokens."""

from typing import Any

import pytest
from mcp.server.mcpserver.exceptions import ToolError

from callwright.contract.calls.calls import GetTranscript, Transcript
from callwright.contract.declaration.model import Input
from callwright.tools.media.slices import ReadTranscript, part_of_transcript
from tests.support.tools import samples
from tests.support.tools.fakes import FakeCaller, use_of
from tests.support.tools.tool_turns import tool_turn

TEN = samples.transcript(
    *(samples.turn(index, f"words of turn {index}", "agent" if index % 2 == 0 else "contact") for index in range(10))
)


async def indexes(**asked: Any) -> list[int]:
    reply = await part_of_transcript(
        use_of(FakeCaller(answers={"get_transcript": TEN})), ReadTranscript(call_uuid="cal_1", **asked)
    )
    return [turn["index"] for turn in reply.data["turns"]]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({}, list(range(10))),
        ({"from_turn": 7}, [7, 8, 9]),
        ({"to_turn": 1}, [0, 1]),
        ({"from_turn": 3, "to_turn": 3}, [3]),
        ({"speaker": "contact"}, [1, 3, 5, 7, 9]),
        ({"around_turn": 5}, [2, 3, 4, 5, 6, 7, 8]),
        ({"around_turn": 0, "speaker": "agent"}, [0, 2]),
        ({"from_seconds": 30.0}, [7, 8, 9]),
        ({"to_seconds": 8.0}, [0, 1]),
        ({"cursor": "turn-8"}, [8, 9]),
        ({"from_turn": 50}, []),
    ],
)
async def test_the_turns_asked_for_come_back(asked: dict[str, Any], found: list[int]) -> None:
    assert await indexes(**asked) == found


async def test_what_does_not_fit_is_counted_and_can_be_had() -> None:
    long = samples.transcript(*(samples.turn(index, "x" * 400) for index in range(8)))
    use = use_of(FakeCaller(answers={"get_transcript": long}))
    seen: list[int] = []
    cursor: str | None = None
    for _ in range(8):
        reply = await part_of_transcript(use, ReadTranscript(call_uuid="cal_1", max_tokens=300, cursor=cursor))
        seen += [turn["index"] for turn in reply.data["turns"]]
        assert len(reply.text) < 300 * 4 + 400
        assert reply.data["turns_left"] == 8 - len(seen)
        cursor = reply.data.get("next_cursor")
        if cursor is None:
            break
        assert f"cursor={cursor}" in reply.text
    assert seen == list(range(8))


async def test_one_turn_always_comes_however_long_it_is() -> None:
    book = samples.transcript(samples.turn(0, "x" * 5_000), samples.turn(1, "y"))
    reply = await part_of_transcript(
        use_of(FakeCaller(answers={"get_transcript": book})), ReadTranscript(call_uuid="cal_1", max_tokens=200)
    )
    assert [turn["index"] for turn in reply.data["turns"]] == [0]
    assert reply.data["next_cursor"] == "turn-1"


async def test_a_foreign_cursor_is_refused_in_words() -> None:
    with pytest.raises(ToolError, match="cursor"):
        await indexes(cursor="abc")


def paged(count: int, *, at_once: int = 200) -> FakeCaller:
    """A call whose transcript comes in pages."""

    def page(asked: Input) -> Transcript:
        assert isinstance(asked, GetTranscript)
        first = int(asked.cursor or "0")
        end = min(first + at_once, count)
        said = [samples.turn(index, f"words of turn {index}") for index in range(first, end)]
        return samples.transcript(*said, turn_count=count, next_cursor=str(end) if end < count else None)

    return FakeCaller(answers={"get_transcript": page})


@pytest.mark.parametrize(
    ("asked", "pages", "left"),
    [
        ({}, 2, 800),
        ({"from_turn": 150}, 2, 650),
        ({"cursor": "turn-350", "to_turn": 700}, 3, 151),
        ({"to_turn": 20}, 1, 0),
        ({"around_turn": 500}, 3, 0),
        ({"from_turn": 950}, 5, 0),
        ({"speaker": "contact"}, 5, 800),
        ({"to_seconds": 40.0}, 5, 0),
    ],
)
async def test_pages_behind_the_turns_asked_for_are_not_read(asked: dict[str, Any], pages: int, left: int) -> None:
    caller = paged(1_000)
    reply = await part_of_transcript(use_of(caller), ReadTranscript(call_uuid="cal_1", max_tokens=20_000, **asked))
    assert len(caller.asked) == pages
    assert reply.data["turns_left"] == left
    assert reply.data.get("next_cursor") == (f"turn-{reply.data['turns'][-1]['index'] + 1}" if left else None)


@pytest.mark.requirement("CALLTOOL-15")
async def test_the_call_of_a_tool_is_a_turn_of_the_system_with_what_was_asked_and_answered() -> None:
    said = samples.transcript(samples.turn(0, "Hi."), tool_turn(1), samples.turn(2, "Ten is free.", "agent"))
    use = use_of(FakeCaller(answers={"get_transcript": said}))
    reply = await part_of_transcript(use, ReadTranscript(call_uuid="cal_1"))
    asked = 'called free_times({"day": "Tuesday"}), which answered: {"times": ["ten"]}'
    assert [(turn["role"], turn["text"]) for turn in reply.data["turns"]][1] == ("system", asked)
    assert asked in reply.text
    assert reply.untrusted == ("turns.text",)
    only = await part_of_transcript(use, ReadTranscript(call_uuid="cal_1", speaker="agent"))
    assert [turn["index"] for turn in only.data["turns"]] == [2]
