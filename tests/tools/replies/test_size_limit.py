"""Answers keep to their bound, whatever the service gives and whatever is asked for; every cut says so."""

import json
import re
from typing import Any, cast

import pytest
from mcp.types import CallToolResult, TextContent

from callwright.contract.agents.agents import ListAgents
from callwright.contract.declaration.model import Input
from callwright.contract.declaration.pagination import Page, Pagination
from callwright.tools.catalogue.registry import TOOLS, tool_named
from callwright.tools.replies.size_limit import (
    BYTES_A_TOKEN,
    DEFAULT_TOKENS,
    MOST_TOKENS,
    count_that_fits,
    truncated,
    truncated_text,
)
from callwright.tools.runtime.tool import Reply, Tool
from callwright.tools.wording.text import json_bytes
from tests.support.tools import good_arguments, samples, sizes
from tests.support.tools.fakes import FakeCaller, assistant, server
from tests.support.tools.results import text_of

each_tool = pytest.mark.parametrize("tool", TOOLS, ids=[tool.name for tool in TOOLS])
LONG_LINES = "word " * 5_000 + "\n" + "a line\n" * 5_000


def data_in(result: CallToolResult) -> dict[str, Any]:
    return cast("dict[str, Any]", result.structured_content)


def bytes_of(result: CallToolResult) -> int:
    words = [block.text for block in result.content if isinstance(block, TextContent)]
    return sum(json_bytes(text) for text in words) + json_bytes(result.structured_content)


async def answer(tool: Tool, caller: FakeCaller, **more: Any) -> CallToolResult:
    given = good_arguments.arguments(tool.name, tool.operation.noun, _required(tool))
    async with assistant(server(caller), "2026-07-28") as client:
        result = await client.call_tool(tool.name, {**given, **more})
    assert not result.is_error, text_of(result)
    return result


def _required(tool: Tool) -> list[str]:
    return [tool.shown(name) for name, field in tool.arguments.model_fields.items() if field.is_required()]


def most_of(tool: Tool) -> dict[str, Any]:
    """The arguments that ask for as much as there is."""
    found: dict[str, Any] = {}
    if "per_page" in tool.offered:
        found["per_page"] = 200
    if "fields" in tool.offered:
        found["fields"] = list(tool.entry_fields)
    if "max_tokens" in tool.offered:
        found["max_tokens"] = MOST_TOKENS
    return found


@each_tool
@pytest.mark.parametrize(
    ("text", "entries"), [(sizes.TEXT, 1), ("x" * 900, 100), ("short", 400), (LONG_LINES[:20_000], 12)], ids=range(4)
)
async def test_by_itself_no_answer_has_more_than_4000_tokens(tool: Tool, text: str, entries: int) -> None:
    caller = FakeCaller(answers=sizes.answers(text=text, entries=entries))
    result = await answer(tool, caller)
    assert bytes_of(result) <= DEFAULT_TOKENS * BYTES_A_TOKEN
    says_what_is_missing(result)


@each_tool
@pytest.mark.parametrize(("text", "entries"), [(sizes.TEXT[:4_000], 3), ("short", 1_000)], ids=range(2))
async def test_whatever_is_asked_no_answer_has_more_than_20000_tokens(tool: Tool, text: str, entries: int) -> None:
    caller = FakeCaller(answers=sizes.answers(text=text, entries=entries))
    result = await answer(tool, caller, **most_of(tool))
    assert bytes_of(result) <= MOST_TOKENS * BYTES_A_TOKEN
    says_what_is_missing(result)


def says_what_is_missing(result: CallToolResult) -> None:
    """What was cut is said in words and in data, and no fence is left open."""
    data = data_in(result)
    text = text_of(result)
    assert ("shortened" in data) is ("Shortened: " in text)
    for tag in re.findall(r"<(untrusted-\w+)>", text):
        assert f"</{tag}>" in text


async def test_a_list_that_is_too_long_is_asked_for_again_with_what_fits() -> None:
    caller = FakeCaller(answers=sizes.answers(text="x" * 1_500, entries=1))
    result = await answer(tool_named("list_agents"), caller)
    asked = [entry.asked.model_dump() for entry in caller.asked]
    shown = data_in(result)["data"]
    assert [entry["per_page"] for entry in asked] == [20, len(shown)]
    assert {entry["cursor"] for entry in asked} == {None}
    assert 2 <= len(shown) < 20
    assert f"{sizes.TOTAL - len(shown):} more: call again with cursor=n{len(shown)}_after-list_agents" in text_of(
        result
    )


