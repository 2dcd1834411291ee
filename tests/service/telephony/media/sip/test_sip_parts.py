"""What the parts of calls over SIP do by themselves."""

import logging

import numpy as np
import pytest

from callwright.service.telephony.media.sip.causes import not_connected, refused, status_of
from callwright.service.telephony.media.sip.messages_seen import Seen, follow_messages, seen_in
from callwright.service.telephony.media.sound.resampling import Doubled, Halved, Samples

_INVITE = "INVITE sip:1@a SIP/2.0\nVia: x\nCall-ID: abc\nCSeq: 7 INVITE\n\n"


@pytest.mark.parametrize(
    ("record", "seen"),
    [
        (f"TX UDP a -> b\n{_INVITE}", Seen("abc")),
        (f"RX UDP a -> b\n{_INVITE}", None),
        ("RX UDP a -> b\nSIP/2.0 100 Trying\nCall-ID: abc\nCSeq: 7 INVITE\n\n", Seen("abc", 100)),
        ("RX TLS a -> b\nSIP/2.0 486 Busy\ni: abc\nCSeq: 7 INVITE\n\n", Seen("abc", 486)),
        ("RX UDP a -> b\nSIP/2.0 200 OK\nCall-ID: abc\nCSeq: 7 BYE\n\n", None),
        ("TX UDP a -> b\nSIP/2.0 200 OK\nCall-ID: abc\nCSeq: 7 INVITE\n\n", None),
        ("RX UDP a -> b\nSIP/2.0 100 Trying\nCSeq: 7 INVITE\n\n", None),
        ("something else", None),
    ],
)
def test_what_a_message_shows(record: str, seen: Seen | None) -> None:
    assert seen_in(record) == seen


def test_the_records_of_the_stack_are_looked_at_and_logged_nowhere(caplog: pytest.LogCaptureFixture) -> None:
    found: list[Seen] = []
    follow_messages(found.append)
    messages = logging.getLogger("baresip.native.sip")
    messages.debug("%s", f"TX UDP a -> b\r\n{_INVITE}".replace("\n", "\r\n"))
    logging.getLogger("baresip.call").warning("a call of +14155550123")
    messages.handlers.clear()
    assert found == [Seen("abc")]
    assert caplog.records == []


def test_an_answer_that_has_no_cause_of_its_own_says_that_the_carrier_refuses() -> None:
    assert refused(402).cause == "carrier_rejected"
    assert refused(402).warning == "The SIP trunk refused the call with status 402."
    assert refused(486).warning is None
    assert [status_of(text) for text in ("486 Busy Here", "Connection refused [111]", "", None, "4a6 x")] == [
        486,
        None,
        None,
        None,
        None,
    ]


def test_only_what_certainly_did_not_leave_counts_as_not_sent() -> None:
    assert not not_connected("Connection refused [111]", has_left=False).was_sent
    assert not_connected("Connection refused [111]", has_left=True).was_sent
    assert not_connected("Connection reset by peer [104]", has_left=False).was_sent
    assert not_connected("Connection timed out [110]", has_left=False).was_sent


def test_halving_and_doubling_keep_a_tone_and_take_pieces_of_any_length() -> None:
    tone = (8_000 * np.sin(2 * np.pi * 440 * np.arange(16_000) / 16_000)).astype("<i2").tobytes()
    whole = Halved().add(tone)
    pieces, halved, at = list[Samples](), Halved(), 0
    for length in (1, 1, 3, 160, 7, 0, 319, 1, 15_508):
        pieces.append(halved.add(tone[2 * at : 2 * (at + length)]))
        at += length
    assert at == 16_000
    assert np.array_equal(np.concatenate(pieces), whole)
    assert len(whole) == 8_000

    back = np.frombuffer(Doubled().add(whole.astype("<i2").tobytes()), "<i2").astype(float)
    given = np.frombuffer(tone, "<i2").astype(float)
    late = 30  # samples that both filters take together
    error = back[2_000 + late : 14_000 + late] - given[2_000:14_000]
    assert np.abs(error).max() < 80  # a hundredth of the tone
