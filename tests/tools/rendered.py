"""Transcripts in their forms for people and players, all of their turns."""

from callwright.contract.calls.calls import Call, Transcript
from callwright.tools.media.transcripts import markdown, markdown_turns, vtt_cues, webvtt


def in_markdown(transcript: Transcript, call: Call, *, tag: str, note: str | None = None) -> str:
    return markdown(transcript, call, list(markdown_turns(transcript.turns)), tag=tag, note=note)


def in_webvtt(transcript: Transcript, *, note: str | None = None) -> str:
    return webvtt(transcript, list(vtt_cues(transcript.turns)), note=note)
