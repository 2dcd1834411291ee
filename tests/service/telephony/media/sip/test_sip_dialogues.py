"""Telephone calls over SIP that are spoken, between two SIP stacks on the loopback interface."""

from pathlib import Path

import anyio
import pytest

from callwright.service.telephony.engine import VoicemailPolicy
from callwright.service.telephony.media.messages import Limits
from tests.service.telephony.media.calls import Line
from tests.service.telephony.media.closed_set import resampled
from tests.service.telephony.media.recordings import not_recorded, read_recording
from tests.service.telephony.media.sentences import (
    COST,
    GREETING,
    LONG,
    MACHINE,
    MESSAGE,
    PRICE,
    QUESTION,
    WAIT,
    YES,
    beep,
)
from tests.service.telephony.media.sip.sip_calls import answered

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("live-calls")]


async def test_a_dialogue_is_heard_on_both_sides_and_recorded(line: Line, tmp_path: Path) -> None:
    path = tmp_path / "call.wav"
    async with answered(line, recording=str(path)) as call:
        await call.turn("agent", 1)
        greeting = await call.phone.heard()
        await call.say(YES)
        await call.turn("agent", 2)
        await call.say(COST)
        await call.turn("agent", 3)
        await call.phone.do("hang_up")
        ended = await call.ended()
        incoming = await call.phone.wait_for("incoming")
        reached = await call.reached("answered")
    assert call.words() == [
        ("agent", GREETING),
        ("contact", YES),
        ("agent", QUESTION),
        ("contact", COST),
        ("agent", f"{PRICE} {QUESTION}"),
    ]
    assert [turn.source for turn in call.turns()] == ["policy", "stt", "policy", "stt", "policy"]
    assert (ended.cause, ended.ended_by, ended.answered_by) == ("contact_hangup", "contact", "human")
    assert (ended.sip_status, ended.was_sent) == (None, True)
    assert reached.provider_call_id == incoming["call_id"]
    assert "sip:+14155550100@" in incoming["peer"]
    assert "sip:+14155550100@" in incoming["headers"]["P-Asserted-Identity"]

    known = line.service.known
    assert known.recognise(resampled(greeting, 8_000)) == GREETING
    recorded, heard = read_recording(path), call.turns()[:4]
    assert not_recorded(recorded, heard, known) == []
    assert not_recorded(recorded.swapped, heard, known) == [turn.text for turn in heard]


async def test_speaking_interrupts_the_agent(line: Line) -> None:
    async with answered(line, welcome=LONG) as call:
        await call.phone.say(bytes(48_000) + call.sounds[WAIT])
        await call.turn("agent", 2)
        await call.phone.do("hang_up")
        await call.ended()
    first = call.turns()[0]
    assert (first.speaker, first.interrupted) == ("agent", True)
    assert LONG.startswith(first.text)
    assert 0 < len(first.text.split()) < len(LONG.split())
    assert call.words()[1] == ("contact", WAIT)


async def test_a_message_is_left_after_the_beep_of_a_machine(line: Line) -> None:
    policy = VoicemailPolicy(action="leave_message", message=MESSAGE)
    async with answered(line, welcome="", voicemail=policy) as call:
        await call.phone.say(call.sounds[MACHINE] + bytes(6_400) + beep())
        ended = await call.ended()
        closed = await call.phone.wait_for("closed")
        heard = await call.phone.heard()
    assert (ended.answered_by, ended.cause, ended.ended_by) == ("machine_end_beep", "agent_hangup", "agent")
    assert call.words() == [("contact", MACHINE), ("agent", MESSAGE)]
    assert closed["answered"]
    assert line.service.known.recognise(resampled(heard, 8_000)) == MESSAGE


async def test_keys_go_both_ways(line: Line) -> None:
    line.service.answers = ["[12#]", "[hang_up]"]
    async with answered(line, thinks=True, welcome="") as call:
        await call.phone.do("press", digits="42#")
        await call.turn("contact", 1)
        await call.phone.wait_for(lambda _: call.phone.keys() == "12#")
        await call.phone.do("press", digits="7#")
        ended = await call.ended()
    assert [said.keys for said in call.said() if said.turn.speaker == "contact"] == ["42#", "7#"]
    assert [chat["messages"][-1]["content"] for chat in line.service.chats] == ["[42#]", "[7#]"]
    assert (ended.cause, ended.ended_by) == ("normal_clearing", "agent")


async def test_the_agent_hangs_up_after_its_goodbye(line: Line) -> None:
    async with answered(line) as call:
        await call.turn("agent", 1)
        await call.hang_up(MESSAGE, cause="budget_reached", ended_by="platform")
        ended = await call.ended()
        closed = await call.phone.wait_for("closed")
    assert (ended.cause, ended.ended_by) == ("budget_reached", "platform")
    assert call.words()[-1] == ("agent", MESSAGE)
    assert closed["answered"]
    assert closed["heard_s"] > 2


async def test_a_call_that_is_put_on_hold_goes_on_afterwards(line: Line) -> None:
    async with answered(line, limits=Limits(silence_s=4.0, no_audio_s=3.0)) as call:
        await call.turn("agent", 1)
        before = len(call.phone.of("media"))
        await call.phone.do("hold")
        await call.phone.wait_for(lambda _: len(call.phone.of("media")) > before)
        await anyio.sleep(5)  # longer than any silence that would end the call
        await call.phone.do("resume")
        await call.phone.wait_for(lambda _: len(call.phone.of("media")) > before + 1)
        await call.say(YES)
        await call.turn("agent", 2)
        await call.phone.do("hang_up")
        ended = await call.ended()
    assert call.words()[:3] == [("agent", GREETING), ("contact", YES), ("agent", QUESTION)]
    assert ended.cause == "contact_hangup"
