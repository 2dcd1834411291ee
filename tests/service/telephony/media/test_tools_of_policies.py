"""An agent without a model calls its tools at the words of the contact; and the tools of a line that a model calls."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from callwright.contract.agents.call_tools import CallBackTool, EndCallTool, HttpTool, PressKeysTool
from callwright.service.telephony.engine import ToolCall
from callwright.service.telephony.media.messages import ToolAsks
from callwright.service.telephony.media.tools.results import NOT_KNOWN
from tests.service.telephony.media.calls import FollowedCall, Line
from tests.service.telephony.media.sentences import GREETING, QUESTION, YES
from tests.service.telephony.media.tones import has_tones
from tests.support.calendar_service import FREE, Calendar, calendar

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("live-calls")]

OFFER = f"There is {FREE[0]} and {FREE[1]}. Which one suits you?"


def booking(service: Calendar) -> list[HttpTool]:
    free = {"words": ["suits me"], "say": "There is {{answer.times.0}} and {{answer.times.1}}. Which one suits you?"}
    free["say_if_failed"] = "I cannot reach the calendar."
    time = {"type": "object", "properties": {"time": {"type": "string"}}, "required": ["time"]}
    book = {"after": "free_times", "say": "You are booked for {{time}}."}
    plain = {"type": "http", "description": "Asks the calendar."}
    return [
        HttpTool.model_validate(
            {**plain, "name": "free_times", "url": f"{service.url}/free", "use_when": free, "meanwhile": "One moment."}
        ),
        HttpTool.model_validate(
            {**plain, "name": "book", "method": "POST", "url": f"{service.url}/book"}
            | {"parameters": time, "use_when": book}
        ),
    ]


def called(call: FollowedCall) -> list[ToolCall]:
    return [turn.tool_call for turn in call.turns() if turn.tool_call is not None]


def said(call: FollowedCall) -> list[str]:
    return [text for speaker, text in call.words() if speaker == "agent"]


@pytest.mark.requirement("CALLTOOL-14")
async def test_an_agent_without_a_model_books_at_the_words_of_the_contact(line: Line) -> None:
    async with calendar() as service:
        service.delay_s = 1.5
        async with line.call(tools=booking(service)) as call:
            await call.turn("agent", 1)
            await call.say(YES)
            await call.says(OFFER)
            await call.page.send(type="text", text="On Wednesday, please.")
            await call.says(f"You are booked for {FREE[1]}. {QUESTION}")
            await call.page.send(type="hang_up")
            await call.ended()
    assert said(call)[:3] == [GREETING, "One moment.", OFFER]
    free, book = called(call)
    assert (free.ok, json.loads(book.arguments), book.ok) == (True, {"time": FREE[1]}, True)
    assert service.booked == [{"time": FREE[1]}]
    assert [turn.source for turn in call.turns() if turn.tool_call is not None] == ["policy", "policy"]


@pytest.mark.requirement("CALLTOOL-14", "CALLTOOL-02")
async def test_without_its_calendar_an_agent_without_a_model_says_so_and_goes_on(line: Line) -> None:
    async with calendar() as service:
        tools = booking(service)
    async with line.call(tools=tools) as call:
        await call.turn("agent", 1)
        await call.page.send(type="text", text=YES)
        await call.says(f"I cannot reach the calendar. {QUESTION}")
        await call.page.send(type="hang_up")
        await call.ended()
    assert [each.ok for each in called(call)] == [False]


@pytest.mark.requirement("CALLTOOL-06", "CALLTOOL-13")
async def test_a_model_presses_keys_and_is_told_of_arguments_that_do_not_fit(line: Line) -> None:
    line.service.answers = ([("press", {"keys": "one"}), ("nobody", {})], [("press", {"keys": "1#"})], "Thank you.")
    tools = [PressKeysTool(type="press_keys", name="press", description="Presses keys.")]
    async with line.call(thinks=True, hears=False, welcome="", tools=tools) as call:
        await call.page.send(type="text", text="Press one.")
        await call.page.heard(0.5)
        await call.page.send(type="text", text="Thanks.")
        await call.says("Thank you.")
        await call.page.send(type="hang_up")
        await call.ended()
    assert has_tones(bytes(call.page.sound), 697, 1_209)  # 1
    assert has_tones(bytes(call.page.sound), 941, 1_477)  # #
    wrong, unknown, pressed = sorted(called(call), key=lambda each: (each.ok, each.name != "press"))
    assert "digits" in wrong.result
    assert "There is no tool nobody; there are press." in unknown.result
    assert (pressed.ok, pressed.result) == (True, "Pressed 1#.")


@pytest.mark.requirement("CALLTOOL-06")
async def test_a_moment_that_the_person_named_is_noted_for_the_campaign(line: Line) -> None:
    moment = datetime.now(UTC).replace(microsecond=0) + timedelta(days=2)
    named = {"when": f"{moment:%Y-%m-%dT%H:%M:%S}", "time_zone": "UTC"}
    past = {"when": "2020-01-01T10:00", "time_zone": "UTC"}
    line.service.answers = (
        [("call_back", past)],
        [("call_back", {"when": named["when"]})],
        [("call_back", named)],
        "We call you then.",
    )
    tools = [
        CallBackTool(type="call_back_at", name="call_back", description="Notes a callback."),
        EndCallTool(type="end_call", name="end_call", description="Ends the call."),
    ]
    async with line.call(thinks=True, hears=False, welcome="", tools=tools) as call:
        await call.page.send(type="text", text="Call me on Sunday.")
        await call.says("We call you then.")
        await call.page.send(type="hang_up")
        ended = await call.ended()
    assert [each.ok for each in called(call)] == [False, False, True]
    assert "has passed" in called(call)[0].result
    assert "time_zone is missing" in called(call)[1].result
    assert ended.disposition == "callback_requested"
    assert ended.callback_after_s is not None
    expected_s = (moment - datetime.now(UTC)).total_seconds()
    assert abs(ended.callback_after_s - expected_s) < 60
    offered = line.service.chats[0]["tools"][0]["function"]["description"]
    assert f"It is {datetime.now(UTC):%A}" in offered


@pytest.mark.requirement("CALLTOOL-19")
async def test_a_booking_is_told_to_the_host_before_it_is_sent_and_then_has_its_result(line: Line) -> None:
    async with calendar() as service:
        service.delay_s = 1.0
        async with line.call(tools=booking(service), hears=False) as call:
            await call.turn("agent", 1)
            await call.page.send(type="text", text=YES)
            asks = await line.media.reports.wait_for(ToolAsks, lambda one: one.call_id == call.call_id, within_s=30)
            assert called(call) == []
            await call.says(OFFER)
            await call.page.send(type="hang_up")
            await call.ended()
    assert asks.turn.tool_call is not None
    assert (asks.turn.tool_call.name, asks.turn.tool_call.ok) == ("free_times", False)
    assert asks.turn.tool_call.result == NOT_KNOWN
    (answered,) = [turn for turn in call.turns() if turn.tool_call is not None]
    assert (answered.index, answered.start_s) == (asks.turn.index, asks.turn.start_s)
    assert [each.ok for each in called(call)] == [True]


@pytest.mark.requirement("CALLTOOL-19")
async def test_nothing_is_sent_while_the_host_has_not_kept_it(line: Line) -> None:
    line.media.reports.keeps_tools = False
    try:
        async with calendar() as service, line.call(tools=booking(service), hears=False) as call:
            await call.turn("agent", 1)
            await call.page.send(type="text", text=YES)
            await call.says(f"I cannot reach the calendar. {QUESTION}")
            await call.page.send(type="hang_up")
            await call.ended()
            assert service.asked == []
    finally:
        line.media.reports.keeps_tools = True
    assert [each.ok for each in called(call)] == [False]
    assert "nothing was sent" in called(call)[0].result
