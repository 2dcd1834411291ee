"""Live calls whose answers come from a model, a local service with the interface of OpenAI."""

from array import array

import anyio
import pytest

from callwright.service.telephony.media.messages import Limits
from tests.service.telephony.media.calls import Line
from tests.service.telephony.media.sentences import (
    CALENDAR,
    COST,
    GREETING,
    LATER,
    LONG,
    MACHINE,
    PROMPT,
    STOP,
    YES,
)
from tests.service.telephony.media.tones import has_tones

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.xdist_group("live-calls")]

FALLBACK = "Please give me a moment."


async def test_a_model_answers_what_was_said_and_typed(line: Line) -> None:
    line.service.answers = ("It costs twenty euros.", "Tuesday it is.")
    async with line.call(thinks=True) as call:
        await call.turn("agent", 1)
        await call.say(COST)
        await call.turn("agent", 2)
        await call.page.send(type="text", text="Tuesday then.")
        await call.turn("agent", 3)
        await call.page.send(type="hang_up")
        await call.ended()
    assert call.words() == [
        ("agent", GREETING),
        ("contact", COST),
        ("agent", "It costs twenty euros."),
        ("contact", "Tuesday then."),
        ("agent", "Tuesday it is."),
    ]
    assert [turn.source for turn in call.turns()] == ["policy", "stt", "llm", "human", "llm"]
    first, second = (chat["messages"] for chat in line.service.chats)
    assert first[0]["role"] == "system"
    assert first[0]["content"].startswith(PROMPT)
    assert [(each["role"], each["content"]) for each in first[1:]] == [("assistant", GREETING), ("user", COST)]
    assert second[-1] == {"role": "user", "content": "Tuesday then."}
    latencies = line.media.reports.latencies(call.call_id)
    assert [(each.turn_index, set(each.parts_ms)) for each in latencies] == [
        (2, {"endpointing", "hearing", "thinking", "speaking"})
    ]
    assert all(each.total_ms == sum(each.parts_ms.values()) for each in latencies)


async def test_a_model_hears_only_what_was_said_before_it_was_interrupted(line: Line) -> None:
    long = " ".join(["one two three four five"] * 12)
    line.service.answers = (long, "Fine.")
    async with line.call(thinks=True, hears=False, welcome="") as call:
        await call.page.send(type="text", text=COST)
        await call.page.heard(1.5)
        await call.page.send(type="text", text=YES)
        await call.turn("agent", 2)
        await call.page.send(type="hang_up")
        await call.ended()
    said = call.turns()[1]
    assert (said.speaker, said.interrupted) == ("agent", True)
    assert long.startswith(said.text)
    assert 0 < len(said.text) < len(long)
    remembered = [each["content"] for each in line.service.chats[1]["messages"] if each["role"] == "assistant"]
    assert remembered == [said.text]


@pytest.mark.parametrize("failure", ["down", "slow", "silent"])
async def test_a_model_that_does_not_answer_is_replaced_by_a_sentence_and_at_last_the_call_ends(
    line: Line, failure: str
) -> None:
    line.service.status = 400 if failure == "down" else 200
    line.service.delay_s = 30.0 if failure == "slow" else 0.0
    line.service.answers = ("",)
    limits = Limits(answer_s=0.7)
    async with line.call(thinks=True, hears=False, welcome="", fallback_sentence=FALLBACK, limits=limits) as call:
        for number in (1, 2):
            await call.page.send(type="text", text=YES)
            await call.turn("agent", number)
        await call.page.send(type="text", text=YES)
        ended = await call.ended()
    assert [text for speaker, text in call.words() if speaker == "agent"] == [FALLBACK, FALLBACK]
    assert (ended.cause, ended.ended_by) == ("platform_error", "platform")
    assert len(ended.warnings) == 1
    assert ended.warnings[0].startswith("The model ")


async def test_a_model_that_noise_interrupted_is_asked_again(line: Line) -> None:
    line.service.answers = ("first answer " * 20, "That was noise.")
    samples = memoryview(line.sounds[MACHINE]).cast("h").tolist()
    async with line.call(thinks=True, welcome="") as call:
        await call.page.send(type="text", text=COST)
        await call.page.heard(1.0)
        await call.page.say(array("h", reversed(samples)).tobytes())
        await call.turn("agent", 2)
        await call.page.send(type="hang_up")
        await call.ended()
    assert [turn.interrupted for turn in call.turns() if turn.speaker == "agent"] == [True, False]
    assert call.words()[-1] == ("agent", "That was noise.")
    roles = [each["role"] for each in line.service.chats[1]["messages"]]
    assert roles == ["system", "user", "assistant"]


async def test_ten_thousand_words_of_a_model_are_cut(line: Line) -> None:
    line.service.answers = ("seven " * 10_000, "That was all.")
    async with line.call(thinks=True, hears=False, welcome="", limits=Limits(most_words=5)) as call:
        await call.page.send(type="text", text=COST)
        await call.turn("agent", 1)
        await call.page.send(type="text", text=YES)
        await call.turn("agent", 2)
        await call.page.send(type="hang_up")
        await call.ended()
    said = [text for speaker, text in call.words() if speaker == "agent"]
    assert said == ["seven seven seven seven seven", "That was all."]


