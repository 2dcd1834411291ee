"""The parts of live calls that need no process: recordings, clocks, keys, machines, the recogniser of the tests."""

import math
from dataclasses import replace
from pathlib import Path

import anyio
import numpy as np
import pytest

from callwright.service.rules.spoken_moments.spoken_moment import ClockTime, SpokenMoment
from callwright.service.speech.mu_law_files import has_sound, header, pcm_of
from callwright.service.speech.synthesiser import Synthesiser, find_libraries
from callwright.service.speech.voices import default_voice
from callwright.service.telephony.engine import AgentSnapshot, CallRequest, Speaker
from callwright.service.telephony.media.policy import LivePolicy, Saying
from callwright.service.telephony.media.sound.recorder import Recorder, mu_law
from callwright.service.telephony.media.sound.sound_clock import RATE, SoundClock, Track
from callwright.service.telephony.media.turns.contact_side import ContactSpeech, Entry, KeyEntries, Spoken
from callwright.service.telephony.media.turns.transcript import AnswerTimes
from callwright.service.telephony.media.voicemail import BeepFinder, Machine, is_machine_greeting
from callwright.service.telephony.simulated.conversation.phrases import LANGUAGES, bank_or_english
from tests.service.telephony.media.conftest import Sounds
from tests.service.telephony.media.recordings import linear, read_recording
from tests.service.telephony.media.sentences import CONTACT, PROMPT, YES


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def tone(hertz: float, seconds: float, loud: int = 8_000) -> bytes:
    samples = (int(loud * math.sin(2 * math.pi * hertz * at / RATE)) for at in range(int(seconds * RATE)))
    return b"".join(sample.to_bytes(2, "little", signed=True) for sample in samples)


def test_sound_follows_what_came_before_and_late_sound_leaves_a_silence() -> None:
    time = Clock()
    clock = SoundClock(time)
    placed: list[int] = []

    def sink(start: int, pcm: bytes) -> None:
        assert len(pcm) == 640
        placed.append(start)

    track = Track(clock, sink)
    frame = bytes(640)
    clock.start()
    for now in (0.02, 0.05, 0.06, 0.16, 1.0, 1.001):
        time.now = 100.0 + now
        track.place(frame, heard=True)
    # A tenth of a second late is jitter, a second is silence.
    assert placed == [0, 320, 640, 960, 15_680, 16_000]
    assert track.end_s == pytest.approx(1.02)


