"""Cuts a part out of an MP3 without decoding it: whole frames are taken, so nothing is encoded twice.

Sources: ISO/IEC 11172-3 and 13818-3, Layer III; ID3v2.3 (https://id3.org/id3v2.3.0).
"""

from dataclasses import dataclass

_BIT_RATES_KBPS = {
    True: (32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    False: (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
"""By index, from 1: MPEG-1, and MPEG-2 with 2.5."""
_SAMPLE_RATES = {3: (44_100, 48_000, 32_000), 2: (22_050, 24_000, 16_000), 0: (11_025, 12_000, 8_000)}
"""By version bits: MPEG-1, 2, 2.5."""
_LAYER_III = 1
_LEAD_IN_FRAMES = 4
"""A frame may use bits of the frames before it: at most 511 bytes, which these hold at 32 kb/s and above."""


class NotAnMp3(ValueError):
    """The bytes are not frames of MPEG Layer III from end to end."""


@dataclass(frozen=True)
class Mp3Frames:
    """An MP3 as a list of frames. `starts` are positions, one more than there are frames; each lasts `frame_s`."""

    tag_bytes: int
    starts: tuple[int, ...]
    frame_s: float

    @property
    def duration_s(self) -> float:
        """How long it lasts, in seconds."""
        return (len(self.starts) - 1) * self.frame_s

    @property
    def bytes_a_second(self) -> float:
        """How many bytes a second takes, on average."""
        return (self.starts[-1] - self.starts[0]) / self.duration_s


def frames_of(sound: bytes) -> Mp3Frames:
    """Finds the frames. Raises NotAnMp3."""
    position = tag = _tag_bytes(sound)
    starts: list[int] = []
    frame_s = 0.0
    while position + 4 <= len(sound):
        size, frame_s = _frame(sound, position)
        if position + size > len(sound):
            break
        starts.append(position)
        position += size
    if not starts:
        raise NotAnMp3("there is no frame")
    return Mp3Frames(tag, (*starts, position), frame_s)


def cut(sound: bytes, frames: Mp3Frames, *, from_s: float, to_s: float | None) -> bytes:
    """The tag, and the frames between two times. It begins up to 0.11 s earlier, for frames that need earlier ones."""
    last = len(frames.starts) - 1
    begin = max(0, min(last, int(from_s / frames.frame_s)) - _LEAD_IN_FRAMES)
    end = last if to_s is None else min(last, -int(-to_s // frames.frame_s))
    return sound[: frames.tag_bytes] + sound[frames.starts[begin] : frames.starts[max(begin, end)]]


def _tag_bytes(sound: bytes) -> int:
    if sound[:3] != b"ID3" or len(sound) < 10:
        return 0
    size = 0
    for byte in sound[6:10]:
        size = size << 7 | byte & 0x7F
    return 10 + size


def _frame(sound: bytes, position: int) -> tuple[int, float]:
    """Bytes and seconds of the frame that begins here."""
    header = int.from_bytes(sound[position : position + 4])
    version, layer = header >> 19 & 3, header >> 17 & 3
    bit_rate, sample_rate, padding = header >> 12 & 15, header >> 10 & 3, header >> 9 & 1
    if header >> 21 != 0x7FF or layer != _LAYER_III or version == 1 or not 0 < bit_rate < 15 or sample_rate == 3:
        raise NotAnMp3(f"no frame begins at byte {position}")
    first = version == 3
    samples = 1_152 if first else 576
    hertz = _SAMPLE_RATES[version][sample_rate]
    bits = _BIT_RATES_KBPS[first][bit_rate - 1] * 1_000
    return samples // 8 * bits // hertz + padding, samples / hertz