class Shelf:
    """A list of agents, the longer ones in the middle, given by cursor or by page number."""

    def __init__(self, count: int, *, cursors: bool) -> None:
        self.agents = [samples.agent(id=f"agt_{number}", name="n" * (number % 37) * 40) for number in range(count)]
        self.cursors = cursors

    def __call__(self, asked: Input) -> Page[Any]:
        assert isinstance(asked, ListAgents)
        assert not (asked.cursor and asked.page)
        begin = int(asked.cursor) if asked.cursor else ((asked.page or 1) - 1) * asked.per_page
        end = begin + asked.per_page
        more = end < len(self.agents)
        paging = Pagination(
            page=asked.page or 1,
            per_page=asked.per_page,
            total=len(self.agents),
            has_more=more,
            next_cursor=str(end) if more and self.cursors else None,
        )
        return Page[Any](data=self.agents[begin:end], pagination=paging)


@pytest.mark.parametrize("cursors", [True, False], ids=["by cursor", "by count"])
@pytest.mark.parametrize("per_page", [None, 7, 200])
async def test_following_the_cursor_shows_every_entry_once(cursors: bool, per_page: int | None) -> None:
    shelf = Shelf(450, cursors=cursors)
    caller = FakeCaller(answers={"list_agents": shelf})
    seen: list[str] = []
    given: dict[str, Any] = {"per_page": per_page} if per_page else {}
    async with assistant(server(caller), "2026-07-28") as client:
        while True:
            result = await client.call_tool("list_agents", given)
            data = data_in(result)
            seen += [entry["id"] for entry in data["data"]]
            left = 450 - len(seen)
            cursor = data["pagination"].get("next_cursor")
            assert data["pagination"]["has_more"] is (cursor is not None) is (left > 0)
            if cursor is None:
                break
            assert text_of(result).endswith(f"{left} more: call again with cursor={cursor}")
            given["cursor"] = cursor
    assert seen == [agent.id for agent in shelf.agents]


async def test_a_cursor_that_no_list_gave_is_refused_in_words() -> None:
    async with assistant(server(FakeCaller()), "2026-07-28") as client:
        result = await client.call_tool("list_agents", {"cursor": "page 2"})
    assert result.is_error
    assert text_of(result).startswith("Invalid arguments: cursor: ")


async def test_a_page_number_is_not_offered() -> None:
    async with assistant(server(FakeCaller()), "2026-07-28") as client:
        result = await client.call_tool("list_agents", {"page": 2})
    assert text_of(result).startswith(
        "Invalid arguments: page: unknown argument. Did you mean per_page? Allowed: per_page, cursor, "
    )


async def test_only_the_fields_that_are_asked_for_are_given_in_words_and_in_data() -> None:
    result = await answer(tool_named("list_calls"), FakeCaller(), fields=["to", "cost", "unanswered_questions"])
    (entry,) = data_in(result)["data"]
    assert set(entry) == {"to", "cost", "unanswered_questions"}
    _, begin, line, end = text_of(result).splitlines()
    assert (begin, end) == ("<untrusted-id1>", "</untrusted-id1>")
    assert "to: +1202•••0100" in line
    assert "cost.amount: 0.042500" in line
    assert "Is there parking?" in line


async def test_by_default_an_entry_has_the_usual_fields() -> None:
    result = await answer(tool_named("list_agents"), FakeCaller())
    assert data_in(result)["data"] == [
        {"id": "agt_1", "name": "Clinic reminders", "language": "en-US", "voice_id": "en-US-ada"}
    ]


async def test_an_unknown_field_is_refused_with_the_allowed_ones() -> None:
    async with assistant(server(FakeCaller()), "2026-07-28") as client:
        result = await client.call_tool("list_audience_rows", {"audience_id": "aud_1", "fields": ["id", "colour"]})
    assert text_of(result).startswith("Invalid arguments: fields.1: should be 'id', ")
    assert "'external_id'" in text_of(result)


async def test_a_prompt_of_any_length_can_be_read_in_parts() -> None:
    prompt = "".join(f"Rule {number}: жzß\n" for number in range(2_500))
    caller = FakeCaller(answers={"get_agent": samples.agent(system_prompt=prompt)})
    read, begin = "", 0
    while True:
        result = await answer(tool_named("get_agent"), caller, prompt_from=begin)
        data = data_in(result)
        read += data["system_prompt"]
        assert data["prompt_characters"] == len(prompt)
        if "prompt_goes_on_from" not in data:
            break
        begin = data["prompt_goes_on_from"]
        assert text_of(result).endswith(
            f"call again with prompt_from={begin}, or read callwright://agents/agt_1/prompt"
        )
    assert read == prompt


