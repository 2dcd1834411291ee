import os
from itertools import count
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from callwright.service.speech.recordings import MediaType, Recording, Recordings
from callwright.service.speech.synthesiser import SpeechUnavailable, Synthesiser, find_libraries
from tests.support.calls.speech_source import SquareWave, plan_of
from tests.support.tasks import tasks_within

MP3: MediaType = "audio/mpeg"
WAV: MediaType = "audio/wav"


class Ticks:
    """A clock that is a second later each time it is read."""

    def __init__(self) -> None:
        self._seconds = count(1_000_000)

    def __call__(self) -> int:
        return next(self._seconds) * 10**9


def recordings_in(
    folder: Path, speech: SquareWave, *, max_bytes: int = 10**8, open_timeout_s: float = 5, clock: Ticks | None = None
) -> Recordings:
    return Recordings(
        folder, max_bytes=max_bytes, synthesiser=speech, open_timeout_s=open_timeout_s, now_ns=clock or Ticks()
    )


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


async def test_a_real_recording_is_an_mp3_or_a_wav_on_disk(tmp_path: Path) -> None:
    with anyio.fail_after(5):
        async with Synthesiser(find_libraries()) as synthesiser:
            recordings = Recordings(tmp_path, max_bytes=10**8, synthesiser=synthesiser)
            plan = plan_of("Hello, this is Ada.", "Yes, hello.")
            mp3 = await recordings.open(plan, media_type=MP3)
            wav = await recordings.open(plan, media_type=WAV)
    assert mp3.path.read_bytes()[:3] == b"ID3"
    assert wav.path.read_bytes()[:4] == b"RIFF"
    assert (mp3.media_type, wav.media_type) == (MP3, WAV)
    for recording in (mp3, wav):
        assert recording.size == recording.path.stat().st_size
        assert recording.path.stem == f"{plan.call_id}.{plan.content_hash}"
    assert mp3.etag != wav.etag
    assert names_in(tmp_path) == {mp3.path.name, wav.path.name}


async def test_a_second_open_renders_nothing_and_has_the_same_tag(tmp_path: Path) -> None:
    speech = SquareWave()
    recordings = recordings_in(tmp_path / "new" / "folder", speech)
    first = await recordings.open(plan_of("Hello."), media_type=MP3)
    requests = speech.requests
    assert await recordings.open(plan_of("Hello."), media_type=MP3) == first
    assert speech.requests == requests
    assert first.etag.startswith(f'"{plan_of("Hello.").content_hash}')
    assert first.etag.endswith('"')


async def test_a_changed_turn_is_another_recording_with_another_tag(tmp_path: Path) -> None:
    recordings = recordings_in(tmp_path, SquareWave())
    first = await recordings.open(plan_of("Hello."), media_type=MP3)
    second = await recordings.open(plan_of("Hello!"), media_type=MP3)
    assert first.etag != second.etag
    assert first.path != second.path


async def test_a_restart_finds_the_files_and_their_tags_and_removes_what_was_left_unfinished(tmp_path: Path) -> None:
    first = await recordings_in(tmp_path, SquareWave()).open(plan_of("Hello."), media_type=MP3)
    unfinished = tmp_path / f"{first.path.name}.7.part"
    foreign = tmp_path / "notes.part"
    unfinished.write_bytes(b"half")
    foreign.write_bytes(b"mine")
    speech = SquareWave()
    restarted = recordings_in(tmp_path, speech)
    assert await restarted.open(plan_of("Hello."), media_type=MP3) == first
    assert speech.requests == 0
    await restarted.open(plan_of("Goodbye."), media_type=MP3)
    assert not unfinished.exists()
    assert foreign.exists()


async def test_concurrent_opens_of_one_plan_render_once(tmp_path: Path) -> None:
    speech = SquareWave(seconds_per_char=1 / 6)
    speech.gate = anyio.Event()
    recordings = recordings_in(tmp_path, speech)
    opened: list[Recording] = []

    async def open_it() -> None:
        opened.append(await recordings.open(plan_of("Hello."), media_type=MP3))

    async with tasks_within(5) as tasks:
        for _ in range(5):
            tasks.start_soon(open_it)
        while not speech.requests:
            await anyio.wait_all_tasks_blocked()
        speech.gate.set()
    assert speech.requests == 1
    assert len(opened) == 5
    assert len(set(opened)) == 1


async def test_no_more_than_the_allowed_number_render_at_once(tmp_path: Path) -> None:
    speech = SquareWave()
    speech.gate = anyio.Event()
    recordings = Recordings(tmp_path, max_bytes=10**8, synthesiser=speech, max_renders=2, now_ns=Ticks())
    looked_for: list[str] = []

    async def open_it(text: str) -> None:
        looked_for.append(text)
        await recordings.open(plan_of(text), media_type=MP3)

    async with tasks_within(5) as tasks:
        for number in range(4):
            tasks.start_soon(open_it, f"Call {number}.")
        while speech.requests < 2:
            await anyio.wait_all_tasks_blocked()
        # Everyone else waits: each has had its turn in the threads that look for files.
        for _ in range(50):
            await to_thread.run_sync(int)
            await anyio.wait_all_tasks_blocked()
        assert speech.requests == 2
        speech.gate.set()
    assert len(looked_for) == 4
    assert speech.requests > 2


