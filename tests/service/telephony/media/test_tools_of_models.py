"""A model calls the tools of its agent in a spoken call: an imitation of a model, and a calendar on loopback."""

import json
from typing import Any

import anyio
import pytest

from callwright.contract.agents.call_tools import CallTool, EndCallTool, HttpTool
from callwright.service.telephony.engine import ToolCall
from tests.service.telephony.media.calls import FollowedCall, Line
from tests.service.telephony.media.sentences import COST, GREETING, YES
from tests.support.calendar_service import FREE, SECRET, Calendar, calendar

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("live-calls")]

OFFER = "I can offer Tuesday at ten or Wednesday at three."
BOOKED = "You are booked for Tuesday at ten."
SORRY = "I cannot reach the calendar, somebody will call you."
COSTS = "It costs twenty euros."
DAY = {"type": "object", "properties": {"day": {"type": "string"}}}
TIME = {"type": "object", "properties": {"time": {"type": "string", "enum": [*FREE]}}, "required": ["time"]}


def tools_of(service: Calendar, **free: Any) -> list[CallTool]:
    return [
        HttpTool.model_validate(
            {
                "type": "http",
                "name": "free_times",
                "description": "Free times.",
                "url": f"{service.url}/free",
                "parameters": DAY,
                "secret_headers": ["Authorization"],
                "meanwhile": YES,
                **free,
            }
        ),
        HttpTool.model_validate(
            {
                "type": "http",
                "name": "book",
                "description": "Books a time.",
                "method": "POST",
                "url": f"{service.url}/book",
                "body": {"time": "{{time}}", "note": "for {{time}}"},
                "parameters": TIME,
            }
        ),
        EndCallTool(type="end_call", name="end_call", description="Ends the call.", sentence="Goodbye then."),
    ]


def called(call: FollowedCall) -> list[ToolCall]:
    return [turn.tool_call for turn in call.turns() if turn.tool_call is not None]


@pytest.mark.requirement("CALLTOOL-01")
async def test_a_model_asks_a_calendar_offers_two_times_books_one_and_says_so(line: Line) -> None:
    line.service.answers = ([("free_times", {"day": "next week"})], OFFER, [("book", {"time": FREE[0]})], BOOKED)
    async with calendar() as service:
        secrets = {"free_times": {"Authorization": SECRET}}
        async with line.call(thinks=True, tools=tools_of(service), tool_secrets=secrets) as call:
            await call.turn("agent", 1)
            await call.say(COST)
            await call.turn("agent", 2)
            await call.page.send(type="text", text="Tuesday please.")
            await call.turn("agent", 3)
            await call.page.send(type="hang_up")
            await call.ended()
    assert [(turn.speaker, turn.text) for turn in call.turns()] == [
        ("agent", GREETING),
        ("contact", COST),
        ("system", ""),
        ("agent", OFFER),
        ("contact", "Tuesday please."),
        ("system", ""),
        ("agent", BOOKED),
    ]
    free, book = called(call)
    assert (free.name, json.loads(free.arguments), free.ok) == ("free_times", {"day": "next week"}, True)
    assert json.loads(free.result) == {"times": [*FREE]}
    assert (book.name, json.loads(book.result), book.ok) == ("book", {"booked": FREE[0], "reference": "B-17"}, True)
    assert service.asked == [("GET", "/free?day=next%20week"), ("POST", "/book")]
    assert service.booked == [{"time": FREE[0], "note": f"for {FREE[0]}"}]
    assert [headers.get("Authorization") for headers in service.headers] == [SECRET, None]
    offered = line.service.chats[0]["tools"]
    assert [each["function"]["name"] for each in offered] == ["free_times", "book", "end_call"]
    assert offered[1]["function"]["parameters"]["required"] == ["time"]
    results = [each for each in line.service.chats[-1]["messages"] if each["role"] == "tool"]
    assert [json.loads(each["content"])["result"] for each in results] == [free.result, book.result]
    assert SECRET not in json.dumps(line.service.chats)