async def test_the_columns_of_an_audience_can_be_read_in_parts() -> None:
    column = samples.audience().columns[0]
    columns = [column.model_copy(update={"name": f"column_{number}", "sample": "s" * 500}) for number in range(200)]
    caller = FakeCaller(answers={"get_audience": samples.audience(columns=columns)})
    seen: list[str] = []
    while len(seen) < 200:
        result = await answer(tool_named("get_audience"), caller, columns_from=len(seen))
        data = data_in(result)
        assert data["column_count"] == 200
        seen += [found["name"] for found in data["columns"]]
        more = f"{200 - len(seen)} more columns: call again with columns_from={len(seen)}"
        assert (more in text_of(result)) is (len(seen) < 200)
    assert seen == [found.name for found in columns]


async def test_a_transcript_keeps_to_max_tokens_in_words_and_data_together() -> None:
    said = samples.transcript(*(samples.turn(index, f"{index} " + "word " * 20) for index in range(300)))
    caller = FakeCaller(answers={"get_transcript": said})
    for tokens in (500, 1_000, 4_000, 20_000):
        result = await answer(tool_named("get_transcript"), caller, max_tokens=tokens)
        assert bytes_of(result) <= tokens * BYTES_A_TOKEN
        assert bytes_of(result) > tokens * BYTES_A_TOKEN * 0.6 - 400
        assert data_in(result)["turns_left"] > 0


def test_what_fits_is_left_as_it_is() -> None:
    reply = Reply(text="short", data={"a": [1, 2, 3]})
    assert truncated(reply, 1_000) is reply


def test_long_texts_are_cut_alike_before_lists_are_and_the_rest_is_named() -> None:
    reply = Reply(text="fine", data={"id": "x", "one": "a" * 9_000, "two": {"deep": "b" * 9_000}, "few": [1, 2]})
    found = truncated(reply, 8_000, hint="The rest is there.")
    assert (found.data["id"], found.data["few"]) == ("x", [1, 2])
    assert len(found.data["one"]) == len(found.data["two"]["deep"])
    kept = len(found.data["one"]) - 1
    assert found.data["shortened"] == [f"one, {kept} of 9000 characters", f"two.deep, {kept} of 9000 characters"]
    assert found.text.splitlines() == ["fine", f"Shortened: {'; '.join(found.data['shortened'])}. The rest is there."]


def test_lists_and_maps_are_cut_where_texts_alone_do_not_help() -> None:
    data = {"many": [{"n": number} for number in range(9_000)], "map": {f"key {n}": "v" for n in range(9_000)}}
    found = truncated(Reply(text="", data=data), 16_000)
    assert len(found.data["many"]) < 9_000
    assert json_bytes(found.data) <= 16_000
    assert found.data["shortened"][0] == f"many, {len(found.data['many'])} of 9000 entries"


def test_a_text_is_cut_at_the_end_of_a_line_and_its_fence_is_closed() -> None:
    text = "head\n<untrusted-7>\n" + "said words\n" * 5_000 + "</untrusted-7>"
    found = truncated(Reply(text=text, data={}), 16_000)
    *_, last, close, note = found.text.splitlines()
    assert last == "said words…"
    assert close == "</untrusted-7>"
    assert note.startswith("Shortened: this text, ")


def test_one_thing_always_fits() -> None:
    assert count_that_fits([900, 10], 5) == 1
    assert count_that_fits([3, 3, 3], 7) == 2
    assert count_that_fits([], 7) == 0


@pytest.mark.parametrize("text", ["", "plain", 'q"uote' * 50, "ж" * 500, "\n" * 300])
def test_the_beginning_of_a_text_is_as_long_as_there_is_room(text: str) -> None:
    found = truncated_text(text, 200)
    assert text.startswith(found)
    assert json_bytes(found) <= 200
    assert found == text or json_bytes(text[: len(found) + 1]) > 200


def test_sizes_are_those_of_json_in_utf8() -> None:
    assert json_bytes({"a": 'ж"\n'}) == len(
        json.dumps({"a": 'ж"\n'}, ensure_ascii=False, separators=(",", ":")).encode()
    )
