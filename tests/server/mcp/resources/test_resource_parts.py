"""Parts of transcripts and recordings, and what is said about what is left."""

import base64
import json
import re

import pytest
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS, BlobResourceContents, TextResourceContents

from callwright.server.mcp.resources.content import TEXT_BYTES
from callwright.server.mcp.resources.sound import frames_of
from tests.support.calls.speech_source import mp3_tone
from tests.support.tools import samples
from tests.support.tools.fakes import FakeCaller, FakeMedia, assistant, server
from tests.support.tools.tool_turns import tool_turn

CALL = "callwright://calls/cal_1"


async def read(caller: FakeCaller, uri: str, era: str = "2026-07-28") -> TextResourceContents | BlobResourceContents:
    async with assistant(server(caller, base_url="http://127.0.0.1:8080/v1"), era) as client:
        [found] = (await client.read_resource(uri)).contents
    return found


async def text(caller: FakeCaller, uri: str, era: str = "2026-07-28") -> str:
    found = await read(caller, uri, era)
    assert isinstance(found, TextResourceContents)
    return found.text


async def failure(caller: FakeCaller, uri: str, era: str) -> tuple[int, str]:
    async with assistant(server(caller), era) as client:
        with pytest.raises(MCPError) as caught:
            await client.read_resource(uri)
    return caught.value.error.code, caught.value.error.message


def long_call(turns: int, *, words: int = 50) -> FakeCaller:
    said = [samples.turn(number, "word " * words) for number in range(turns)]
    return FakeCaller(answers=samples.answers() | {"get_transcript": samples.transcript(*said)})


@pytest.mark.parametrize(
    ("query", "indexes"),
    [
        ("", [0, 1, 2]),
        ("?from=3.5", [1, 2]),
        ("?to=4", [0]),
        ("?from=4&to=8", [1]),
        ("?speaker=agent", [0, 2]),
        ("?from=3.5&speaker=contact", [1]),
    ],
)
async def test_a_part_has_the_turns_that_sound_in_it(query: str, indexes: list[int], era: str) -> None:
    found = json.loads(await text(FakeCaller(), f"{CALL}/transcript.json{query}", era))
    assert [turn["index"] for turn in found["turns"]] == indexes
    assert found["turn_count"] == 3


@pytest.mark.parametrize("suffix", ["", ".md", ".vtt"])
async def test_every_form_takes_the_same_parts(suffix: str) -> None:
    found = await text(FakeCaller(), f"{CALL}/transcript{suffix}?speaker=contact")
    assert "Yes, that is me." in found
    assert "Hello Ada." not in found


async def test_the_form_with_a_suffix_is_the_same_markdown() -> None:
    assert await text(FakeCaller(), f"{CALL}/transcript.md") == await text(FakeCaller(), f"{CALL}/transcript")


@pytest.mark.parametrize("suffix", [".md", ".vtt", ".json"])
async def test_a_part_in_which_nobody_speaks_says_so(suffix: str) -> None:
    assert "No turn fits what was asked for." in await text(FakeCaller(), f"{CALL}/transcript{suffix}?from=60")


@pytest.mark.parametrize("suffix", ["", ".md", ".vtt", ".json"])
async def test_a_long_transcript_goes_on_where_the_last_line_says(suffix: str) -> None:
    caller = long_call(1_000)
    uri, seen, readings = f"{CALL}/transcript{suffix}", set[int](), 0
    while uri:
        found = await text(caller, uri)
        assert len(found.encode()) <= TEXT_BYTES
        readings += 1
        seen |= {number for number in range(1_000) if _has(found, number, suffix)}
        uri = found.partition(" left: read ")[2].split()[0].strip('",') if " left: read " in found else ""
    assert seen == set(range(1_000))
    assert 4 <= readings <= 6


def _has(found: str, number: int, suffix: str) -> bool:
    marks = {".vtt": f"\n\n{number}\n", ".json": f'"index": {number},'}
    return marks.get(suffix, f", turn {number}): ") in found


