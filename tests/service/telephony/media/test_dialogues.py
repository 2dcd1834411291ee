"""Live calls that are spoken: words, order and events, with the real process and real sound."""

import resource
import sys
from array import array
from pathlib import Path

import anyio
import pytest

from callwright.service.telephony.engine import MachineVerdicts, VoicemailPolicy
from callwright.service.telephony.media.messages import Limits
from tests.service.telephony.media.calls import Line
from tests.service.telephony.media.recordings import not_recorded, read_recording
from tests.service.telephony.media.sentences import (
    ASIDE,
    COST,
    GREETING,
    LONG,
    MACHINE,
    MESSAGE,
    PRICE,
    QUESTION,
    STOP,
    WAIT,
    YES,
    beep,
)

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("live-calls")]


async def test_a_dialogue_has_all_words_in_their_order_and_both_sides_are_recorded(line: Line, tmp_path: Path) -> None:
    path = tmp_path / "call.wav"
    async with line.call(recording=str(path)) as call:
        await call.turn("agent", 1)
        await call.say(YES)
        await call.turn("agent", 2)
        await call.say(COST)
        await call.turn("agent", 3)
        await call.page.send(type="hang_up")
        ended = await call.ended()
    assert call.words()[:3] == [("agent", GREETING), ("contact", YES), ("agent", QUESTION)]
    assert call.words()[3] == ("contact", COST)
    assert call.words()[4] == ("agent", f"{PRICE} {QUESTION}")
    assert [turn.source for turn in call.turns()] == ["policy", "stt", "policy", "stt", "policy"]
    assert [turn.index for turn in call.turns()] == [0, 1, 2, 3, 4]
    starts = [turn.start_s for turn in call.turns()]
    assert starts == sorted(starts)
    assert all(turn.start_s < turn.end_s for turn in call.turns())
    assert (ended.cause, ended.ended_by, ended.answered_by) == ("contact_hangup", "contact", "human")
    assert [each.turn_index for each in line.media.reports.latencies(call.call_id)] == [2, 4]
    captions = [(caption["role"], caption["text"]) for caption in call.page.of("caption")]
    assert captions == call.words()

    recorded, known = read_recording(path), line.service.known
    heard = call.turns()[:4]
    assert not_recorded(recorded, heard, known) == []
    assert recorded.counted / 8_000 >= call.turns()[4].end_s - 1
    # The check hears: a recording with swapped or silent channels has none of it.
    everything = [turn.text for turn in heard]
    assert not_recorded(recorded.swapped, heard, known) == everything
    assert not_recorded(recorded.silenced, heard, known) == everything


async def test_speaking_interrupts_the_agent_whose_turn_has_only_what_was_said(line: Line) -> None:
    async with line.call(welcome=LONG) as call:
        await call.page.heard(1.5)
        await call.say(WAIT)
        await call.page.wait_for(lambda message: message["type"] == "clear")
        await call.turn("agent", 2)
        sounded = len(call.page.sound) / 32_000
        await call.page.send(type="hang_up")
        await call.ended()
    first = call.turns()[0]
    assert (first.speaker, first.interrupted) == ("agent", True)
    assert LONG.startswith(first.text)
    assert 0 < len(first.text.split()) < len(LONG.split())
    assert first.end_s - first.start_s < sounded
    assert call.words()[1] == ("contact", WAIT)
    assert not call.turns()[2].interrupted


async def test_to_a_hello_in_the_greeting_the_first_words_are_said_again_with_what_has_to_be_said(line: Line) -> None:
    async with line.call(welcome=LONG, discloses=True) as call:
        await call.page.heard(1.0)
        await call.page.send(type="text", text="Yes, hello?")
        await call.turn("agent", 2)
        await call.page.send(type="hang_up")
        await call.ended()
    cut, hello, again = call.words()[:3]
    assert LONG.startswith(cut[1])
    assert hello == ("contact", "Yes, hello?")
    assert again[1].startswith(LONG)
    assert "automated assistant" in again[1]


async def test_who_says_more_in_the_greeting_hears_first_that_a_machine_calls_and_then_the_answer(line: Line) -> None:
    async with line.call(welcome=LONG, discloses=True) as call:
        await call.page.heard(1.0)
        await call.page.send(type="text", text="How much does it cost if I take it?")
        await call.turn("agent", 3)
        await call.page.send(type="hang_up")
        await call.ended()
    notice, answer = [text for role, text in call.words() if role == "agent"][1:3]
    assert "automated assistant" in notice
    assert PRICE in answer


async def test_who_says_two_words_in_the_greeting_that_are_no_hello_has_an_answer(line: Line) -> None:
    async with line.call(welcome=LONG, discloses=True) as call:
        await call.page.heard(1.0)
        await call.page.send(type="text", text="Wrong number.")
        ended = await call.ended()
    cut, said, notice, goodbye = call.words()
    assert LONG.startswith(cut[1])
    assert said == ("contact", "Wrong number.")
    assert "automated assistant" in notice[1]
    assert goodbye[1] not in (notice[1], LONG)
    assert ended.disposition == "wrong_number"


