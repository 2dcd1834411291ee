"""Arguments whose meaning is plain are taken in many forms, and all others are refused, through the protocol."""

from typing import Any

import pytest

from callwright.tools.arguments.understood import Understood
from callwright.tools.catalogue.registry import TOOLS, tool_named
from callwright.tools.runtime.tool import Tool
from tests.support.tools import samples
from tests.support.tools.fakes import FakeCaller, assistant, server
from tests.support.tools.results import text_of
from tests.support.tools.tool_calls import DRAFT, first_line, refused, taken

each_tool = pytest.mark.parametrize("tool", TOOLS, ids=[tool.name for tool in TOOLS])


def hours(days: object = "mon", start: object = "09:00", end: object = "17:00") -> dict[str, Any]:
    return {"windows": [{"days": days, "start": start, "end": end}]}


@pytest.mark.parametrize(("given", "read"), [("de", "DE"), ("Us", "US"), ("DE", "DE")])
async def test_a_country_may_be_in_small_letters(given: str, read: str) -> None:
    assert await taken("create_audience", name="de", default_country=given) == {"name": "de", "default_country": read}
    assert (await taken("search_available_numbers", country=given))["country"] == read


async def test_the_name_of_a_country_is_no_code() -> None:
    assert "default_country" in await refused("create_audience", name="People", default_country="Germany")


# ---- names


@each_tool
def test_what_a_tool_acts_on_has_one_name_everywhere(tool: Tool) -> None:
    kinds = {
        "agent",
        "audience",
        "deployment",
        "phone_number",
        "voice",
        "webhook",
        "event",
        "call",
        "compliance_review",
        "do_not_call",
    }
    assert {name.removesuffix("_id") for name in tool.shown_names.values()} <= kinds
    assert len(set(map(tool.shown, tool.offered))) == len(tool.offered)


@pytest.mark.parametrize(
    ("name", "own", "shown", "value"),
    [
        ("get_agent", "id", "agent_id", "agt_1"),
        ("get_audience", "id", "audience_id", "aud_1"),
        ("get_deployment", "id", "deployment_id", "dep_1"),
        ("get_phone_number", "id", "phone_number_id", "num_1"),
        ("get_voice", "id", "voice_id", "en-US-ada"),
        ("get_webhook", "id", "webhook_id", "whk_1"),
        ("get_event", "id", "event_id", "evt_1"),
        ("get_call", "call_uuid", "call_id", "cal_1"),
    ],
)
async def test_the_name_of_the_contract_is_understood_too_but_not_two_values(
    name: str, own: str, shown: str, value: str
) -> None:
    assert await taken(name, **{shown: value}) == {own: value}
    assert await taken(name, **{own: value}) == {own: value}
    assert await taken(name, **{own: value, shown: value}) == {own: value}
    said = await refused(name, **{own: "other_1", shown: value})
    assert said == f"{shown}: is given twice, as {own} with another value; give {shown} alone."


async def test_a_value_beside_null_is_two_values() -> None:
    assert "is given twice" in await refused("get_agent", id=None, agent_id="agt_1")


async def test_errors_name_the_name_that_is_shown() -> None:
    assert (await refused("get_agent", id=7)) == "agent_id: should be text"
    assert (await refused("get_agent")) == "agent_id: required"


async def test_what_the_tools_describe_holds_no_name_of_the_contract() -> None:
    async with assistant(server(FakeCaller()), "auto") as client:
        tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools if {"id", "call_uuid"} & set(tool.input_schema["properties"])] == []


async def test_a_name_without_id_at_its_end_is_the_argument_with_it() -> None:
    assert (await taken("get_agent", agent="agt_1"))["id"] == "agt_1"
    assert (await taken("list_contacts", deployment="dep_1"))["id"] == "dep_1"
    assert "agent: unknown argument" in await refused("get_agent", agent="agt_1", agent_id="agt_2")


@pytest.mark.parametrize("other", ["limit", "page_size"])
async def test_a_page_has_its_size_by_the_names_that_others_use(other: str) -> None:
    assert (await taken("list_calls", **{other: 7}))["per_page"] == 7
    assert f"{other}: unknown argument" in await refused("list_calls", per_page=5, **{other: 7})
    assert f"{other}: unknown argument" in await refused("get_agent", agent_id="agt_1", **{other: 7})


# ---- one for a list