async def test_a_recording_has_both_sides_at_their_times(tmp_path: Path) -> None:
    time = Clock()
    clock, path = SoundClock(time), tmp_path / "call.wav"
    recorder = Recorder(path, clock)
    clock.start()
    recorder.agent(0, tone(440, 0.5))
    recorder.contact(RATE, tone(880, 0.5))
    recorder.contact(RATE // 2, tone(880, 0.25))  # what comes before what is there already is left out
    time.now += 2.0
    await recorder.close()
    recorder.agent(RATE, tone(440, 0.5))
    recorded = read_recording(path)
    agent, contact = (np.frombuffer(one, "<i2").astype(int) for one in (recorded.agent, recorded.contact))
    assert recorded.counted == 16_000
    assert abs(agent[:3_900]).max() > 7_000
    assert abs(agent[4_100:]).max() == 0
    assert abs(contact[:7_900]).max() == 0
    assert abs(contact[8_000:12_000]).max() > 7_000
    crossings = int((np.diff(np.sign(agent[100:3_900])) != 0).sum())
    assert crossings == pytest.approx(2 * 440 * 3_800 / 8_000, abs=3)
    assert recorder.problem is None


@pytest.mark.parametrize("place", ["a folder that is a file", "a full disk"])
async def test_a_recording_that_cannot_be_written_says_so(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").touch()
    path = tmp_path / "file" / "call.wav" if place == "a folder that is a file" else Path("/dev/full")
    time = Clock()
    recorder = Recorder(path, clock := SoundClock(time))
    clock.start()
    recorder.agent(0, tone(440, 0.5))
    time.now += 1.0
    await recorder.close()
    assert recorder.problem == "The recording ends early: it could not be written."
    assert not recorder.has_sound


def test_the_sound_of_a_file_is_that_of_the_standard_as_far_as_its_header_counts(tmp_path: Path) -> None:
    path, codes = tmp_path / "call.wav", bytes(range(256))
    path.write_bytes(header(128) + codes + b"not counted")
    (piece,) = pcm_of(path)
    assert piece.tobytes() == linear(np.frombuffer(codes, np.uint8))
    assert has_sound(path)
    for content in (header(0), header(9)[:40], b"", b"RIFF" + bytes(80)):
        path.write_bytes(content)
        assert not has_sound(path)


def test_mu_law_is_that_of_the_standard() -> None:
    codes = np.arange(256, dtype=np.uint8)
    decoded = np.frombuffer(linear(codes), "<i2")
    assert (decoded[0], decoded[128], decoded[255]) == (-32_124, 32_124, 0)
    again = np.frombuffer(mu_law(decoded), np.uint8)
    assert [int(code) for code in codes[again != codes]] == [127]  # the negative zero
    samples = np.arange(-32_635, 32_636, 7, dtype=np.int32)
    wrong = np.abs(np.frombuffer(linear(np.frombuffer(mu_law(samples), np.uint8)), "<i2") - samples)
    assert bool((wrong <= 4 + np.abs(samples) * 0.032).all())
    assert len(header(0)) == 58


def test_keys_are_joined_until_a_hash_or_a_pause() -> None:
    keys = KeyEntries()
    assert keys.press("1", 1.0) is None
    assert keys.due(2.0) is None
    assert keys.press("2#", 2.0) == Entry("12#", 1.0, 2.0)
    assert not keys.is_open
    assert keys.press("9", 5.0) is None
    assert keys.due(6.6) == Entry("9", 5.0, 5.0)
    assert keys.press("1" * 40, 7.0) == Entry("1" * 32, 7.0, 7.0)


def test_words_that_are_recognised_late_have_the_times_of_the_speech() -> None:
    speech = ContactSpeech()
    speech.starts(1.0)
    speech.ends(1.5)
    speech.starts(1.9)
    speech.ends(2.4)
    speech.recognised(" One ")
    speech.recognised("two.")
    assert speech.take(3.0) == Spoken("One two.", 1.0, 2.4)
    assert speech.take(4.0) is None


def test_the_parts_of_an_answer_add_up() -> None:
    time = Clock()
    times = AnswerTimes(time)
    times.reached("asked")
    assert times.parts_ms() is None
    times.speech_ended(0.2)
    for moment, after in (("heard", 0.3), ("asked", 0.1), ("words", 0.5), ("words", 0.2), ("sound", 0.1)):
        time.now += after
        times.reached(moment)
    assert times.parts_ms() == {"endpointing": 300, "hearing": 300, "thinking": 500, "speaking": 300}
    assert times.parts_ms() is None


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_greetings_of_machines_are_known_and_what_people_say_is_none(language: str) -> None:
    said = bank_or_english(language).contact
    greetings = {text for (key, _), texts in said.items() if key == "voicemail_greeting" for text in texts}
    people = {text for (key, _), texts in said.items() if key in ("pick_up", "yes", "no", "listen") for text in texts}
    assert [text for text in greetings if not is_machine_greeting(text)] == []
    assert [text for text in people if is_machine_greeting(text)] == []


def test_a_beep_is_found_and_speech_and_noise_are_none(sounds: Sounds) -> None:
    noise = np.random.default_rng(1).normal(0, 4_000, RATE).astype("<i2").tobytes()
    for pcm in (*sounds.contact.values(), noise, bytes(32_000)):
        assert not BeepFinder().hear(pcm)
    for hertz in (440, 1_000, 1_400):
        finder = BeepFinder()
        beep = bytes(1_000) + tone(hertz, 0.4) + bytes(8_000)
        found = [finder.hear(beep[at : at + 640]) for at in range(0, len(beep), 640)]
        assert found.count(True) == 1
    assert not BeepFinder().hear(tone(1_000, 0.1) + bytes(8_000))


def test_the_end_of_a_greeting_is_its_beep_or_silence() -> None:
    machine = Machine()
    assert machine.ended(0.0, speaks=False) is None
    machine.speech_ended(9.0)
    machine.met(9.5)
    assert machine.ended(10.0, speaks=False) is None
    assert machine.ended(11.5, speaks=True) is None
    assert machine.ended(11.5, speaks=False) == "machine_end_silence"
    machine.hear(tone(1_000, 0.5), 10.0)
    assert machine.ended(10.0, speaks=True) is None, "the beep goes on"
    machine.hear(bytes(3_200), 10.1)
    assert machine.ended(10.1, speaks=True) == "machine_end_beep"


def request(welcome: str) -> CallRequest:
    agent = AgentSnapshot("agt", PROMPT.replace("Tuesday", "{{day}}"), welcome, "en-US", "en-US-ada")
    return CallRequest(
        call_id="cal", org_id="o", deployment_id="d", contact_id="c", attempt=1, to="+14155550123", from_="",
        agent=agent, variables={"day": "Friday"}, ai_disclosure=True, recording_announcement=True,
    )  # fmt: skip


def test_the_policy_speaks_as_on_the_simulated_network() -> None:
    said: dict[Speaker, str] = {"agent": "", "contact": ""}
    policy = LivePolicy(request("Hello. Is this a good time?"), lambda speaker: said[speaker])
    opening = policy.open()
    assert [saying.then for saying in opening] == ["listen"]
    assert "recorded" in opening[0].text
    assert opening[0].text.endswith("Is this a good time?")
    said["agent"] = opening[0].text
    question = policy.hear("Yes.")
    assert question[0].text.endswith("Does Friday suit you?")
    answer = policy.hear("How much does it cost?")
    assert answer == [Saying("The check costs twenty euros. Does Friday suit you?", "en-US")]
    unknown = policy.hear("What is the name of your cat?")
    assert policy.ending.unanswered_questions == ["What is the name of your cat?"]
    assert unknown[0].then == "listen"
    assert policy.hear("Yes, please.")[-1].then == "farewell"
    assert policy.hear("Bye.") == []
    assert policy.ending.disposition == "goal_met"


@pytest.mark.requirement("CALLTOOL-16", "CALLTOOL-17")
@pytest.mark.parametrize(
    ("may_call_back", "said", "answer"),
    [
        (True, "Please call me tomorrow at 3 pm.", ["I'll call you back then", "we'll try you again then"]),
        (True, "No, tomorrow at 3 pm.", ["I'll call you back then", "we'll try you again then"]),
        (True, "Please call me back later.", ["we'll call you again in about a day"]),
        (False, "Please call me tomorrow at 3 pm.", ["I'll note that you'd like a call"]),
    ],
)
def test_the_policy_promises_a_call_only_at_a_moment_that_it_understood_and_while_attempts_are_left(
    may_call_back: bool, said: str, answer: list[str]
) -> None:
    asked = replace(request("Hello. Is this a good time?"), may_call_back=may_call_back)
    policy = LivePolicy(asked, lambda _: "Hello. Is this a good time?")
    policy.open()
    (saying,) = policy.hear(said)
    assert (saying.then, policy.ending.disposition) == ("farewell", "callback_requested")
    assert any(words in saying.text for words in answer)
    tomorrow = SpokenMoment(days=1, clock_time=ClockTime(3, half="pm"))
    assert policy.ending.callback_said == (tomorrow if "tomorrow" in said else None)
    assert policy.ending.callback_after_s == (None if "tomorrow" in said else 86_400.0)


def test_the_policy_lets_the_contact_speak_first_and_hangs_up_after_an_opt_out() -> None:
    policy = LivePolicy(request(""), lambda _: "")
    assert policy.open() == []
    [goodbye] = policy.hear("", keys="9")
    assert goodbye.then == "hang_up"
    assert policy.ending.disposition == "do_not_call"
    assert Saying("one two three", "en").shortened(2) == "one two"


def test_the_recogniser_of_these_tests_hears(sounds: Sounds) -> None:
    known = sounds.closed_set()
    for text in CONTACT:
        assert known.recognise(bytes(9_600) + sounds.contact[text] + bytes(9_600)) == text
        assert known.recognise(sounds.contact[text][::-1]) == ""
    noise = np.random.default_rng(2).normal(0, 3_000, 2 * RATE).astype("<i2").tobytes()
    assert known.recognise(noise) == ""
    assert known.recognise(bytes(64_000)) == ""
    backwards = np.frombuffer(sounds.contact[YES], "<i2")[::-1].tobytes()
    assert known.recognise(backwards) == ""


def test_words_of_espeak_are_the_text_and_come_one_after_the_other() -> None:
    async def speak() -> None:
        async with Synthesiser(find_libraries()) as synthesiser:
            for text in ("Hello, it costs 1,250 euros.", "Grüße — aus München!", " Two  blanks "):
                speech = await synthesiser.speak_words(text, default_voice("en-US").espeak)
                starts = [word.sample for word in speech.words]
                assert "".join(word.text for word in speech.words) == text
                assert starts == sorted(starts)
                assert starts[-1] < len(speech.samples) // 2

    anyio.run(speak)
