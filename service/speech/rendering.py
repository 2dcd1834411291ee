"""Makes the sound of a call from its timed turns.

The times of the turns are given, and speech is fitted to them. Each turn is spoken once at its voice's own rate,
measured, and spoken again at the rate that fills its time.
"""

import sys
from array import array
from dataclasses import dataclass
from typing import Protocol

from anyio import CapacityLimiter, to_thread

from callwright.service.speech.recording_content import RecordingContent, TimedTurn
from callwright.service.speech.synthesiser import MAX_RATE_WPM, MIN_RATE_WPM, SAMPLE_RATE
from callwright.service.speech.voices import EspeakVoice, agent_voice, contact_voice

_GOOD_MISFIT_S = 0.02
"""A first attempt with at most this misfit is kept."""
_FAIR_MISFIT_S = 0.1
"""A later attempt with at most this misfit is kept."""
_MAX_ATTEMPTS = 4
_SILENCE = 64
"""Samples up to this size are silence (-54 dB)."""
_BLOCK = SAMPLE_RATE // 100
_PAUSE_BLOCKS = 5
"""Silence of 50 ms is a pause; shorter ones belong to consonants."""


class Speech(Protocol):
    """Turns text into mono samples, as `Synthesiser` does."""

    async def speak(self, text: str, voice: EspeakVoice, *, rate_wpm: int | None = None) -> bytes:
        """Signed 16-bit samples at `SAMPLE_RATE`."""
        ...


@dataclass(frozen=True)
class TurnFit:
    """How well a turn fills its planned time. A turn without words fits any time."""

    index: int
    planned_s: float
    rendered_s: float
    rate_wpm: int

    @property
    def misfit_s(self) -> float:
        """Seconds the rendered turn is longer than planned; negative when it is shorter."""
        return self.rendered_s - self.planned_s if self.rate_wpm else 0.0


@dataclass(frozen=True)
class Rendering:
    """Interleaved signed 16-bit samples at `SAMPLE_RATE`: agent left, contact right."""

    pcm: "array[int]"
    fits: tuple[TurnFit, ...]

    @property
    def worst_misfit_s(self) -> float:
        """The largest misfit of a turn, without its sign."""
        return max((abs(fit.misfit_s) for fit in self.fits), default=0.0)


async def render(content: RecordingContent, speech: Speech, *, threads: CapacityLimiter | None = None) -> Rendering:
    """The sound of a call, exactly `content.duration_s` long.

    A turn that does not fit into its time even at the fastest rate continues until its speaker's next turn or the end
    of the call. CPU-bound work runs in threads limited by `threads`. A minute of sound takes 5 MB.

    Raises:
        SpeechUnavailable: from `speech`.
    """
    pcm = array("h", bytes(4 * round(content.duration_s * SAMPLE_RATE)))
    fits: list[TurnFit] = []
    # By start, so that of two turns of one speaker that overlap, the later one is heard.
    for turn in sorted(content.turns, key=lambda turn: turn.start_s):
        samples, fit = await _fitted(turn, _voice_of(turn, content), speech, threads)
        fits.append(fit)
        _place(samples, pcm, channel=0 if turn.speaker == "agent" else 1, start_s=turn.start_s)
    if sys.byteorder == "big":  # every container of `encoding` is little-endian
        pcm.byteswap()
    return Rendering(pcm, tuple(sorted(fits, key=lambda fit: fit.index)))


def _voice_of(turn: TimedTurn, content: RecordingContent) -> EspeakVoice:
    agent = agent_voice(content.agent_voice_id, agent_language=content.agent_language, spoken_language=turn.language)
    return (agent if turn.speaker == "agent" else contact_voice(turn.language, seed=content.seed, agent=agent)).espeak


async def _fitted(
    turn: TimedTurn, voice: EspeakVoice, speech: Speech, threads: CapacityLimiter | None
) -> tuple["array[int]", TurnFit]:
    """The samples of a turn at the rate that fills its time best."""
    planned_s = max(0.0, turn.end_s - turn.start_s)
    silent = TurnFit(turn.index, planned_s, 0.0, 0)
    if not turn.text.strip() or planned_s == 0.0:
        return array("h"), silent
    attempts: dict[int, array[int]] = {}
    rate = voice.rate_wpm
    for _ in range(_MAX_ATTEMPTS):
        samples = _without_tail(array("h", await speech.speak(turn.text, voice, rate_wpm=rate)))
        if not samples:  # nothing in the text can be pronounced
            return samples, silent
        misfit_s = len(samples) / SAMPLE_RATE - planned_s
        enough_s = _FAIR_MISFIT_S if attempts else _GOOD_MISFIT_S
        attempts[rate] = samples
        if abs(misfit_s) <= enough_s:
            break
        rate = round(rate * len(samples) / SAMPLE_RATE / planned_s)
        if rate in attempts and misfit_s > 0:  # whole numbers: rather too short, as pauses can be stretched
            rate += 1
        rate = min(max(rate, MIN_RATE_WPM), MAX_RATE_WPM)
        if rate in attempts:
            break
    planned = round(planned_s * SAMPLE_RATE)
    rate, samples = min(attempts.items(), key=lambda attempt: abs(len(attempt[1]) - planned))
    if abs(len(samples) - planned) > _FAIR_MISFIT_S * SAMPLE_RATE:
        short = [attempt for attempt in attempts.items() if len(attempt[1]) < planned]
        if short:
            rate, samples = max(short, key=lambda attempt: len(attempt[1]))
            samples = await to_thread.run_sync(_with_longer_pauses, samples, planned, limiter=threads)
    return samples, TurnFit(turn.index, planned_s, len(samples) / SAMPLE_RATE, rate)


def _is_silent(samples: "array[int]") -> bool:
    return max(samples, default=0) <= _SILENCE and min(samples, default=0) >= -_SILENCE


def _without_tail(samples: "array[int]") -> "array[int]":
    """The samples up to the end of the last sound, to within 3 ms."""
    end = len(samples)
    while end and _is_silent(samples[max(0, end - 64) : end]):
        end = max(0, end - 64)
    return samples[:end]


def _with_longer_pauses(samples: "array[int]", length: int) -> "array[int]":
    """The samples, brought to a length by lengthening every pause equally. Speech without pauses stays as it is."""
    pauses: list[int] = []
    quiet = 0
    for start in range(0, len(samples), _BLOCK):
        if _is_silent(samples[start : start + _BLOCK]):
            quiet += 1
            continue
        if quiet >= _PAUSE_BLOCKS and start > quiet * _BLOCK:  # not the silence before the first word
            pauses.append(start - quiet * _BLOCK // 2)
        quiet = 0
    stretched, done = array("h"), 0
    for number, middle in enumerate(pauses):
        share = (length - len(samples)) * (number + 1) // len(pauses) - (length - len(samples)) * number // len(pauses)
        stretched += samples[done:middle] + array("h", bytes(2 * share))
        done = middle
    return stretched + samples[done:]


def _place(samples: "array[int]", pcm: "array[int]", *, channel: int, start_s: float) -> None:
    """Writes mono samples into one channel; samples outside the call are left out."""
    start = max(0, round(start_s * SAMPLE_RATE))
    end = min(start + len(samples), len(pcm) // 2)
    if end > start:
        pcm[2 * start + channel : 2 * end + channel : 2] = samples[: end - start]