@pytest.mark.parametrize(
    ("name", "given", "argument", "found"),
    [
        ("list_calls", {"outcome": "answered"}, "outcome", ["answered"]),
        ("list_calls", {"outcome": ["answered", "busy"]}, "outcome", ["answered", "busy"]),
        ("list_calls", {"outcome": '["answered"]'}, "outcome", ["answered"]),
        ("list_calls", {"status": "In Progress"}, "status", ["in_progress"]),
        ("list_calls", {"disposition": "Do-Not-Call"}, "disposition", ["do_not_call"]),
        ("create_deployment", {**DRAFT, "phone_number_ids": "num_1"}, "phone_number_ids", ["num_1"]),
        ("get_call_stats", {"group_by": "outcome"}, "group_by", ["outcome"]),
        ("get_call_stats", {"group_by": ["Deployment", "agent"]}, "group_by", ["deployment_id", "agent_id"]),
        ("add_audience_rows", {"audience_id": "aud_1", "rows": {"phone": "1"}}, "rows", [{"phone": "1"}]),
    ],
)
async def test_a_single_value_stands_for_a_list_of_one(
    name: str, given: dict[str, Any], argument: str, found: list[Any]
) -> None:
    assert (await taken(name, **given))[argument] == found


@pytest.mark.parametrize(
    ("name", "given", "place"),
    [
        ("get_agent", {"agent_id": ["agt_1"]}, "agent_id: should be text"),
        ("search_transcripts", {"query": ["price"]}, "query: should be text"),
        ("search_transcripts", {"query": {"words": "price"}}, "query: should be text"),
        ("list_calls", {"outcome": [["answered"]]}, "outcome.0: should be "),
        ("list_calls", {"outcome": {"is": "answered"}}, "outcome.0: should be "),
        ("list_calls", {"outcome": "answered, busy"}, "outcome.0: should be "),
        ("create_deployment", {**DRAFT, "phone_number_ids": ""}, "phone_number_ids: is empty"),
        ("create_deployment", {**DRAFT, "phone_number_ids": 7}, "phone_number_ids.0: should be text"),
        ("create_deployment", {**DRAFT, "retry_policy": [{"max_attempts": 2}]}, "retry_policy: should be an object"),
        ("create_deployment", {**DRAFT, "calling_hours": "always"}, "calling_hours: should be an object"),
    ],
)
async def test_a_list_or_an_object_stands_for_nothing_else(name: str, given: dict[str, Any], place: str) -> None:
    assert (await refused(name, **given)).startswith(place)


# ---- days and hours


@pytest.mark.parametrize(
    ("days", "found"),
    [
        ("mon", ["mon"]),
        ("Monday", ["mon"]),
        (["Mon", "TUESDAY", " wed ", "Thurs", "fri."], ["mon", "tue", "wed", "thu", "fri"]),
    ],
)
async def test_days_are_taken_by_their_names(days: object, found: list[str]) -> None:
    asked = await taken("create_deployment", **DRAFT, calling_hours=hours(days))
    assert asked["calling_hours"]["windows"][0]["days"] == found


@pytest.mark.parametrize(
    "day", ["Foo", "monkey", "mo", "m", "", "sunk", "mon, tue", "weekdays", "montag", 1, ["mon"], {}]
)
async def test_what_is_no_day_is_refused_by_its_place(day: object) -> None:
    said = await refused("create_deployment", **DRAFT, calling_hours=hours(["tue", day]))
    assert said.startswith("calling_hours.windows.0.days.1: should be 'mon', 'tue', 'wed', ")


@pytest.mark.parametrize(
    ("written", "found"),
    [
        *(("9", "09:00"), ("9:00", "09:00"), ("09:00", "09:00"), ("9am", "09:00"), ("9 AM", "09:00")),
        *(("9:30 a.m.", "09:30"), ("12am", "00:00"), ("0:05", "00:05"), ("11:59am", "11:59")),
    ],
)
async def test_an_hour_is_taken_as_it_is_written(written: str, found: str) -> None:
    asked = await taken("create_deployment", **DRAFT, calling_hours=hours(start=written, end="12pm"))
    assert asked["calling_hours"]["windows"] == [{"days": ["mon"], "start": found, "end": "12:00"}]


@pytest.mark.parametrize(
    "written",
    [
        "25:00",
        "9:60",
        "9:5",
        "13pm",
        "0am",
        "noon",
        "",
        "9:00:00",
        "-9:00",
        "9.30",
        "nine",
        "٩:00",
        9,
        9.5,
        True,
        ["9"],
    ],
    ids=str,
)
async def test_what_is_no_hour_is_refused_by_its_place(written: object) -> None:
    said = await refused("create_deployment", **DRAFT, calling_hours=hours(start=written))
    assert said.startswith("calling_hours.windows.0.start: ")


async def test_hours_sent_as_json_text_are_understood_like_the_object() -> None:
    text = '{"windows": [{"days": "Monday", "start": "9am", "end": "5pm"}]}'
    asked = await taken("create_deployment", **DRAFT, calling_hours=text)
    assert asked["calling_hours"]["windows"] == [{"days": ["mon"], "start": "09:00", "end": "17:00"}]


# ---- numbers and truth as text


async def test_numbers_and_truth_may_be_text() -> None:
    given = {"max_concurrency": " 5 ", "calls_per_second": "2.5", "auto_start": "False"}
    asked = await taken("create_deployment", **DRAFT, **given, retry_policy={"max_attempts": "2", "retry_on": "busy"})
    assert (asked["max_concurrency"], asked["calls_per_second"], asked["auto_start"]) == (5, 2.5, False)
    assert asked["retry_policy"] == {"max_attempts": 2, "retry_on": ["busy"]}


