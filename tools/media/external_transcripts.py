"""Transcripts of services that store them elsewhere, or in another form, parsed leniently. No values are invented.

Four forms are understood: the contract's own; JSON with a list of turns under one of several names; WebVTT (or SRT);
lines of text with or without a speaker. Any other JSON becomes one turn of text.

Turns are `TranscriptTurn`. Values that the service did not give are empty and not in `model_fields_set`; further ones
are in `model_extra`. `who`, `when` and `only_said` tell the two apart.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from callwright.client.compat.external_address import transcript_type
from callwright.client.errors import AddressUnreadable, CallwrightError, NotFound, NotOffered, UnexpectedAnswer
from callwright.contract.calls.calls import (
    Call,
    GetCall,
    GetTranscript,
    Transcript,
    TranscriptTurn,
    get_call,
    get_transcript,
)
from callwright.tools.runtime.tool_context import Caller
from callwright.tools.wording.cleaning import cleaned
from callwright.tools.wording.text import clock_time

Json = dict[str, Any]

MOST_BYTES = 5_000_000
_MOST_TURNS = 4_000
_LONGEST_TURN = 20_000
_LONGEST_FACT = 200
_LONGEST_NAME = 60
_LONGEST_CALL_S = 1_000_000
_DEPTH = 4
_LISTS = ("turns", "messages", "segments", "transcript", "utterances", "entries", "data")
_SPEAKERS = ("role", "speaker", "from", "speaker_label", "participant")
_TEXTS = ("text", "content", "message", "words", "transcript", "utterance")
_BEGINS = ("start_seconds", "start", "start_time", "timestamp", "time", "offset", "begin")
_ENDS = ("end_seconds", "end", "end_time")
_AGENTS = frozenset({"agent", "assistant", "bot", "ai", "model"})
_CONTACTS = frozenset({"contact", "user", "customer", "caller", "callee", "human", "client", "lead", "patient"})
_CUE = re.compile(r"((?:\d{1,3}:)?\d{1,2}:\d{2}[.,]\d{1,3})\s+-->\s+((?:\d{1,3}:)?\d{1,2}:\d{2}[.,]\d{1,3})")
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]{1,100})>")
_TAG = re.compile(r"</?[a-z0-9][^>]{0,100}>", re.IGNORECASE)
_LINE = re.compile(
    r"(?:\[?((?:\d{1,3}:)?\d{1,2}:\d{2}(?:[.,]\d{1,3})?)\]?\s*)?([A-Za-z][\w.'-]{0,30}(?: [\w.'-]{1,20})?):\s+(.*)"
)
_ENTITIES = re.compile(r"&(amp|lt|gt|nbsp|lrm|rlm);")
_CHARACTERS = {"amp": "&", "lt": "<", "gt": ">", "nbsp": " ", "lrm": "", "rlm": ""}
_CLOCK = re.compile(r"(?:(\d{1,3}):)?(\d{1,2}):(\d{2})(?:[.,](\d{1,3}))?")


async def foreign_transcript(client: Caller, call_id: str, refused: CallwrightError | None) -> Transcript:
    """The transcript at the call's `transcript_url`.

    Raises:
        CallwrightError: `refused`, the service's own error, if the call names no address; or the reason why the address
            cannot be read.
    """
    about = (await client.ask_lenient(get_call, GetCall(call_uuid=call_id))).data
    url = about.get("transcript_url")
    if not isinstance(url, str) or not url:
        raise refused or AddressUnreadable("the call names no transcript_url")
    async with client.open_address(url, accepts=transcript_type) as found:
        body = await found.read(MOST_BYTES)
    return read_transcript(body, call_id=call_id, about=about)


def needs_another_way(error: CallwrightError) -> bool:
    """Whether a transcript or a recording may still be at the address that its call names."""
    return isinstance(error, NotOffered | NotFound | UnexpectedAnswer)


async def own_form(client: Caller, asked: GetTranscript, *, first: int = 0) -> Transcript:
    """The service's own answer for a transcript, in any form of JSON. `first` is the index of its first turn."""
    found = await client.ask_lenient(get_transcript, asked)
    if found.answer is not None:
        return found.answer
    read = transcript_of(found.data, call_id=asked.call_uuid, about={})
    turns = [turn.model_copy(update={"index": first + turn.index}) for turn in read.turns]
    return read.model_copy(update={"turns": turns})


