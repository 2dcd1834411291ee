"""The recordings of calls on lines: WAV files of G.711 mu-law at 8 kHz with two channels, the agent left.

A file grows while its call lasts. Its header counts the samples that are there; what stands behind those was not
counted any more, because the process that wrote it ended.
"""

import struct
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

RATE_HZ = 8_000
HEADER_BYTES = 58
_CHANNELS = 2
_COUNTS = struct.Struct("<4sII4sI")
_COUNTS_AT = 38
_FRAMES_OF_A_PIECE = RATE_HZ * 10


class NotARecording(Exception):
    """The file is not one that a call on a line has written."""


def header(frames: int) -> bytes:
    """The header of a recording with this many samples in each channel."""
    size = _CHANNELS * frames
    sound = struct.pack("<4sIHHIIHHH", b"fmt ", 18, 7, _CHANNELS, RATE_HZ, _CHANNELS * RATE_HZ, _CHANNELS, 8, 0)
    return struct.pack("<4sI4s", b"RIFF", 50 + size, b"WAVE") + sound + _COUNTS.pack(b"fact", 4, frames, b"data", size)


def has_sound(path: Path) -> bool:
    """Whether a recording has a sample."""
    return frames_of(path) > 0


def pcm_of(path: Path) -> Iterator["array[int]"]:
    """The recording as little-endian 16-bit samples of both channels in turn, in pieces of at most ten seconds.

    Raises:
        NotARecording: it is none.
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        left = _frames(file)
        while left > 0:
            codes = file.read(_CHANNELS * min(left, _FRAMES_OF_A_PIECE))
            if not codes:
                return
            left -= len(codes) // _CHANNELS
            both = bytearray(2 * len(codes))
            both[0::2], both[1::2] = codes.translate(_LOW), codes.translate(_HIGH)
            yield array("h", bytes(both))


def frames_of(path: Path) -> int:
    """How many samples each channel of a recording has by now; 0 if there is none yet, or it is being begun."""
    try:
        with path.open("rb") as file:
            return _frames(file)
    except (OSError, NotARecording):
        return 0


def pcm_from(path: Path, first: int, after: int) -> bytes:
    """The samples of both channels in turn from `first` to before `after`, as little-endian 16-bit samples.

    Raises:
        OSError: the recording cannot be read.
    """
    with path.open("rb") as file:
        file.seek(HEADER_BYTES + _CHANNELS * first)
        codes = file.read(_CHANNELS * (after - first))
    both = bytearray(2 * len(codes))
    both[0::2], both[1::2] = codes.translate(_LOW), codes.translate(_HIGH)
    return bytes(both)


def _frames(file: BinaryIO) -> int:
    """How many samples each channel has by the header, which is read to its end."""
    head = file.read(HEADER_BYTES)
    frames: int = _COUNTS.unpack_from(head, _COUNTS_AT)[2] if len(head) == HEADER_BYTES else 0
    if head != header(frames):
        raise NotARecording("the file is no recording of a line")
    return frames


def linear_of(code: int) -> int:
    """The 16-bit sample of a code, as ITU-T G.711 decodes it."""
    inverted = ~code & 0xFF
    magnitude = (((inverted & 0x0F) << 3) + 132 << (inverted >> 4 & 7)) - 132
    return -magnitude if inverted & 0x80 else magnitude


_SAMPLES = [linear_of(code) & 0xFFFF for code in range(256)]
_LOW, _HIGH = bytes(sample & 0xFF for sample in _SAMPLES), bytes(sample >> 8 for sample in _SAMPLES)
