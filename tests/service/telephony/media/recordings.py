"""What a recording has on its channels, by the turns that a call reported."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from callwright.service.telephony.engine import Turn
from tests.service.telephony.media.closed_set import ClosedSet, resampled

_MARGIN_S = 0.3


@dataclass(frozen=True)
class Recorded:
    """The two channels as 16-bit samples of 8 kHz, and how many the header counts."""

    agent: bytes
    contact: bytes
    counted: int

    @property
    def swapped(self) -> "Recorded":
        return Recorded(self.contact, self.agent, self.counted)

    @property
    def silenced(self) -> "Recorded":
        return Recorded(bytes(len(self.agent)), bytes(len(self.contact)), self.counted)


def linear(codes: np.ndarray[Any, np.dtype[np.uint8]]) -> bytes:
    """G.711 mu-law as its standard decodes it."""
    inverted = ~codes
    exponent = ((inverted >> 4) & 7).astype(np.int32)
    magnitude = ((((inverted & 15).astype(np.int32) << 3) + 132) << exponent) - 132
    return np.where(inverted & 128, -magnitude, magnitude).astype("<i2").tobytes()


def read_recording(path: Path) -> Recorded:
    """Reads a recording."""
    content = path.read_bytes()
    riff, _, wave, name, size, kind, channels, rate = struct.unpack_from("<4sI4s4sIHHI", content)
    assert (riff, wave, name, size, kind, channels, rate) == (b"RIFF", b"WAVE", b"fmt ", 18, 7, 2, 8_000)
    fact, _, counted, data, data_size = struct.unpack_from("<4sII4sI", content, 38)
    assert (fact, data, data_size) == (b"fact", b"data", 2 * counted)
    both = np.frombuffer(content[58 : 58 + data_size], np.uint8)
    assert len(both) == data_size, "the header counts what is not there"
    return Recorded(linear(both[0::2]), linear(both[1::2]), counted)


def not_recorded(recorded: Recorded, turns: Sequence[Turn], known: ClosedSet) -> list[str]:
    """The turns that are not heard at their time on their side's channel."""
    missing: list[str] = []
    for turn in turns:
        channel = recorded.agent if turn.speaker == "agent" else recorded.contact
        start, end = (int(8_000 * moment_s) for moment_s in (turn.start_s - _MARGIN_S, turn.end_s + _MARGIN_S))
        said = channel[2 * max(start, 0) : 2 * end]
        if turn.text and known.recognise(resampled(said, 8_000)) != turn.text:
            missing.append(turn.text)
    return missing
