"""What a page may do with the websocket of its call, and how a call ends whose page does otherwise."""

import json
from contextlib import suppress

import anyio
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from callwright.service.telephony.media.messages import Limits
from tests.service.telephony.media.caller import FRAME, caller
from tests.service.telephony.media.calls import Line
from tests.service.telephony.media.sentences import GREETING, LONG, MESSAGE, PRICE, QUESTION, YES

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("live-calls")]


async def test_a_typed_turn_is_answered_like_a_spoken_one(line: Line) -> None:
    async with line.call(hears=False) as call:
        await call.turn("agent", 1)
        await call.page.send(type="text", text="How much does it cost?")
        await call.turn("agent", 2)
        await call.page.send(type="hang_up")
        ended = await call.ended()
    assert call.words()[1:3] == [("contact", "How much does it cost?"), ("agent", f"{PRICE} {QUESTION}")]
    assert call.turns()[1].source == "human"
    assert (ended.cause, ended.answered_by) == ("contact_hangup", "human")


async def test_a_typed_turn_interrupts_the_agent(line: Line) -> None:
    async with line.call(hears=False, welcome=LONG) as call:
        await call.page.heard(1.0)
        await call.page.send(type="text", text=YES)
        await call.page.wait_for(lambda message: message["type"] == "clear")
        await call.page.send(type="hang_up")
        await call.ended()
    first = call.turns()[0]
    assert (first.speaker, first.interrupted) == ("agent", True)
    assert LONG.startswith(first.text)


async def test_keys_are_joined_to_entries(line: Line) -> None:
    async with line.call(hears=False, welcome="") as call:
        for digits in ("1", "2", "3#"):
            await call.page.send(type="keys", digits=digits)
        await call.page.send(type="keys", digits="4")
        await call.turn("contact", 2)
        await call.page.send(type="hang_up")
        await call.ended()
    entered = [(each.keys, each.turn.text, each.turn.source) for each in call.said() if each.turn.speaker == "contact"]
    assert entered == [("123#", "", "human"), ("4", "", "human")]


async def test_the_key_nine_alone_asks_for_no_more_calls(line: Line) -> None:
    async with line.call(hears=False) as call:
        await call.page.heard(0.2)
        await call.page.send(type="keys", digits="9#")
        await call.turn("contact", 1)
        await call.page.send(type="keys", digits="9")
        await call.turn("contact", 2)
        await call.page.heard(1.0, more=True)
        await call.page.send(type="hang_up")
        ended = await call.ended()
    assert ended.disposition == "do_not_call"
    assert call.turns()[-1].text.startswith(("Understood.", "Of course."))


async def test_a_call_without_any_sound_ends(line: Line) -> None:
    async with line.call(muted=True, limits=Limits(no_audio_s=1.0)) as call:
        ended = await call.ended()
        assert await call.page.closed() == 1000
    assert (ended.cause, ended.ended_by) == ("no_audio", "platform")


async def test_a_page_without_a_microphone_may_type(line: Line) -> None:
    async with line.call(muted=True, welcome="", limits=Limits(no_audio_s=1.5)) as call:
        await call.page.send(type="text", text="How much does it cost?")
        await call.page.heard(1.6)
        await call.page.send(type="hang_up")
        ended = await call.ended()
    assert ended.cause == "contact_hangup"


async def test_sound_that_stops_ends_the_call_as_a_fault_of_the_line(line: Line) -> None:
    async with line.call(welcome="", limits=Limits(no_audio_s=1.0)) as call:
        await call.say(YES)
        call.page.mute()
        ended = await call.ended()
    assert (ended.cause, ended.ended_by) == ("network_error", "carrier")


async def test_a_call_ends_after_its_longest_time(line: Line) -> None:
    async with line.call(welcome=LONG, limits=Limits(longest_s=1.5)) as call:
        ended = await call.ended()
    assert (ended.cause, ended.ended_by) == ("max_duration", "platform")
    assert ended.talk_s >= 1.5
    assert [(turn.speaker, turn.interrupted) for turn in call.turns()] == [("agent", True)]


async def test_the_host_ends_a_call_with_a_sentence(line: Line) -> None:
    async with line.call(welcome=LONG) as call:
        await call.page.heard(0.5)
        await call.hang_up(MESSAGE, cause="budget_reached", ended_by="platform")
        ended = await call.ended()
    assert (ended.cause, ended.ended_by) == ("budget_reached", "platform")
    assert [turn.interrupted for turn in call.turns()] == [True, False]
    assert call.words()[1] == ("agent", MESSAGE)


