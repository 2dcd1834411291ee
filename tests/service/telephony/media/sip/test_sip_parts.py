"""What the parts of calls over SIP do by themselves."""

import logging

import numpy as np
import pytest

from callwright.service.telephony.media.sip.causes import not_connected, refused, status_of
from callwright.service.telephony.media.sip.invites import Invite, invite_in
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


@pytest.mark.parametrize(
    ("headers", "called", "caller"),
    [
        (("To: <sip:+14155550100@a>", "From: <sip:+14155550123@b>;tag=1"), ("+14155550100",), "+14155550123"),
        (("t: sip:100@a", 'f: "sip:1@x" <sip:0123;npdi=yes:p@b>'), ("+14155550100", "100"), "0123"),
        (("P-Called-Party-ID: <tel:+14155550199>",), ("+14155550100", "+14155550199"), ""),
        (("From: <sip:+1415@b>", 'P-Asserted-Identity: "A" <tel:+14155550123;x=y>'), ("+14155550100",), "+14155550123"),
        (("P-Asserted-Identity: <sip:+14155550123@b>", "Privacy: id;critical"), ("+14155550100",), ""),
        (('From: "Anonymous" <sip:Anonymous@anonymous.invalid>;tag=1',), ("+14155550100",), ""),
        (("From: <sip:gateway.example.com>",), ("+14155550100",), ""),
    ],
)
def test_an_invite_says_who_calls_which_number(headers: tuple[str, ...], called: tuple[str, ...], caller: str) -> None:
    lines = ("INVITE sip:%2B14155550100@10.0.0.1:5060;transport=udp SIP/2.0", "Call-ID: abc", *headers)
    record = "RX UDP [2001:db8::7]:5060 -> [::]:5060\n" + "\n".join(lines) + "\n\nFrom: sound"
    assert invite_in(record) == Invite("abc", "2001:db8::7", called, caller)


@pytest.mark.parametrize(
    "record",
    [
        f"TX UDP 192.0.2.7:5060 -> b\n{_INVITE}",
        f"RX UDP 192.0.2.7:5060 -> b\n{_INVITE.replace('Call-ID: abc', 'To: <sip:1@a>;tag=9')}",
        "RX UDP 192.0.2.7:5060 -> b\nINVITE sip:1@a SIP/2.0\nCall-ID: abc\nTo: <sip:1@a>;tag=9\n\n",
        f"RX UDP nobody:5060 -> b\n{_INVITE}",
        "RX UDP 192.0.2.7:5060 -> b\nBYE sip:1@a SIP/2.0\nCall-ID: abc\n\n",
        "something else",
    ],
)
def test_what_begins_no_call_of_a_caller_is_no_invite_of_one(record: str) -> None:
    assert invite_in(record) is None


def test_the_records_of_the_stack_are_looked_at_and_logged_nowhere(caplog: pytest.LogCaptureFixture) -> None:
    found, invited = list[Seen](), list[Invite]()
    follow_messages(found.append, invited.append)
    messages = logging.getLogger("baresip.native.sip")
    messages.debug("%s", f"TX UDP a -> b\r\n{_INVITE}".replace("\n", "\r\n"))
    messages.debug("%s", f"RX UDP 192.0.2.7:5060 -> b\r\n{_INVITE}".replace("\n", "\r\n"))
    logging.getLogger("baresip.call").warning("a call of +14155550123")
    messages.handlers.clear()
    assert found == [Seen("abc")]
    assert [(each.source, each.called) for each in invited] == [("192.0.2.7", ("1",))]
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