@pytest.mark.requirement("CALLTOOL-02")
async def test_with_the_calendar_down_the_agent_says_so_and_goes_on(line: Line) -> None:
    line.service.answers = ([("free_times", {})], SORRY, "It costs twenty euros.")
    async with calendar() as service:
        tools = tools_of(service, secret_headers=[])
    async with line.call(thinks=True, tools=tools) as call:
        await call.turn("agent", 1)
        await call.page.send(type="text", text="Book me in.")
        await call.turn("agent", 2)
        await call.page.send(type="text", text="And the price?")
        await call.turn("agent", 3)
        await call.page.send(type="hang_up")
        await call.ended()
    assert [text for role, text in call.words() if role == "agent"][1:] == [SORRY, "It costs twenty euros."]
    (failed,) = called(call)
    assert (failed.ok, failed.name) == (False, "free_times")
    assert "refused the connection" in failed.result


@pytest.mark.requirement("CALLTOOL-03")
async def test_who_waits_longer_than_a_second_hears_a_sentence_meanwhile(line: Line) -> None:
    line.service.answers = ([("free_times", {})], OFFER)
    async with calendar() as service:
        service.delay_s = 2.5
        async with line.call(thinks=True, tools=tools_of(service, secret_headers=[])) as call:
            await call.turn("agent", 1)
            await call.page.send(type="text", text="Book me in.")
            await call.turn("agent", 3)
            await call.page.send(type="hang_up")
            await call.ended()
    assert [text for role, text in call.words() if role == "agent"][1:] == [YES, OFFER]
    assert called(call)[0].ok
    assert called(call)[0].latency_ms >= 2_500


@pytest.mark.requirement("CALLTOOL-04")
async def test_a_model_that_calls_a_tool_for_ever_is_stopped_and_the_call_goes_on(line: Line) -> None:
    line.service.answers = ([("free_times", {})],) * 6 + ("It costs twenty euros.",)
    async with calendar() as service:
        async with line.call(thinks=True, tools=tools_of(service, secret_headers=[]), fallback_sentence=SORRY) as call:
            await call.turn("agent", 1)
            await call.page.send(type="text", text="Book me in.")
            await call.turn("agent", 2)
            await call.page.send(type="text", text="And the price?")
            await call.turn("agent", 3)
            await call.page.send(type="hang_up")
            ended = await call.ended()
    assert [text for role, text in call.words() if role == "agent"][1:] == [SORRY, "It costs twenty euros."]
    assert [each.ok for each in called(call)] == [True] * 5 + [False]
    assert len(service.asked) == 5
    assert "The model called tools again and again without an answer." in ended.warnings


@pytest.mark.requirement("CALLTOOL-05")
async def test_an_interruption_while_a_tool_works_keeps_its_result_for_the_model(line: Line) -> None:
    line.service.answers = ([("free_times", {})], "One moment.", OFFER)
    async with calendar() as service:
        service.delay_s = 3.0
        async with line.call(thinks=True, tools=tools_of(service, secret_headers=[], meanwhile=COST)) as call:
            await call.turn("agent", 1)
            await call.page.send(type="text", text="Book me in.")
            with anyio.fail_after(20):
                await service.was_asked.wait()
            await call.page.send(type="text", text="Are you still there?")
            await call.says(OFFER)
            await call.page.send(type="hang_up")
            await call.ended()
    assert called(call)[0].ok
    told = json.dumps(line.service.chats[-1]["messages"])
    assert FREE[0] in told


@pytest.mark.requirement("CALLTOOL-06")
async def test_a_model_ends_the_call_with_the_tools_sentence(line: Line) -> None:
    line.service.answers = ([("end_call", {})],)
    async with calendar() as service:
        async with line.call(thinks=True, tools=tools_of(service)) as call:
            await call.turn("agent", 1)
            await call.page.send(type="text", text="That is all.")
            ended = await call.ended()
    assert call.words()[-1] == ("agent", "Goodbye then.")
    assert (ended.cause, ended.ended_by) == ("normal_clearing", "agent")