async def test_noise_that_interrupts_makes_the_agent_say_its_words_again(line: Line) -> None:
    samples = memoryview(line.sounds[MACHINE]).cast("h").tolist()
    backwards = array("h", reversed(samples)).tobytes()
    async with line.call(welcome=LONG) as call:
        await call.page.heard(1.0)
        await call.page.say(backwards)
        await call.page.wait_for(lambda message: message["type"] == "clear")
        await call.page.heard(2.0, more=True)
        await call.page.send(type="hang_up")
        await call.ended()
    first, second = call.turns()
    assert (first.speaker, first.interrupted, second.speaker) == ("agent", True, "agent")
    assert LONG.startswith(first.text)
    assert LONG.startswith(second.text)
    assert second.text


async def test_one_word_is_an_aside_that_is_noted_and_does_not_interrupt(line: Line) -> None:
    async with line.call(welcome=LONG) as call:
        await call.page.heard(0.8)
        await call.say(ASIDE)
        await call.turn("contact", 1)
        assert call.page.of("clear") == []
        assert call.words() == [("contact", ASIDE)]  # the agent's turn goes on
        await call.page.send(type="hang_up")
        await call.ended()


async def test_asking_for_no_more_calls_ends_the_call_with_a_goodbye(line: Line) -> None:
    async with line.call() as call:
        await call.turn("agent", 1)
        await call.say(STOP)
        ended = await call.ended()
    assert (ended.disposition, ended.cause, ended.ended_by) == ("do_not_call", "normal_clearing", "agent")
    assert call.words()[1] == ("contact", STOP)
    assert call.words()[2][0] == "agent"
    assert "Goodbye." in call.words()[2][1]
    assert call.page.of("ended") == [{"type": "ended", "cause": "normal_clearing"}]


async def test_a_silent_contact_is_asked_and_then_the_call_ends(line: Line) -> None:
    async with line.call(limits=Limits(silence_s=1.0)) as call:
        ended = await call.ended()
    assert (ended.cause, ended.ended_by) == ("inactivity_timeout", "platform")
    assert [speaker for speaker, _ in call.words()] == ["agent"] * 3
    assert ended.answered_by == "unknown"


@pytest.mark.parametrize("seconds", [0.3, 1.2])
async def test_a_message_is_left_after_the_beep_of_a_machine_or_in_its_silence(line: Line, seconds: float) -> None:
    policy = VoicemailPolicy(action="leave_message", message=MESSAGE)
    async with line.call(welcome="", voicemail=policy) as beeping, line.call(welcome="", voicemail=policy) as silent:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(beeping.page.say, line.sounds[MACHINE] + bytes(6_400) + beep(seconds))
            tasks.start_soon(silent.say, MACHINE)
        ends = [await beeping.ended(), await silent.ended()]
    assert [end.answered_by for end in ends] == ["machine_end_beep", "machine_end_silence"]
    assert {(end.cause, end.ended_by, end.disposition) for end in ends} == {("agent_hangup", "agent", None)}
    assert [end.voicemail_message_left for end in ends] == [True, True]
    assert [end.machine_verdicts for end in ends] == [MachineVerdicts(None, end.answered_by) for end in ends]
    for call in (beeping, silent):
        assert call.words() == [("contact", MACHINE), ("agent", MESSAGE)]


async def test_a_message_that_was_cut_short_was_not_left(line: Line) -> None:
    policy = VoicemailPolicy(action="leave_message", message=LONG)
    async with line.call(welcome="", voicemail=policy) as call:
        await call.saw("machine_end_beep")
        await call.page.heard(0.5)
        await call.page.send(type="hang_up")
        ended = await call.ended()
    assert (ended.answered_by, ended.voicemail_message_left) == ("machine_end_beep", False)
    assert ended.machine_verdicts == MachineVerdicts("machine_end_beep", None)
    assert call.words()[0][0] == "agent"


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of another process can only be set on Linux")
async def test_a_disk_that_is_full_ends_the_recording_and_not_the_call(line: Line, tmp_path: Path) -> None:
    path, room = tmp_path / "call.wav", 60_000
    pid = line.media.process.pid
    limits = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (room, limits[1]))
    try:
        async with line.call(recording=str(path)) as call:
            await call.turn("agent", 1)
            await call.say(YES)
            await call.turn("agent", 2)
            await call.page.send(type="hang_up")
            ended = await call.ended()
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, limits)
    assert call.words()[:3] == [("agent", GREETING), ("contact", YES), ("agent", QUESTION)]
    assert (ended.cause, ended.warnings) == ("contact_hangup", ("The recording ends early: it could not be written.",))
    recorded = read_recording(path)
    assert ended.recorded
    assert 16_000 < recorded.counted <= room // 2
    assert not_recorded(recorded, call.turns()[:1], line.service.known) == []


async def test_a_machine_that_the_carrier_saw_is_hung_up_on(line: Line) -> None:
    async with line.call(welcome=LONG) as call:
        await call.page.heard(0.5)
        await call.saw("machine_end_silence")
        ended = await call.ended()
    assert (ended.cause, ended.answered_by) == ("agent_hangup", "machine_end_silence")
    assert call.turns()[0].interrupted


async def test_two_calls_at_once_do_not_mix(line: Line) -> None:
    async with line.call() as one, line.call() as other:
        await one.turn("agent", 1)
        await other.turn("agent", 1)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(one.say, YES)
            tasks.start_soon(other.say, COST)
        await one.turn("agent", 2)
        await other.turn("agent", 2)
        for call in (one, other):
            await call.page.send(type="hang_up")
            await call.ended()
    assert one.words() == [("agent", GREETING), ("contact", YES), ("agent", QUESTION)]
    assert other.words() == [("agent", GREETING), ("contact", COST), ("agent", f"{PRICE} {QUESTION}")]