async def test_what_is_left_keeps_the_speaker_that_was_asked_for() -> None:
    said = [samples.turn(number, "word " * 50, "agent") for number in range(1_000)]
    caller = FakeCaller(answers=samples.answers() | {"get_transcript": samples.transcript(*said)})
    found = json.loads(await text(caller, f"{CALL}/transcript.json?speaker=agent&to=3990"))
    assert found["turns_left"] == 998 - len(found["turns"])
    assert found["note"].endswith("&to=3990&speaker=agent")


async def test_turns_stand_in_the_json_of_a_transcript_as_json_writes_them() -> None:
    turn = samples.turn(0, 'He said "turns": [], \n {a}')
    for turns in ([turn], [turn, samples.turn(1, "ж}")]):
        caller = FakeCaller(answers=samples.answers() | {"get_transcript": samples.transcript(*turns)})
        found = await text(caller, f"{CALL}/transcript.json")
        assert found == json.dumps(json.loads(found), ensure_ascii=False, indent=1)
        assert len(json.loads(found)["turns"]) == len(turns)


async def test_one_very_long_turn_does_not_break_the_bound() -> None:
    for suffix in ("", ".json", ".vtt"):
        found = await text(long_call(1, words=100_000), f"{CALL}/transcript{suffix}")
        assert len(found.encode()) <= TEXT_BYTES


async def test_a_part_of_a_recording_is_cut_out_of_it(era: str) -> None:
    caller = FakeCaller(media=FakeMedia(mp3_tone(10)))
    found = await read(caller, f"{CALL}/recording?from=2&to=5", era)
    assert isinstance(found, BlobResourceContents)
    assert found.mime_type == "audio/mpeg"
    assert frames_of(base64.b64decode(found.blob)).duration_s == pytest.approx(3, abs=0.2)


async def test_a_recording_that_is_too_large_names_the_part_that_fits(era: str) -> None:
    caller = FakeCaller(media=FakeMedia(_repeated(mp3_tone(2), 300)))
    said = await text(caller, f"{CALL}/recording", era)
    assert said.startswith("The recording is larger than 750,000 bytes")
    uri = said.partition("fit: read ")[2].split()[0]
    found = await read(caller, uri, era)
    assert isinstance(found, BlobResourceContents)
    assert 700_000 < len(base64.b64decode(found.blob)) <= 750_000


async def test_a_part_that_is_too_large_names_a_smaller_one_from_the_same_moment() -> None:
    caller = FakeCaller(media=FakeMedia(_repeated(mp3_tone(2), 300)))
    said = await text(caller, f"{CALL}/recording?from=30&to=500")
    assert "The part asked for is larger than 750,000 bytes" in said
    assert re.search(r"/recording\?from=30&to=2\d\d", said)
    assert said.endswith("/v1/calls/cal_1/recording")


async def test_a_part_behind_the_end_is_refused_with_the_length(era: str) -> None:
    code, message = await failure(FakeCaller(media=FakeMedia(mp3_tone(3))), f"{CALL}/recording?from=60", era)
    assert (code, message) == (INVALID_PARAMS, "from must be less than 3: that is where the recording ends.")


async def test_no_part_is_cut_out_of_something_else(era: str) -> None:
    code, message = await failure(FakeCaller(media=FakeMedia(b"OggS" + bytes(5_000))), f"{CALL}/recording?to=2", era)
    assert code == INTERNAL_ERROR
    assert "read it whole" in message


def _repeated(made: bytes, times: int) -> bytes:
    """The same frames again and again, behind one tag."""
    frames = frames_of(made)
    return made[: frames.tag_bytes] + made[frames.tag_bytes :] * times


@pytest.mark.requirement("CALLTOOL-15")
async def test_the_call_of_a_tool_is_cleaned_in_the_json_of_a_transcript(era: str) -> None:
    said = samples.transcript(samples.turn(0, "Hi."), tool_turn(1, result="ten\u202e or eleven"))
    caller = FakeCaller(answers=samples.answers() | {"get_transcript": said})
    turns = json.loads(await text(caller, f"{CALL}/transcript.json", era))["turns"]
    assert turns[1]["role"] == "system"
    called = turns[1]["tool_call"]
    assert (called["name"], called["result"], called["ok"]) == ("free_times", "ten or eleven", True)