def read_transcript(body: bytes, *, call_id: str, about: Mapping[str, Any]) -> Transcript:
    """Parses a transcript in any of the forms. `about` is the call, for its length."""
    text = body.decode("utf-8-sig", "replace")
    try:
        return transcript_of(json.loads(text), call_id=call_id, about=about)
    except (ValueError, RecursionError):
        turns = list(_cues(text)) if _CUE.search(text) else list(_lines(text))
        return _made(turns, {}, call_id=call_id, about=about)


def transcript_of(document: Any, *, call_id: str, about: Mapping[str, Any]) -> Transcript:
    """Parses a transcript in JSON."""
    entries, beside = _entries(document, _DEPTH)
    if entries is None:
        text = document if isinstance(document, str) else json.dumps(document, ensure_ascii=False, indent=1)
        facts = list(_lines(text)) if isinstance(document, str) else [{"text": text[:_LONGEST_TURN]}]
        return _made(facts, {}, call_id=call_id, about=about)
    return _made([_facts(entry) for entry in entries[:_MOST_TURNS]], beside, call_id=call_id, about=about)


def call_of(data: Mapping[str, Any]) -> Call:
    """A call with only the fields that the service gave. Every other field is None."""
    said = {name: value for name, value in data.items() if name in Call.model_fields and isinstance(value, str)}
    clean = {name: cleaned(value)[:_LONGEST_FACT] for name, value in said.items()}
    return Call.model_construct(set(clean), **{**dict.fromkeys(Call.model_fields), **clean})


def who(turn: TranscriptTurn) -> str:
    """The speaker as the service calls it."""
    if "role" in turn.model_fields_set:
        return turn.role
    return str((turn.model_extra or {}).get("speaker", "somebody"))


def when(turn: TranscriptTurn) -> str | None:
    """The start as minutes and seconds, if it is known."""
    return clock_time(turn.start_seconds) if "start_seconds" in turn.model_fields_set else None


def only_said(data: Json, found: Transcript) -> Json:
    """The data of a transcript, or of a part with the same turns, without values that the service did not give."""
    unsaid = set(Transcript.model_fields) - found.model_fields_set - {"next_cursor"}
    kept = {name: value for name, value in data.items() if name not in unsaid}
    turns = cast("list[Json]", data.get("turns", []))
    kept["turns"] = [only_said_of_turn(shown, turn) for shown, turn in zip(turns, found.turns, strict=True)]
    return kept


def only_said_of_turn(data: Json, turn: TranscriptTurn) -> Json:
    """The data of a turn without values that the service did not give."""
    return {name: value for name, value in data.items() if name in turn.model_fields_set} | (turn.model_extra or {})


def _made(turns: list[Json], beside: Json, *, call_id: str, about: Mapping[str, Any]) -> Transcript:
    said: Json = {"call_id": call_id, "status": "available" if turns else "absent", "turn_count": len(turns)}
    language = beside.get("language", about.get("language"))
    if isinstance(language, str):
        said["language"] = cleaned(language)[:_LONGEST_FACT]
    length = _seconds(beside.get("duration_seconds", about.get("duration_seconds")))
    if length is not None:
        said["duration_seconds"] = length
    if isinstance(about.get("simulated"), bool):
        said["simulated"] = about["simulated"]
    if isinstance(beside.get("next_cursor"), str):
        said["next_cursor"] = beside["next_cursor"]
    made = [_turn(index, facts) for index, facts in enumerate(turns)]
    empty: Json = {"simulated": False, "language": "", "duration_seconds": 0.0, "next_cursor": None}
    return Transcript.model_construct({*said, "turns"}, **{**empty, **said, "turns": made})


def _turn(index: int, facts: Json) -> TranscriptTurn:
    empty: Json = {"role": "contact", "start_seconds": 0.0, "end_seconds": 0.0, "language": "", "source": ""}
    said = {"index": index, **facts}
    empty["end_seconds"] = said.get("start_seconds", 0.0)
    names = set(said) & set(TranscriptTurn.model_fields)
    return TranscriptTurn.model_construct(names, **{**empty, "interrupted": False, **said})


def _entries(document: Any, depth: int) -> tuple[list[Any] | None, Json]:
    """The turns, and the fields beside them; None if there is no list of turns."""
    if isinstance(document, list):
        return cast("list[Any]", document), {}
    if not isinstance(document, dict) or depth == 0:
        return None, {}
    found = cast("Json", document)
    for name in _LISTS:
        if isinstance(found.get(name), list):
            return found[name], found
    for name in _LISTS:
        inner = found.get(name)
        if isinstance(inner, dict):
            entries, beside = _entries(inner, depth - 1)
            return entries, {**found, **beside}
        if isinstance(inner, str):
            return list(_lines(inner)), found
    return None, found