async def told_of(
    line: Line, service: Calendar, *answers: Any, says: str = OFFER
) -> tuple[FollowedCall, list[str], list[Any]]:
    """A call with one question: it, what its agent said then, and what the model was told of its tools.

    What is said while tools work is left out: on a busy machine they may take longer than a second.
    """
    line.service.answers = (*answers, COSTS)
    async with line.call(thinks=True, tools=tools_of(service, secret_headers=[]), fallback_sentence=SORRY) as call:
        await call.turn("agent", 1)
        await call.page.send(type="text", text="Book me in.")
        await call.says(says)
        await call.page.send(type="text", text="And the price?")
        await call.says(COSTS)
        await call.page.send(type="hang_up")
        ended = await call.ended()
    assert (ended.cause, ended.ended_by) == ("contact_hangup", "contact")
    assert len(line.service.chats) == len(line.service.answers)  # the tools of an answer are told together
    told = [each for each in line.service.chats[-1]["messages"] if each["role"] == "tool"]
    return call, [text for role, text in call.words() if role == "agent" and text != YES][1:], told


@pytest.mark.requirement("CALLTOOL-04")
async def test_of_eight_tools_in_one_answer_five_are_called_and_the_model_answers_with_them(line: Line) -> None:
    async with calendar() as service:
        service.delay_s = 0.2
        call, said, told = await told_of(line, service, [("free_times", {})] * 8, OFFER)
    assert said == [OFFER, COSTS]
    assert sorted(each.ok for each in called(call)) == [False] * 3 + [True] * 5
    assert len(service.asked) == 5
    assert sum("Too many tools" in each["content"] for each in told) == 3


@pytest.mark.requirement("CALLTOOL-04")
async def test_a_model_that_calls_eight_tools_again_and_again_has_the_fallback_said_once(line: Line) -> None:
    async with calendar() as service:
        call, said, _ = await told_of(line, service, *[[("book", {})] * 8] * 2, says=SORRY)
    assert said == [SORRY, COSTS]
    assert [each.ok for each in called(call)] == [False] * 16


@pytest.mark.requirement("CALLTOOL-04")
@pytest.mark.parametrize("call_id", ["", "the_same"])
async def test_tools_whose_ids_are_missing_or_equal_are_each_called_and_told(line: Line, call_id: str) -> None:
    line.service.call_id = call_id
    async with calendar() as service:
        service.delay_s = 0.2
        call, said, told = await told_of(line, service, [("book", {}), ("free_times", {})], [("free_times", {})], OFFER)
    assert said == [OFFER, COSTS]
    assert [each.ok for each in called(call)] == [False, True, True]
    assert len({each["tool_call_id"] for each in told}) == len(told)
    assert sum(FREE[0] in each["content"] for each in told) == 2


@pytest.mark.requirement("CALLTOOL-13")
@pytest.mark.parametrize("written", ['{"day": ', '["Monday"]', "Monday"])
async def test_arguments_that_are_no_object_are_told_to_the_model_and_stand_in_the_transcript(
    line: Line, written: str
) -> None:
    async with calendar() as service:
        call, said, told = await told_of(line, service, [("free_times", written)], OFFER)
    assert said == [OFFER, COSTS]
    (refused,) = called(call)
    assert (refused.ok, json.loads(refused.arguments)) == (False, written)
    assert "the arguments must be an object" in told[0]["content"]
    assert service.asked == []


@pytest.mark.requirement("CALLTOOL-02")
async def test_half_a_character_in_an_argument_is_replaced_and_the_call_goes_on(line: Line) -> None:
    async with calendar() as service:
        call, said, _ = await told_of(line, service, [("free_times", {"day": "Monday \ud800"})], OFFER)
    assert said == [OFFER, COSTS]
    assert [(each.ok, json.loads(each.arguments)) for each in called(call)] == [(True, {"day": "Monday \ufffd"})]
    assert service.asked == [("GET", "/free?day=Monday%20%EF%BF%BD")]
