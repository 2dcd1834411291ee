"""Encodes samples as MP3 and WAV. Both say in the file itself if the call was simulated.

Sources: ID3v2.3 (https://id3.org/id3v2.3.0), RIFF "Multimedia Programming Interface and Data Specifications 1.0".
"""

from array import array
from collections.abc import Iterable
from typing import Any, cast

import lameenc

from callwright.service.speech.synthesiser import SAMPLE_RATE

SIMULATED_COMMENT = "SIMULATED CALL"
_BIT_RATE_KBPS = 32
_QUALITY = 5
"""LAME's scale: 2 is best, 7 fastest. Synthetic speech gains nothing below 5 and costs half as much again."""
_CHUNK_SAMPLES = SAMPLE_RATE * 2 * 10


def encode_mp3(pcm: "array[int]", *, title: str) -> bytes:
    """An MP3 of a simulated call, from little-endian stereo samples at `SAMPLE_RATE`."""
    pieces = (pcm[start : start + _CHUNK_SAMPLES] for start in range(0, len(pcm), _CHUNK_SAMPLES))
    return encode_mp3_pieces(pieces, title=title, rate_hz=SAMPLE_RATE, comment=SIMULATED_COMMENT)


def encode_mp3_pieces(pieces: "Iterable[array[int]]", *, title: str, rate_hz: int, comment: str | None) -> bytes:
    """An MP3 of little-endian stereo samples: 32 kb/s (240 kB a minute), at most 0.1 s longer than they are.

    Takes about 2.5 ms of one core for a second of sound, without the interpreter's lock.
    """
    encoder = cast("Any", lameenc.Encoder())  # pyright: ignore[reportUnknownMemberType] - lameenc ships no types
    encoder.set_bit_rate(_BIT_RATE_KBPS)
    encoder.set_channels(2)
    encoder.set_in_sample_rate(rate_hz)
    encoder.set_out_sample_rate(SAMPLE_RATE)  # at this bit rate LAME would otherwise change to 16 kHz
    encoder.set_quality(_QUALITY)
    encoder.silence()
    file = bytearray(_id3_tag(title, comment))
    for piece in pieces:  # the encoder takes only copies
        file += encoder.encode(piece.tobytes())
    file += encoder.flush()
    return bytes(file)


def encode_wav(pcm: "array[int]", *, title: str) -> bytes:
    """A WAV of little-endian stereo samples: 5.3 MB a minute."""
    frame = 4  # two samples of two bytes
    format_ = b"".join(
        value.to_bytes(size, "little")
        for value, size in ((1, 2), (2, 2), (SAMPLE_RATE, 4), (SAMPLE_RATE * frame, 4), (frame, 2), (16, 2))
    )
    texts = _riff_chunk(b"INAM", _riff_text(title)) + _riff_chunk(b"ICMT", _riff_text(SIMULATED_COMMENT))
    head = b"WAVE" + _riff_chunk(b"fmt ", format_) + _riff_chunk(b"LIST", b"INFO" + texts)
    samples = memoryview(pcm).cast("B")
    data = b"data" + len(samples).to_bytes(4, "little")
    size = len(head) + len(data) + len(samples)
    return b"".join((b"RIFF", size.to_bytes(4, "little"), head, data, samples))


def _riff_text(text: str) -> bytes:
    """A zero-terminated text in the character set RIFF assumes; other characters become `?`."""
    return text.encode("cp1252", errors="replace") + b"\0"


def _riff_chunk(name: bytes, body: bytes) -> bytes:
    """A chunk; its length leaves out the byte that makes it even."""
    return name + len(body).to_bytes(4, "little") + body + b"\0" * (len(body) % 2)


def _id3_tag(title: str, comment: str | None) -> bytes:
    """An ID3v2.3 tag: the title, and the comment as a comment frame and as a user-defined text frame."""
    frames = _id3_frame(b"TIT2", b"\x01" + _id3_text(title))
    if comment is not None:
        frames += _id3_frame(b"COMM", b"\x01eng" + _id3_text("") + b"\0\0" + _id3_text(comment))
        frames += _id3_frame(b"TXXX", b"\x01" + _id3_text("comment") + b"\0\0" + _id3_text(comment))
    size = len(frames)  # four bytes of seven bits, so that no decoder takes them for the start of a frame (§3.1)
    synchsafe = bytes(size >> shift & 0x7F for shift in (21, 14, 7, 0))
    return b"ID3\x03\x00\x00" + synchsafe + frames


def _id3_text(text: str) -> bytes:
    """UTF-16 with its byte order mark: encoding 1 of §3.3."""
    return b"\xff\xfe" + text.encode("utf-16-le", errors="replace")


def _id3_frame(name: bytes, body: bytes) -> bytes:
    return name + len(body).to_bytes(4, "big") + b"\0\0" + body
