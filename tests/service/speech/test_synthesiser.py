import os
import signal
from pathlib import Path

import anyio
import pytest
from anyio.lowlevel import checkpoint

from callwright.service.speech.synthesiser import (
    MAX_TEXT_CHARS,
    EspeakLibrary,
    SpeechUnavailable,
    Synthesiser,
    find_libraries,
    worker_environment,
)
from callwright.service.speech.voices import EspeakVoice, default_voice

VOICE = default_voice("en-US").espeak


def worker_of(synthesiser: Synthesiser) -> int:
    pid = synthesiser.worker_pid
    assert pid is not None
    return pid


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_the_worker_starts_at_the_first_request_and_stays_until_it_is_closed() -> None:
    with anyio.fail_after(5):
        synthesiser = Synthesiser(find_libraries())
        assert synthesiser.worker_pid is None
        await synthesiser.speak("Hello.", VOICE)
        first = worker_of(synthesiser)
        await synthesiser.speak("Hello again.", VOICE)
        assert worker_of(synthesiser) == first
        await synthesiser.aclose()
        assert not is_running(first)
        with pytest.raises(SpeechUnavailable):
            await synthesiser.speak("Hello?", VOICE)


async def test_a_faster_rate_makes_shorter_speech_and_rates_out_of_range_are_kept_in_it() -> None:
    with anyio.fail_after(5):
        async with Synthesiser(find_libraries()) as synthesiser:
            text = "Could we move your appointment to Thursday?"
            lengths = [len(await synthesiser.speak(text, VOICE, rate_wpm=rate)) for rate in (1, 80, 165, 300)]
    assert lengths[1] > lengths[2] > lengths[3]
    assert lengths[0] == pytest.approx(lengths[1], rel=0.01)


async def test_a_worker_killed_in_the_middle_of_a_request_is_replaced_and_asked_again() -> None:
    with anyio.fail_after(5):
        async with Synthesiser(find_libraries()) as synthesiser:
            await synthesiser.speak("Hello.", VOICE)
            first = worker_of(synthesiser)
            os.kill(first, signal.SIGSTOP)  # it can receive the request but not answer it
            spoken: list[bytes] = []

            async def ask() -> None:
                spoken.append(await synthesiser.speak("Are you there?", VOICE))

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(ask)
                await anyio.wait_all_tasks_blocked()
                os.kill(first, signal.SIGKILL)
            assert len(spoken[0]) > 10_000
            assert worker_of(synthesiser) != first
            assert await synthesiser.speak("Hello.", VOICE)


async def test_a_worker_killed_between_two_requests_goes_unnoticed() -> None:
    with anyio.fail_after(5):
        async with Synthesiser(find_libraries()) as synthesiser:
            await synthesiser.speak("Hello.", VOICE)
            os.kill(worker_of(synthesiser), signal.SIGKILL)
            assert await synthesiser.speak("Hello.", VOICE)


async def test_a_worker_that_does_not_answer_in_time_is_ended_and_the_next_request_works() -> None:
    with anyio.fail_after(5):
        async with Synthesiser(find_libraries(), request_timeout_s=0.5) as synthesiser:
            await synthesiser.speak("Hello.", VOICE)
            stuck = worker_of(synthesiser)
            os.kill(stuck, signal.SIGSTOP)
            with pytest.raises(SpeechUnavailable, match="in time"):
                await synthesiser.speak("Hello?", VOICE)
            assert not is_running(stuck)
            assert await synthesiser.speak("Hello.", VOICE)


async def test_the_answer_to_a_cancelled_request_is_not_taken_for_the_next_ones() -> None:
    with anyio.fail_after(5):
        async with Synthesiser(find_libraries()) as synthesiser:
            short = await synthesiser.speak("No.", VOICE)
            os.kill(worker_of(synthesiser), signal.SIGSTOP)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(synthesiser.speak, "This one is much longer, and nobody waits for it.", VOICE)
                await anyio.wait_all_tasks_blocked()
                tasks.cancel_scope.cancel()
            assert len(await synthesiser.speak("No.", VOICE)) == pytest.approx(len(short), rel=0.05)


async def test_a_request_that_waits_too_long_for_its_turn_is_refused() -> None:
    with anyio.fail_after(5):
        async with Synthesiser(find_libraries(), wait_timeout_s=0.05) as synthesiser:
            await synthesiser.speak("Hello.", VOICE)
            pid = worker_of(synthesiser)
            os.kill(pid, signal.SIGSTOP)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(synthesiser.speak, "First.", VOICE)
                await checkpoint()
                with pytest.raises(SpeechUnavailable, match="busy"):
                    await synthesiser.speak("Second.", VOICE)
                os.kill(pid, signal.SIGCONT)


async def test_without_a_library_there_is_no_speech_and_the_reason_is_given(tmp_path: Path) -> None:
    with anyio.fail_after(5):
        async with Synthesiser([EspeakLibrary(str(tmp_path / "none.so"))]) as synthesiser:
            for _ in range(2):
                with pytest.raises(SpeechUnavailable) as caught:
                    await synthesiser.speak("Hello.", VOICE)
                assert caught.value.reason == "No espeak-ng library could be loaded."
                assert "none.so" in caught.value.detail
            assert synthesiser.worker_pid is None


async def test_a_voice_the_library_does_not_have_is_refused_and_the_worker_stays() -> None:
    with anyio.fail_after(5):
        async with Synthesiser(find_libraries()) as synthesiser:
            await synthesiser.speak("Hello.", VOICE)
            pid = worker_of(synthesiser)
            with pytest.raises(SpeechUnavailable, match="refused"):
                await synthesiser.speak("Hello.", EspeakVoice("en-gb", "f2", 165, 50))
            assert worker_of(synthesiser) == pid


async def test_control_characters_and_lone_surrogates_do_not_end_a_text() -> None:
    with anyio.fail_after(5):
        async with Synthesiser(find_libraries()) as synthesiser:
            plain = await synthesiser.speak("Hello there, how are you?", VOICE)
            odd = await synthesiser.speak("Hello\0 there,\n how\x1b are \ud800 you?", VOICE)
    assert len(odd) >= 0.95 * len(plain)


async def test_a_text_that_is_too_long_is_an_error_of_the_caller() -> None:
    async with Synthesiser(find_libraries()) as synthesiser:
        with pytest.raises(ValueError, match="characters"):
            await synthesiser.speak("a" * (MAX_TEXT_CHARS + 1), VOICE)


def test_a_preferred_library_is_tried_first_with_the_data_beside_it(tmp_path: Path) -> None:
    alone, complete = tmp_path / "alone", tmp_path / "complete"
    (complete / "espeak-ng-data").mkdir(parents=True)
    assert find_libraries(str(alone / "lib.so"))[0] == EspeakLibrary(str(alone / "lib.so"), "")
    assert find_libraries(str(complete / "lib.so"))[0] == EspeakLibrary(str(complete / "lib.so"), str(complete))
    assert find_libraries(str(alone / "lib.so"))[1:] == find_libraries()


def test_the_worker_sees_none_of_the_services_settings() -> None:
    assert worker_environment({"CALLWRIGHT_SECRET": "do-not-pass-on", "PYTHONPATH": "/elsewhere", "HOME": "/"}) == {}