@pytest.mark.parametrize("given", ["5.5", "five", "", "1e2", "٥", "0x5", True, 5.5, [5], float("nan"), 10**30])
async def test_what_is_no_whole_number_is_refused(given: object) -> None:
    assert (await refused("create_deployment", **DRAFT, max_concurrency=given)).startswith("max_concurrency: ")


@pytest.mark.parametrize("given", ["fast", "1e1", "nan", "inf", True, float("inf"), "1_0", [1]])
async def test_what_is_no_number_is_refused(given: object) -> None:
    assert (await refused("create_deployment", **DRAFT, calls_per_second=given)).startswith("calls_per_second: ")


@pytest.mark.parametrize("given", ["yes", "no", "1", "", 1, 0, [True], "truely"])
async def test_what_is_not_true_or_false_is_refused(given: object) -> None:
    said = await refused("create_deployment", **DRAFT, auto_start=given)
    assert said == "auto_start: should be true or false"


async def test_text_stays_text_where_text_is_meant() -> None:
    asked = await taken("create_deployment", **{**DRAFT, "name": "25 USD"})
    assert asked["name"] == "25 USD"
    rows = [{"phone": "1", "paid": "true", "day": "Monday", "sum": "25 USD", "count": "5"}]
    assert (await taken("add_audience_rows", audience_id="aud_1", rows=rows))["rows"] == rows


# ---- moments


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2026-11-21", "2026-11-21T00:00:00Z"),
        ("2026-11-21 09:30", "2026-11-21T09:30Z"),
        ("2026-11-21T09:30:15", "2026-11-21T09:30:15Z"),
    ],
)
async def test_a_day_or_a_naive_moment_is_read_as_utc_and_the_answer_says_so(written: str, read: str) -> None:
    asked = await taken("list_calls", created_from=written)
    assert asked["created_from"] == (read if read.count(":") == 2 else read.replace("Z", ":00Z"))
    assert await first_line("list_calls", created_from=written) == f"{written} was read as {read} (UTC)."


async def test_a_moment_with_its_offset_is_taken_without_a_word() -> None:
    given = "2026-11-21T10:30:00+01:00"
    assert (await taken("list_calls", created_from=given))["created_from"] == "2026-11-21T09:30:00Z"
    assert "was read as" not in await first_line("list_calls", created_from=given)


@pytest.mark.parametrize(
    "given",
    [
        "yesterday",
        "21.11.2026",
        "2026-13-45",
        "2026-02-30",
        "2026-11-21 25:00",
        "09:30",
        "",
        1_700_000_000,
        ["2026-11-21"],
    ],
)
async def test_what_is_no_moment_is_refused(given: object) -> None:
    assert (await refused("list_calls", created_from=given)).startswith("created_from: should be a moment")


# ---- too much


@pytest.mark.parametrize(
    ("name", "given", "argument", "most"),
    [
        ("get_deployment", {"deployment_id": "dep_1"}, "wait_seconds", 45),
        ("list_calls", {}, "per_page", 200),
        ("get_transcript", {"call_id": "cal_1"}, "max_tokens", 20_000),
        ("read_conversations", {}, "max_tokens", 20_000),
        ("search_transcripts", {"query": "price"}, "snippets", 10),
    ],
)
async def test_what_is_above_the_most_is_the_most_and_the_answer_says_so(
    name: str, given: dict[str, Any], argument: str, most: int
) -> None:
    for value in (most + 1, str(most + 1), 10**30):
        tool = tool_named(name)
        assert Understood(tool, {**given, argument: value}).arguments[argument] == most
    caller = FakeCaller(answers=samples.answers() | {"get_deployment": samples.deployment(status="completed")})
    async with assistant(server(caller), "auto") as client:
        result = await client.call_tool(name, {**given, argument: most + 1})
        plain = await client.call_tool(name, {**given, argument: most})
    assert text_of(result).splitlines()[0] == f"{argument}: at most {most}, so {most} was taken."
    assert "was taken" not in text_of(plain)


@pytest.mark.parametrize("given", [0, -1, 201.0, 1e9, float("inf"), True, "lots", [500]])
async def test_a_page_of_another_size_is_refused(given: object) -> None:
    assert (await refused("list_calls", per_page=given)).startswith("per_page: ")


@pytest.mark.parametrize(
    ("argument", "value"), [("max_concurrency", 1_001), ("max_call_duration_seconds", 3_601), ("calls_per_second", 101)]
)
async def test_a_setting_above_its_most_is_refused_and_not_shortened(argument: str, value: int) -> None:
    assert (await refused("create_deployment", **DRAFT, **{argument: value})).startswith(f"{argument}: must be at most")
