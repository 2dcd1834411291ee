"""Hidden digits of a contact's number cannot be found by looking for one number after the other."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from mcp import Client
from mcp.server.mcpserver.exceptions import ToolError

from callwright.server.mcp.app import build
from callwright.tools.arguments.files import Folders
from callwright.tools.numbers.number_guesses import MOST_ALIKE, MOST_ALIKE_ADDED, NumberGuesses
from callwright.tools.serving.served import served_tools
from callwright.tools.serving.served_files import with_files
from tests.support.tools import samples
from tests.support.tools.fakes import ERAS, FakeCaller, assistant, server, session

QUESTIONS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("list_contacts", {"deployment_id": "dep_1"}, "phone_number"),
    ("list_audience_rows", {"audience_id": "aud_1"}, "phone_number"),
    ("list_calls", {}, "to"),
    ("list_audience_rows", {"audience_id": "aud_1"}, "external_id"),
)


async def _refusals(client: Client, tool: str, arguments: dict[str, Any], field: str) -> list[bool]:
    found = [await client.call_tool(tool, {**arguments, field: f"+1202{555 + i:03d}0100"}) for i in range(12)]
    return [result.is_error is True for result in found]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(("tool", "arguments", "field"), QUESTIONS)
async def test_a_few_numbers_that_look_alike_may_be_looked_for_and_no_more(
    tool: str, arguments: dict[str, Any], field: str, era: str
) -> None:
    async with assistant(server(FakeCaller()), era) as client:
        assert await _refusals(client, tool, arguments, field) == [False] * MOST_ALIKE + [True] * (12 - MOST_ALIKE)
        again = await client.call_tool(tool, {**arguments, field: "+12025550100"})
        other = await client.call_tool(tool, {**arguments, field: "+14155550101"})
        assert not again.is_error
        assert not other.is_error
        said = await client.call_tool(tool, {**arguments, field: "+12029990100"})
        assert "+1202•••0100" in str(said.content)
        assert "999" not in str(said.content)


@pytest.mark.parametrize(("tool", "arguments", "field"), QUESTIONS)
async def test_where_numbers_are_shown_whole_any_number_may_be_looked_for(
    tool: str, arguments: dict[str, Any], field: str
) -> None:
    async with assistant(server(FakeCaller(), masks=False), "auto") as client:
        assert await _refusals(client, tool, arguments, field) == [False] * 12


def _guessed(first: int, count: int) -> list[str]:
    """Numbers that differ in the digits that are hidden."""
    return [f"+1202{exchange}0100" for exchange in range(200 + first, 200 + first + count)]


def _rows(numbers: list[str]) -> dict[str, Any]:
    return {"rows": [{"phone_number": number} for number in numbers]}


def _csv(numbers: list[str]) -> dict[str, Any]:
    return {"csv": "\n".join(["first_name,phone_number", *(f"Ada,{number}" for number in numbers), ""])}


ADDING: tuple[tuple[str, dict[str, Any], Callable[[list[str]], dict[str, Any]]], ...] = (
    ("add_audience_rows", {"audience_id": "aud_1"}, _rows),
    ("create_audience", {"name": "B"}, _rows),
    ("import_audience", {"audience_id": "aud_1"}, _csv),
)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(("tool", "arguments", "given"), ADDING)
async def test_numbers_that_look_alike_are_not_added_to_learn_from_the_duplicates(
    tool: str, arguments: dict[str, Any], given: Callable[[list[str]], dict[str, Any]], era: str
) -> None:
    caller = FakeCaller()
    async with assistant(server(caller), era) as client:
        at_once = await client.call_tool(tool, {**arguments, **given(_guessed(0, MOST_ALIKE_ADDED + 1))})
        assert at_once.is_error
        assert tool not in caller.names()
        assert "Nothing was added" in str(at_once.content)
        assert "Leave out such rows and call again" in str(at_once.content)
        assert "+12022" not in str(at_once.content)
        halves = [await client.call_tool(tool, {**arguments, **given(_guessed(i, 15))}) for i in (0, 15, 0, 30)]
        assert [half.is_error is True for half in halves] == [False, False, False, True]
        other = await client.call_tool(tool, {**arguments, **given(["+14155550101"])})
        assert not other.is_error


def _ends_in_cr(numbers: list[str]) -> dict[str, Any]:
    return {"csv": "\r".join(["first_name,phone_number", *(f"Ada,{number}" for number in numbers)])}


def _begins_with_nothing(numbers: list[str]) -> dict[str, Any]:
    return {"csv": "\r\n\n" + _csv(numbers)["csv"]}


def _floats(numbers: list[str]) -> dict[str, Any]:
    return {"default_country": "US", "rows": [{"phone_number": int(number[2:]) / 10_000} for number in numbers]}


def _beside_a_decoy(numbers: list[str]) -> dict[str, Any]:
    return {"rows": [{"number": number, "my_phone": "5"} for number in numbers]}


def _with_another_column_last(numbers: list[str]) -> dict[str, Any]:
    return {"rows": [*({"mobile": number} for number in numbers), {"phone_number": "+14155550101"}]}


@pytest.mark.parametrize(
    ("tool", "arguments", "given"),
    [
        ("import_audience", {"audience_id": "aud_1"}, _ends_in_cr),
        ("import_audience", {"audience_id": "aud_1"}, _begins_with_nothing),
        ("create_audience", {"name": "B"}, _floats),
        ("create_audience", {"name": "B"}, _beside_a_decoy),
        ("create_audience", {"name": "B"}, _with_another_column_last),
        ("add_audience_rows", {"audience_id": "aud_1"}, _beside_a_decoy),
        ("add_audience_rows", {"audience_id": "aud_1"}, _with_another_column_last),
    ],
)
async def test_numbers_are_counted_where_the_service_reads_them_whatever_stands_around(
    tool: str, arguments: dict[str, Any], given: Callable[[list[str]], dict[str, Any]]
) -> None:
    caller = FakeCaller(answers=samples.answers() | {"get_audience": samples.audience(phone_column=None)})
    async with assistant(server(caller), "auto") as client:
        at_once = await client.call_tool(tool, {**arguments, **given(_guessed(0, MOST_ALIKE_ADDED + 1))})
        assert at_once.is_error
        assert tool not in caller.names()
        assert not (await client.call_tool(tool, {**arguments, **given(_guessed(0, 5))})).is_error


@pytest.mark.parametrize(("tool", "arguments", "given"), ADDING)
async def test_where_numbers_are_shown_whole_any_number_may_be_added(
    tool: str, arguments: dict[str, Any], given: Callable[[list[str]], dict[str, Any]]
) -> None:
    async with assistant(server(FakeCaller(), masks=False), "auto") as client:
        assert not (await client.call_tool(tool, {**arguments, **given(_guessed(0, 100))})).is_error


SPELT = ("({}) {}-{}", "1 {} {} {}", "+1-{}.{}.{}", "tel:+1{}{}{}", "+1 {} {} {} ext. 5")


async def test_a_number_counts_once_however_it_is_written_and_in_whatever_column() -> None:
    audience = samples.audience(phone_column="who", default_country="US")
    caller = FakeCaller(answers=samples.answers() | {"get_audience": audience})
    async with assistant(server(caller), "auto") as client:
        for i, spelt in enumerate(SPELT):
            rows = [{"who": spelt.format(202, 200 + 6 * i + j, "ADGJ"), "phone_number": ""} for j in range(6)]
            assert not (await client.call_tool("add_audience_rows", {"audience_id": "aud_1", "rows": rows})).is_error
        last = await client.call_tool("add_audience_rows", {"audience_id": "aud_1", "rows": [{"who": "+12029992345"}]})
    assert last.is_error


async def test_ordinary_lists_are_added_thousands_of_people_at_a_time() -> None:
    seeded = Random(7)
    people = [f"+1202{seeded.randrange(200, 1_000)}{seeded.randrange(10_000):04d}" for _ in range(20_000)]
    company = [f"+4930901820{extension:02d}" for extension in range(30)]
    async with assistant(server(FakeCaller()), "auto") as client:
        for numbers in (people[:8_000], people[8_000:], company):
            assert not (await client.call_tool("import_audience", {"audience_id": "aud_1", **_csv(numbers)})).is_error


def test_many_other_people_do_not_make_it_forget_what_was_tried() -> None:
    guesses = NumberGuesses()
    guesses.note_added(_guessed(0, MOST_ALIKE_ADDED))
    guesses.note_added(f"+4917{i:09d}" for i in range(50_000))
    with pytest.raises(ToolError, match="Nothing was added"):
        guesses.note_added(_guessed(MOST_ALIKE_ADDED, 1))


async def test_a_file_in_a_folder_is_counted_as_well(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(_csv(_guessed(0, MOST_ALIKE_ADDED + 1))["csv"])
    caller = FakeCaller()
    built = build(session(caller).opened, tools=with_files(served_tools(), Folders([tmp_path])))
    async with assistant(built, "auto") as client:
        result = await client.call_tool(
            "import_audience", {"audience_id": "aud_1", "path": str(tmp_path / "people.csv")}
        )
    assert result.is_error
    assert "Nothing was added" in str(result.content)
    assert "import_audience" not in caller.names()