async def test_whoever_waits_takes_over_when_the_first_gives_up(tmp_path: Path) -> None:
    speech = SquareWave()
    speech.gate = anyio.Event()
    recordings = recordings_in(tmp_path, speech)
    opened: list[Recording] = []
    first = anyio.CancelScope()

    async def give_up() -> None:
        with first:
            await recordings.open(plan_of("Hello."), media_type=MP3)

    async def wait_for_it() -> None:
        opened.append(await recordings.open(plan_of("Hello."), media_type=MP3))

    async with tasks_within(5) as tasks:
        tasks.start_soon(give_up)
        while not speech.requests:
            await anyio.wait_all_tasks_blocked()
        tasks.start_soon(wait_for_it)
        await anyio.wait_all_tasks_blocked()
        first.cancel()
        speech.gate.set()
    assert first.cancelled_caught
    assert len(opened) == 1


async def test_the_files_not_used_for_longest_go_when_there_is_no_more_room(tmp_path: Path) -> None:
    speech = SquareWave()
    clock = Ticks()
    size = (await recordings_in(tmp_path / "one", speech).open(plan_of("One."), media_type=MP3)).size
    recordings = recordings_in(tmp_path / "lru", speech, max_bytes=int(2.5 * size), clock=clock)
    one = await recordings.open(plan_of("One."), media_type=MP3)
    two = await recordings.open(plan_of("Two."), media_type=MP3)
    await recordings.open(plan_of("One."), media_type=MP3)
    three = await recordings.open(plan_of("Six."), media_type=MP3)
    assert one.path.exists()
    assert not two.path.exists()
    assert three.path.exists()


async def test_a_file_made_again_has_a_new_tag(tmp_path: Path) -> None:
    recordings = recordings_in(tmp_path, SquareWave())
    first = await recordings.open(plan_of("One."), media_type=MP3)
    first.path.unlink()
    again = await recordings.open(plan_of("One."), media_type=MP3)
    assert again.path == first.path
    assert again.etag != first.etag


async def test_the_file_just_made_stays_even_if_it_alone_is_too_large_and_other_files_are_left_alone(
    tmp_path: Path,
) -> None:
    foreign = tmp_path / "notes.mp3"
    foreign.write_bytes(bytes(5000))
    os.utime(foreign, ns=(0, 0))
    recordings = recordings_in(tmp_path, SquareWave(), max_bytes=10)
    first = await recordings.open(plan_of("One."), media_type=WAV)
    assert first.path.exists()
    second = await recordings.open(plan_of("Two."), media_type=WAV)
    assert not first.path.exists()
    assert second.path.exists()
    assert foreign.exists()


async def test_missing_speech_passes_through_and_leaves_nothing_behind(tmp_path: Path) -> None:
    speech = SquareWave()
    speech.fails = True
    recordings = recordings_in(tmp_path, speech)
    with pytest.raises(SpeechUnavailable, match="no speech in this test"):
        await recordings.open(plan_of("Hello."), media_type=MP3)
    assert names_in(tmp_path) == set()
    speech.fails = False
    assert (await recordings.open(plan_of("Hello."), media_type=MP3)).size > 0


async def test_a_recording_that_is_not_ready_in_time_is_unavailable(tmp_path: Path) -> None:
    speech = SquareWave()
    speech.gate = anyio.Event()
    recordings = recordings_in(tmp_path, speech, open_timeout_s=0.05)
    with anyio.fail_after(5), pytest.raises(SpeechUnavailable, match="not ready in time"):
        await recordings.open(plan_of("Hello."), media_type=MP3)


async def test_the_files_of_a_call_are_forgotten_and_no_others(tmp_path: Path) -> None:
    recordings = recordings_in(tmp_path / "new", SquareWave())
    assert await recordings.held(10) == []
    await recordings.forget({"cal_1"})
    plans = [plan_of("Hello.", call_id=call_id) for call_id in ("cal_1", "cal_2", "cal_12", "preview en-US-ada")]
    made = [await recordings.open(plan, media_type=media) for plan in plans for media in (MP3, WAV)]
    foreign = tmp_path / "new" / "cal_1.mp3"
    foreign.touch()
    assert await recordings.held(10) == ["cal_1", "cal_12", "cal_2"]
    await recordings.forget({"cal_1", "cal_9"})
    assert await recordings.held(10) == ["cal_12", "cal_2"]
    assert [recording.path.exists() for recording in made] == [False, False, *[True] * 6]
    assert foreign.exists()


async def test_the_calls_with_files_are_told_a_few_at_a_time_and_then_from_the_first_again(tmp_path: Path) -> None:
    recordings = recordings_in(tmp_path, SquareWave())
    for index in range(5):
        await recordings.open(plan_of("Hello.", call_id=f"cal_{index}"), media_type=MP3)
    told = [await recordings.held(2) for _ in range(4)]
    assert told == [["cal_0", "cal_1"], ["cal_2", "cal_3"], ["cal_4"], ["cal_0", "cal_1"]]
    await recordings.forget({"cal_2", "cal_3", "cal_4"})
    assert await recordings.held(2) == ["cal_0", "cal_1"]


async def test_a_tag_does_not_say_whose_recording_it_is(tmp_path: Path) -> None:
    made = await recordings_in(tmp_path, SquareWave()).open(plan_of("Hello."), media_type=MP3)
    assert "cal_1" not in made.etag