async def test_the_host_ends_a_call_at_once(line: Line) -> None:
    async with line.call() as call:
        await call.page.heard(0.2)
        await call.hang_up(cause="normal_clearing", ended_by="api")
        ended = await call.ended()
    assert (ended.cause, ended.ended_by) == ("normal_clearing", "api")


async def test_a_page_that_closes_has_hung_up_and_a_lost_one_is_a_fault_of_the_line(line: Line) -> None:
    async with line.call(welcome="") as call:
        await call.page.connection.close()
        closed = await call.ended()
    async with line.call(welcome="") as call:
        call.page.connection.transport.abort()
        lost = await call.ended()
    assert (closed.cause, closed.ended_by) == ("contact_hangup", "contact")
    assert (lost.cause, lost.ended_by) == ("network_error", "carrier")


@pytest.mark.parametrize(
    ("sent", "warning"),
    [
        (b"\x00" * 641, "The page sent sound of a wrong size."),
        (b"\x00" * 40_000, None),
        ("{", "The page sent a message that is none of a call."),
        (json.dumps({"type": "keys", "digits": "12a"}), "The page sent a message that is none of a call."),
        (json.dumps({"type": "text", "text": "x" * 1_001}), "The page sent a message that is none of a call."),
        (json.dumps({"type": "text", "text": " "}), "The page sent a message that is none of a call."),
    ],
    ids=["odd", "large", "no-json", "no-keys", "long-text", "empty-text"],
)
async def test_what_is_no_message_of_a_call_ends_it(line: Line, sent: bytes | str, warning: str | None) -> None:
    async with line.call(welcome="") as call:
        await call.page.connection.send(sent)
        ended = await call.ended()
        assert await call.page.closed() in (1008, 1009)
    assert (ended.cause, ended.ended_by) == ("network_error", "carrier")
    assert ended.warnings == ((warning,) if warning else ())


@pytest.mark.parametrize("kind", ["sound", "text"])
async def test_a_flood_ends_the_call(line: Line, kind: str) -> None:
    message = bytes(FRAME * 10) if kind == "sound" else json.dumps({"type": "keys", "digits": "1"})
    async with line.call(welcome="") as call:
        with anyio.fail_after(30), suppress(ConnectionClosed):
            while True:
                await call.page.connection.send(message)
        ended = await call.ended()
    assert ended.cause == "network_error"
    assert ended.warnings in (
        ("The page sent more sound than time has passed.",),
        ("The page sent too many messages.",),
    )


async def test_a_token_opens_one_websocket_once(line: Line) -> None:
    order = line.order(welcome="")
    await line.begin(order)
    for wrong in ("x" * 32, order.token[:-1], order.token + "0", ""):
        with pytest.raises(InvalidStatus, match="401"):
            async with caller(line.media.port, wrong):
                pass
    async with caller(line.media.port, order.token) as page:
        with pytest.raises(InvalidStatus, match="401"):
            async with caller(line.media.port, order.token):
                pass
        await page.send(type="hang_up")
        ended = await line.media.ended(order.request.call_id)
    assert ended.cause == "contact_hangup"


async def test_a_call_that_nobody_opens_was_not_answered(line: Line) -> None:
    order = line.order(ring_timeout_s=0.5)
    await line.begin(order)
    ended = await line.media.ended(order.request.call_id)
    assert (ended.cause, ended.answered_by, ended.talk_s) == ("no_answer", None, 0.0)
    with pytest.raises(InvalidStatus, match="401"):
        async with caller(line.media.port, order.token):
            pass


async def test_a_recording_on_a_full_disk_ends_with_a_warning_and_the_call_goes_on(line: Line) -> None:
    async with line.call(hears=False, recording="/dev/full") as call:
        await call.turn("agent", 1)
        await call.page.send(type="text", text=YES)
        await call.page.heard(0.3, more=True)
        await call.page.send(type="hang_up")
        ended = await call.ended()
    assert call.words()[0] == ("agent", GREETING)
    assert (ended.cause, ended.warnings) == ("contact_hangup", ("The recording ends early: it could not be written.",))