async def test_a_model_ends_the_call_and_presses_keys_by_marks_that_are_not_said(line: Line) -> None:
    line.service.answers = ("One moment. [12#]", "Goodbye then. [hang_up]")
    async with line.call(thinks=True, hears=False, welcome="") as call:
        await call.page.send(type="keys", digits="5#")
        await call.turn("agent", 1)
        assert has_tones(bytes(call.page.sound), 697, 1_209)  # 1
        assert has_tones(bytes(call.page.sound), 941, 1_477)  # #
        assert not has_tones(bytes(call.page.sound), 770, 1_336)  # 5
        await call.page.send(type="text", text=YES)
        ended = await call.ended()
    assert call.words() == [("contact", ""), ("agent", "One moment."), ("contact", YES), ("agent", "Goodbye then.")]
    assert (ended.cause, ended.ended_by) == ("normal_clearing", "agent")
    assert line.service.chats[0]["messages"][-1] == {"role": "user", "content": "[5#]"}


async def test_an_opt_out_is_not_given_to_the_model(line: Line) -> None:
    async with line.call(thinks=True, hears=False, welcome="") as call:
        await call.page.send(type="text", text=STOP)
        await call.page.heard(1.0)
        await call.page.send(type="hang_up")
        ended = await call.ended()
    assert ended.disposition == "do_not_call"
    assert call.words()[1][1].startswith(("Understood.", "Of course."))
    assert line.service.chats == []


async def test_a_model_that_says_the_same_again_and_again_is_stopped(line: Line) -> None:
    line.service.answers = ("Hello again.",)
    async with line.call(thinks=True, hears=False, welcome="") as call:
        for number in (1, 2, 3):
            await call.page.send(type="text", text=LATER)
            await call.turn("agent", number)
        ended = await call.ended()
    assert (ended.cause, ended.ended_by) == ("normal_clearing", "platform")
    assert ended.warnings == ("The agent said the same sentence again and again, so the call was ended.",)


async def test_a_contact_who_goes_on_speaking_waits_no_longer_for_a_model_that_hangs(line: Line) -> None:
    line.service.delay_s, line.service.answers = 60.0, ("",)
    limits = Limits(answer_s=2.0)
    async with line.call(thinks=True, hears=False, welcome="", fallback_sentence=FALLBACK, limits=limits) as call:
        await call.page.send(type="text", text=YES)
        await anyio.sleep(1.5)
        for told in (1, 2):
            await call.page.send(type="text", text=YES)
            await call.turn("agent", told)
        await call.page.send(type="text", text=YES)
        ended = await call.ended()
    first = call.turns()[0]
    fallbacks = [turn for turn in call.turns() if turn.speaker == "agent"]
    assert 1.9 < fallbacks[0].start_s - first.start_s < 3.4  # and not two seconds after the second sentence
    assert (ended.cause, ended.ended_by) == ("platform_error", "platform")
    assert len(fallbacks) == 2


async def test_sentences_of_a_model_keep_the_space_between_them(line: Line) -> None:
    answer = "There are two. Which one do you want? Say so."
    line.service.answers = (answer, "Fine.")
    async with line.call(thinks=True, hears=False, welcome="") as call:
        await call.page.send(type="text", text=COST)
        await call.turn("agent", 1)
        await call.page.send(type="text", text=YES)
        await call.turn("agent", 2)
        await call.page.send(type="hang_up")
        await call.ended()
    assert call.words()[1] == ("agent", answer)
    assert [each["content"] for each in line.service.chats[1]["messages"] if each["role"] == "assistant"] == [answer]


@pytest.mark.parametrize("is_spoken", [True, False], ids=["spoken", "typed"])
async def test_a_model_is_asked_about_words_in_the_greeting_that_are_no_hello(line: Line, is_spoken: bool) -> None:
    line.service.answers = ("Which day suits you?",)
    wish = CALENDAR if is_spoken else "Calendar, please."
    async with line.call(thinks=True, welcome=LONG, discloses=True) as call:
        await call.page.heard(1.0)
        await (call.say(wish) if is_spoken else call.page.send(type="text", text=wish))
        await call.says("Which day suits you?")
        await call.page.send(type="hang_up")
        await call.ended()
    cut, said, notice, answer = call.words()
    assert LONG.startswith(cut[1])
    assert said == ("contact", wish)
    assert "automated assistant" in notice[1]
    assert answer == ("agent", "Which day suits you?")
    assert line.service.chats[0]["messages"][-1] == {"role": "user", "content": wish}


async def test_a_model_is_not_asked_about_a_hello_in_the_greeting(line: Line) -> None:
    async with line.call(thinks=True, welcome=LONG, discloses=True) as call:
        await call.page.heard(1.0)
        await call.page.send(type="text", text="Hello? Who is this?")
        await call.turn("agent", 2)
        await call.page.send(type="hang_up")
        await call.ended()
    assert call.words()[2][1].startswith(LONG)
    assert line.service.chats == []
