"""The content of a recording: the turns of a call, when they were said and by whom."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import Literal, Protocol

from callwright.service.speech.synthesiser import MAX_TEXT_CHARS

RENDERER_VERSION = 1
"""Increased whenever the same content would sound different, so that no older file is served for it."""
MAX_DURATION_S = 3600.0


class TimedTurn(Protocol):
    """A turn as a recording needs it; the call engine's `Turn` is one. Times are seconds after the answer."""

    @property
    def index(self) -> int: ...
    @property
    def speaker(self) -> Literal["agent", "contact", "system"]: ...
    @property
    def text(self) -> str: ...
    @property
    def start_s(self) -> float: ...
    @property
    def end_s(self) -> float: ...
    @property
    def language(self) -> str: ...


@dataclass(frozen=True, kw_only=True)
class RecordingContent:
    """What is heard in the recording of a call. Times in `turns`, and `duration_s`, are seconds after the answer.

    Raises ValueError when the call has no length or more than `MAX_DURATION_S`, or a turn more text than can be spoken.
    """

    call_id: str
    duration_s: float
    turns: Sequence[TimedTurn]
    """What was said: none of `system`."""
    agent_voice_id: str
    agent_language: str
    seed: str
    """Decides the voice of the contact."""

    def __post_init__(self) -> None:
        if not 0 < self.duration_s <= MAX_DURATION_S:
            raise ValueError(f"a recording lasts more than 0 and at most {MAX_DURATION_S:.0f} seconds")
        if any(len(turn.text) > MAX_TEXT_CHARS for turn in self.turns):
            raise ValueError(f"a turn has at most {MAX_TEXT_CHARS} characters")

    @cached_property
    def content_hash(self) -> str:
        """32 hexadecimal digits, equal for contents that sound the same and different for all others."""
        heard = [
            [turn.speaker, turn.text, round(turn.start_s, 4), round(turn.end_s, 4), turn.language]
            for turn in self.turns
        ]
        call = [self.call_id, round(self.duration_s, 4), heard, self.agent_voice_id, self.agent_language, self.seed]
        content = [RENDERER_VERSION, *call]
        return blake2b(json.dumps(content, separators=(",", ":")).encode(), digest_size=16).hexdigest()