def _facts(entry: Any) -> Json:
    """The fields of one turn: text, speaker and times under the contract's names, short ones under their own."""
    if not isinstance(entry, dict):
        return {"text": str(entry)[:_LONGEST_TURN]}
    given = cast("Json", entry)
    used: set[str] = set()
    facts: Json = {}
    for name in _TEXTS:
        if (text := _text(given.get(name))) is not None:
            facts["text"] = text[:_LONGEST_TURN]
            used.add(name)
            break
    for name in _SPEAKERS:
        value = given.get(name)
        if isinstance(value, (str, int)) and not isinstance(value, bool):
            facts |= _speaker(str(value))
            used.add(name)
            break
    for target, names in (("start_seconds", _BEGINS), ("end_seconds", _ENDS)):
        for name in names:
            if (moment := _seconds(given.get(name))) is not None:
                facts[target] = moment
                used.add(name)
                break
    further = {name: value for name, value in given.items() if name not in used and name not in ("index", *facts)}
    return {**_short(further), "text": facts.pop("text", ""), **facts}


def _short(facts: Json) -> Json:
    """Fields with a single value and a clean name: no lists, no objects, no long texts."""
    return {
        cleaned(name): cleaned(value)[:_LONGEST_FACT] if isinstance(value, str) else value
        for name, value in facts.items()
        if isinstance(value, (str, int, float, bool)) and cleaned(name).isidentifier() and name[0] != "_"
    }


def _text(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return None
    parts: list[str] = []
    for entry in cast("list[Any]", value):
        found: Any = entry
        if isinstance(entry, dict):
            word = cast("Json", entry)
            found = next((word[name] for name in ("punctuated_word", "word", "text") if name in word), None)
        if isinstance(found, str):
            parts.append(found)
    return " ".join(parts)


def _speaker(name: str) -> Json:
    plain = name.strip().casefold()
    if plain in _AGENTS:
        return {"role": "agent"}
    return {"role": "contact"} if plain in _CONTACTS else {"speaker": cleaned(name).strip()[:_LONGEST_NAME]}


def _seconds(value: Any) -> float | None:
    """Seconds from a number or from `m:ss`. None for a date, or for a number too large to be seconds."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value) if 0 <= value < _LONGEST_CALL_S else None
    match = _CLOCK.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        try:
            return _seconds(float(value)) if isinstance(value, str) else None
        except ValueError:
            return None
    hours, minutes, seconds, part = match.groups()
    return int(hours or 0) * 3_600 + int(minutes) * 60 + int(seconds) + (float(f"0.{part}") if part else 0.0)


def _cues(text: str) -> Iterator[Json]:
    """The cues of WebVTT or SRT, one for each block. Source: https://www.w3.org/TR/webvtt1/"""
    for block in re.split(r"\n[ \t]*\n", text.replace("\r\n", "\n").replace("\r", "\n"))[: _MOST_TURNS * 2]:
        before, found, after = _split(block)
        if found is None or before.lstrip().startswith(("NOTE", "STYLE", "REGION")):
            continue
        payload = " ".join(after.split("\n")).strip()
        voice = _VOICE.search(payload)
        spoken = _ENTITIES.sub(lambda match: _CHARACTERS[match[1]], _TAG.sub("", _VOICE.sub("", payload))).strip()
        named = _LINE.fullmatch(spoken) if voice is None else None
        facts: Json = _speaker(voice[1]) if voice else (_speaker(named[2]) if named else {})
        times = {"start_seconds": _seconds(found[1]), "end_seconds": _seconds(found[2])}
        yield {**facts, **times, "text": (named[3] if named else spoken)[:_LONGEST_TURN]}


def _split(block: str) -> tuple[str, "re.Match[str] | None", str]:
    match = _CUE.search(block)
    if match is None:
        return block, None, ""
    return block[: match.start()], match, block[match.end() :].partition("\n")[2]


def _lines(text: str) -> Iterator[Json]:
    """Lines of text, one a turn, with a speaker before a colon and a time before the speaker."""
    for number, written in enumerate(filter(str.strip, text.splitlines())):
        if number >= _MOST_TURNS:
            return
        match = _LINE.fullmatch(written.strip())
        if match is None:
            yield {"text": written.strip()[:_LONGEST_TURN]}
            continue
        begin = _seconds(match[1]) if match[1] else None
        times = {} if begin is None else {"start_seconds": begin}
        yield {**_speaker(match[2]), **times, "text": match[3][:_LONGEST_TURN]}
