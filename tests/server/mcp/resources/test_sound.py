"""Parts of an MP3, cut at the borders of its frames."""

import pytest

from callwright.server.mcp.resources.sound import NotAnMp3, cut, frames_of
from tests.support.calls.speech_source import mp3_tone


def test_the_encoders_frames_are_found_from_end_to_end() -> None:
    made = mp3_tone(10)
    frames = frames_of(made)
    assert made[: frames.tag_bytes].startswith(b"ID3")
    assert frames.starts[0] == frames.tag_bytes
    assert frames.starts[-1] == len(made)
    assert frames.duration_s == pytest.approx(10, abs=0.1)
    assert frames.bytes_a_second == pytest.approx(4_000, rel=0.01)


@pytest.mark.parametrize(
    ("from_s", "to_s", "lasts_s"), [(0, 2, 2), (3, 5.5, 2.5), (8, None, 2), (0, None, 10), (9, 99, 1)]
)
def test_a_part_lasts_as_long_as_asked_and_at_most_a_tenth_longer(
    from_s: float, to_s: float | None, lasts_s: float
) -> None:
    made = mp3_tone(10)
    part = cut(made, frames_of(made), from_s=from_s, to_s=to_s)
    frames = frames_of(part)
    assert -0.001 <= frames.duration_s - lasts_s <= 0.2
    assert part[: frames.tag_bytes] == made[: frames.tag_bytes]


def test_a_part_is_made_of_the_very_bytes_of_the_whole() -> None:
    made = mp3_tone(5)
    frames = frames_of(made)
    part = cut(made, frames, from_s=2, to_s=3)
    assert part[frames.tag_bytes :] in made


def test_two_parts_that_follow_each_other_leave_nothing_out() -> None:
    made = mp3_tone(6)
    frames = frames_of(made)
    first, second = cut(made, frames, from_s=0, to_s=3), cut(made, frames, from_s=3, to_s=None)
    assert len(first) + len(second) >= len(made) + frames.tag_bytes


@pytest.mark.parametrize("made", [b"", b"ID3", b"RIFF" + bytes(100), b"ID3\x03\x00\x00\x00\x00\x00\x02xx" + bytes(50)])
def test_what_is_no_mp3_is_not_cut(made: bytes) -> None:
    with pytest.raises(NotAnMp3):
        frames_of(made)


def test_a_frame_that_breaks_off_at_the_end_is_left_out() -> None:
    made = mp3_tone(1)
    whole, broken = frames_of(made), frames_of(made[:-20])
    assert len(broken.starts) == len(whole.starts) - 1
