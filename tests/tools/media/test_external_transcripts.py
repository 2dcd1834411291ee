"""Transcripts in the forms that services have, read without making anything up."""

import json
from typing import Any

import pytest

from callwright.contract.calls.calls import Transcript
from callwright.tools.media.external_transcripts import only_said, read_transcript, when, who
from callwright.tools.media.slices import TranscriptPart
from callwright.tools.media.transcripts import heading, turn_lines
from callwright.tools.runtime.tool import data_of, projected
from tests.support.tools.samples import call, transcript
from tests.tools.rendered import in_markdown, in_webvtt

VTT = """WEBVTT - a call

NOTE nothing

STYLE
::cue { color: red }

1
00:00:00.500 --> 00:00:02.000 align:start
<v Agent>Hello &amp; <i>welcome</i>.</v>

00:02.500 --> 00:04.000
User: Who is
this?
"""
SRT = "1\r\n00:00:01,000 --> 00:00:02,500\r\nHello.\r\n\r\n2\r\n00:00:03,000 --> 00:00:04,000\r\nHi.\r\n"


def read(body: Any, **about: Any) -> Transcript:
    content = body if isinstance(body, bytes) else body.encode() if isinstance(body, str) else json.dumps(body).encode()
    return read_transcript(content, call_id="cal_1", about=about)


def said(body: Any) -> list[tuple[str, str]]:
    return [(who(turn), turn.text) for turn in read(body).turns]


@pytest.mark.parametrize("name", ["turns", "messages", "segments", "transcript", "utterances"])
@pytest.mark.parametrize("speaker", ["role", "speaker", "from"])
@pytest.mark.parametrize("text", ["text", "content", "message", "words"])
def test_turns_are_found_under_the_names_that_are_used(name: str, speaker: str, text: str) -> None:
    body = {name: [{speaker: "assistant", text: "Hello."}, {speaker: "USER", text: "Hi."}]}
    assert said(body) == [("agent", "Hello."), ("contact", "Hi.")]


def test_the_contracts_own_form_is_read_whole() -> None:
    body = transcript().model_dump(mode="json")
    found = read(body)
    assert data_of(found)["turns"] == [turn for turn in data_of(transcript())["turns"]]


@pytest.mark.parametrize(
    "body",
    [
        [{"role": "agent", "text": "Hello."}],
        {"data": {"turns": [{"role": "agent", "text": "Hello."}]}},
        {"data": [{"role": "agent", "text": "Hello."}]},
        {"transcript": {"segments": [{"speaker": "bot", "text": "Hello."}]}},
        {"transcript": "Agent: Hello."},
        "Agent: Hello.",
        "[0:01] Assistant: Hello.",
        [{"role": "agent", "words": [{"word": "Hel", "punctuated_word": "Hello."}]}],
    ],
)
def test_other_shapes_are_read_as_well(body: Any) -> None:
    assert said(body) == [("agent", "Hello.")]


@pytest.mark.parametrize(
    ("value", "seconds"),
    [(2, 2.0), (1.5, 1.5), ("1.5", 1.5), ("0:02", 2.0), ("00:01:02.500", 62.5), ("1:00:00", 3_600.0)],
)
@pytest.mark.parametrize("name", ["start", "start_time", "timestamp", "start_seconds", "offset"])
def test_times_are_read_as_seconds(name: str, value: Any, seconds: float) -> None:
    (turn,) = read([{"text": "x", name: value}]).turns
    assert turn.start_seconds == seconds
    assert when(turn) is not None


@pytest.mark.parametrize("value", ["2026-11-21T09:30:00Z", 1_763_000_000, -1, None, True, "soon"])
def test_a_date_is_no_time_within_a_call(value: Any) -> None:
    (turn,) = read([{"text": "x", "timestamp": value}]).turns
    assert when(turn) is None
    assert turn_lines([turn]) == ["[0] somebody: x"]


def test_webvtt_is_read_with_its_times_and_voices() -> None:
    found = read(VTT)
    assert [(who(turn), turn.text, turn.start_seconds, turn.end_seconds) for turn in found.turns] == [
        ("agent", "Hello & welcome.", 0.5, 2.0),
        ("contact", "Who is this?", 2.5, 4.0),
    ]


def test_srt_is_read_as_well() -> None:
    assert [(turn.text, turn.start_seconds) for turn in read(SRT).turns] == [("Hello.", 1.0), ("Hi.", 3.0)]


def test_lines_without_speakers_are_turns_of_somebody() -> None:
    assert said("Hello.\n\nMay I ask you: is it Ada?\n") == [
        ("somebody", "Hello."),
        ("somebody", "May I ask you: is it Ada?"),
    ]


def test_a_speaker_who_is_neither_keeps_the_name() -> None:
    found = read([{"speaker": "Speaker 1‮", "text": "Hello."}])
    assert turn_lines(found.turns) == ["[0] Speaker 1: Hello."]
    assert shown(found)["turns"] == [{"index": 0, "text": "Hello.", "speaker": "Speaker 1"}]


def test_other_json_is_one_turn_of_text() -> None:
    (turn,) = read({"summary": "They talked."}).turns
    assert json.loads(turn.text) == {"summary": "They talked."}


@pytest.mark.parametrize("body", [b"", b"\xff\xfe\x00", b"[]", b"null", b'{"turns": []}', b"[" * 10_000])
def test_nothing_of_use_is_no_accident(body: bytes) -> None:
    found = read(body)
    assert len(found.turns) <= 1


def shown(found: Transcript) -> dict[str, Any]:
    return only_said(data_of(projected(TranscriptPart, found)), found)


def test_only_what_was_said_is_shown() -> None:
    found = read([{"role": "user", "text": "Hi.", "confidence": 0.9, "deep": {"x": 1}, "note": "a‮b"}])
    assert shown(found) == {
        "call_id": "cal_1",
        "status": "available",
        "turn_count": 1,
        "turns_left": 0,
        "turns": [{"index": 0, "role": "contact", "text": "Hi.", "confidence": 0.9, "note": "ab"}],
    }
    assert heading(found) == "cal_1  1 turn"


def test_the_call_lends_its_length_and_language() -> None:
    found = read([{"text": "Hi."}], duration_seconds=65, language="en-GB", simulated=True)
    assert heading(found) == "cal_1  en-GB  1 turn  1:05  simulated"


def test_a_transcript_of_the_contract_keeps_all_of_it() -> None:
    found = transcript()
    whole = data_of(projected(TranscriptPart, found))
    assert only_said(whole, found) == whole


def test_without_times_there_are_no_cues() -> None:
    text = in_webvtt(read([{"role": "agent", "text": "a --> b"}]))
    assert text.endswith("NOTE 0 agent: a --&gt; b\n")
    assert in_markdown(read([{"role": "agent", "text": "x"}]), call(), tag="t").count("turn 0") == 1
