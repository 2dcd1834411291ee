import io
import wave
from array import array
from collections.abc import Iterator

import pytest

from callwright.service.speech.encoding import encode_mp3, encode_wav
from callwright.service.speech.synthesiser import SAMPLE_RATE

# MPEG-2 layer III (ISO/IEC 13818-3): bit rates by index, sampling rates by index, 576 samples a frame.
KBPS = (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160)
RATES = (22_050, 24_000, 16_000)
FRAME_SAMPLES = 576


def tone(seconds: float) -> "array[int]":
    """A sawtooth on the left, silence on the right."""
    count = round(seconds * SAMPLE_RATE)
    pcm = array("h", bytes(4 * count))
    pcm[0::2] = array("h", [(place * 300) % 16_000 - 8000 for place in range(count)])
    return pcm


def tag_and_audio(mp3: bytes) -> tuple[dict[str, bytes], bytes]:
    """The frames of the ID3v2.3 tag and what follows it."""
    assert mp3[:6] == b"ID3\x03\x00\x00"
    assert all(byte < 0x80 for byte in mp3[6:10])
    end = 10 + sum(byte << shift for byte, shift in zip(mp3[6:10], (21, 14, 7, 0), strict=True))
    frames: dict[str, bytes] = {}
    place = 10
    while place < end:
        size = int.from_bytes(mp3[place + 4 : place + 8], "big")
        frames[mp3[place : place + 4].decode("ascii")] = mp3[place + 10 : place + 10 + size]
        place += 10 + size
    assert place == end
    return frames, mp3[end:]


def count_frames(audio: bytes) -> int:
    """Walks from frame to frame; every one has to be MPEG-2 layer III, 32 kb/s, 22,050 Hz, two channels."""
    place = number = 0
    while place < len(audio):
        head = int.from_bytes(audio[place : place + 4], "big")
        assert head >> 21 == 0x7FF
        assert (head >> 19 & 3, head >> 17 & 3) == (2, 1)
        rate = RATES[head >> 10 & 3]
        kbps = KBPS[head >> 12 & 15]
        assert (kbps, rate) == (32, SAMPLE_RATE)
        assert head >> 6 & 3 != 3
        place += 72_000 * kbps // rate + (head >> 9 & 1)
        number += 1
    assert place == len(audio)
    return number


@pytest.mark.parametrize("seconds", [0.01, 1.0, 7.3, 38.0])
def test_an_mp3_is_whole_frames_that_last_as_long_as_the_call(seconds: float) -> None:
    _, audio = tag_and_audio(encode_mp3(tone(seconds), title="Call"))
    assert count_frames(audio) * FRAME_SAMPLES / SAMPLE_RATE == pytest.approx(seconds, abs=0.1)


def test_an_mp3_says_in_two_places_that_the_call_was_simulated_and_has_a_title() -> None:
    frames, _ = tag_and_audio(encode_mp3(tone(0.1), title="Anruf für Zoë 电话"))
    assert set(frames) == {"TIT2", "COMM", "TXXX"}
    assert frames["TIT2"][:1] == b"\x01"
    assert frames["TIT2"][1:].decode("utf-16") == "Anruf für Zoë 电话"
    assert frames["COMM"][:4] == b"\x01eng"
    description, comment = frames["COMM"][4:].split(b"\0\0", 1)
    assert (description.decode("utf-16"), comment.decode("utf-16")) == ("", "SIMULATED CALL")
    assert frames["TXXX"].endswith("SIMULATED CALL".encode("utf-16-le"))


def test_a_wav_holds_exactly_the_samples() -> None:
    pcm = tone(1.5)
    with wave.open(io.BytesIO(encode_wav(pcm, title="Call"))) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (2, 2, SAMPLE_RATE)
        assert file.getnframes() == 1.5 * SAMPLE_RATE
        assert file.readframes(file.getnframes()) == pcm.tobytes()


def chunks(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    while content:
        size = int.from_bytes(content[4:8], "little")
        yield content[:4], content[8 : 8 + size]
        content = content[8 + size + size % 2 :]


@pytest.mark.parametrize("title", ["Call", "Calls"])
def test_a_wav_says_that_the_call_was_simulated_whatever_the_length_of_its_title(title: str) -> None:
    [(riff, body)] = chunks(encode_wav(tone(0.2), title=title))
    assert (riff, body[:4]) == (b"RIFF", b"WAVE")
    parts = dict(chunks(body[4:]))
    assert list(parts) == [b"fmt ", b"LIST", b"data"]
    assert parts[b"LIST"][:4] == b"INFO"
    assert dict(chunks(parts[b"LIST"][4:])) == {b"INAM": title.encode() + b"\0", b"ICMT": b"SIMULATED CALL\0"}
