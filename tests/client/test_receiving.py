"""Verifying events: what the service signs is taken, and nothing else is."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.client import CallwrightError, InvalidArguments, InvalidSignature, UnexpectedAnswer, typed_data, verify
from callwright.contract.events import EVENT_TYPES, CallCompleted, EventEnvelope
from callwright.service.webhooks.signing import signature
from tests.support.webhooks import signature_check

SECRET = "whsec_" + "aB3-_" * 8
OTHER = "whsec_" + "zY9-_" * 8
NOW_S = 1_795_262_400
DATA = {
    "call_id": "cal_1",
    "deployment_id": "dep_1",
    "agent_id": "agt_1",
    "call_type": "outbound",
    "attempt_number": 1,
    "simulated": True,
    "duration_seconds": 42,
    "outcome": "answered",
    "recording_url": None,
    "transcript_url": None,
    "status": "completed",
    "disposition": None,
    "hangup_cause": None,
    "answered_by": "human",
}


def event(type_: str = "call.completed", data: dict[str, object] | None = None, **further: object) -> bytes:
    envelope = {"id": "evt_1", "type": type_, "created_at": "2026-11-21T12:00:00.123Z", "org_id": "org_1"}
    return json.dumps({**envelope, "data": DATA if data is None else data, **further}).encode()


def signed(body: bytes, *secrets: str, at_s: int = NOW_S) -> str:
    return signature(body, at_s, secrets or (SECRET,))


def refusal(body: bytes, header: str | None, secrets: str | Sequence[str] = SECRET, *, now_s: float = NOW_S) -> str:
    """The reason for which a request is refused. No secret is in the words."""
    with pytest.raises(InvalidSignature) as caught:
        verify(body, header, secrets, now_s=now_s)
    assert isinstance(caught.value, CallwrightError)
    assert not any(secret[6:] in str(caught.value) for secret in (SECRET, OTHER))
    return caught.value.reason


def test_what_the_service_signs_is_given_as_an_event() -> None:
    found = verify(event(new_member=1), signed(event(new_member=1)), SECRET, now_s=NOW_S)
    assert (found.id, found.type, found.org_id) == ("evt_1", "call.completed", "org_1")
    assert found.created_at == "2026-11-21T12:00:00.123Z"
    assert found.data == DATA


def test_the_machines_clock_counts_where_no_moment_is_given() -> None:
    import time

    assert verify(event(), signed(event(), at_s=int(time.time())), SECRET).id == "evt_1"
    with pytest.raises(InvalidSignature):
        verify(event(), signed(event(), at_s=int(time.time()) - 400), SECRET)


@given(body=st.binary(max_size=2_000), secret=st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1))
def test_any_body_that_is_signed_passes_and_only_then_is_read(body: bytes, secret: str) -> None:
    # Bytes that are no event come as far as being read, and no signature is at fault then.
    with pytest.raises(UnexpectedAnswer, match="is signed and is no event"):
        verify(body, signature(body, NOW_S, [secret]), secret, now_s=NOW_S)
    signature_check.verified(signature(body, NOW_S, [secret]), body, secret, now_s=NOW_S)


@given(data=st.data(), further=st.text())
@pytest.mark.requirement("SIGN-03")
def test_a_flipped_bit_anywhere_is_refused(data: st.DataObject, further: str) -> None:
    body = event(further=further)
    header = signed(body)
    place = data.draw(st.integers(0, len(body) * 8 - 1))
    assert refusal(_flipped(body, place), header) == "no_match"
    place = data.draw(st.integers(0, len(header) * 8 - 1))
    flipped = _flipped(header.encode(), place).decode("latin-1")
    assert refusal(body, flipped) in ("no_match", "malformed")


def _flipped(text: bytes, place: int) -> bytes:
    changed = bytearray(text)
    changed[place // 8] ^= 1 << place % 8
    return bytes(changed)


@given(split=st.integers(1, 400), moved=st.sampled_from([b"", b".", b"1."]))
def test_time_and_body_cannot_be_shifted_into_each_other(split: int, moved: bytes) -> None:
    body = b"1" * split + event()
    header = signed(body)
    shifted = header.replace(f"t={NOW_S}", f"t={NOW_S}1")
    assert refusal(moved + body[1:], shifted, now_s=NOW_S * 10 + 1) == "no_match"


@given(body=st.binary(max_size=300), header=st.text(max_size=120))
def test_any_header_is_read_or_refused(body: bytes, header: str) -> None:
    assert refusal(body, header) in ("missing", "malformed", "no_match")


@pytest.mark.requirement("SIGN-07")
def test_a_secret_is_replaced_without_a_gap() -> None:
    both, before, after = signed(event(), OTHER, SECRET), signed(event(), SECRET), signed(event(), OTHER)
    for secrets in (SECRET, OTHER, [SECRET, OTHER], (OTHER, SECRET)):  # while the service signs with both
        assert verify(event(), both, secrets, now_s=NOW_S).id == "evt_1"
    for header in (before, after):  # a receiver that knows both takes each by itself
        assert verify(event(), header, [SECRET, OTHER], now_s=NOW_S).id == "evt_1"
    assert refusal(event(), after, SECRET) == "no_match"
    assert refusal(event(), before, OTHER) == "no_match"


@pytest.mark.requirement("SIGN-05", "LIMIT-14")
def test_a_signature_counts_for_300_seconds_in_both_directions() -> None:
    header = signed(event())
    for off in (-300, -299.9, 0, 299.9, 300):
        assert verify(event(), header, SECRET, now_s=NOW_S + off).id == "evt_1"
    for off, reason in ((300.1, "too_old"), (10**9, "too_old"), (-300.1, "too_new"), (-(10**9), "too_new")):
        assert refusal(event(), header, now_s=NOW_S + off) == reason
    assert verify(event(), header, SECRET, now_s=NOW_S + 900, tolerance_s=900).id == "evt_1"


GOOD = "0" * 64


@pytest.mark.requirement("SIGN-02", "SIGN-05", "SIGN-06")
@pytest.mark.parametrize(
    ("header", "reason"),
    [
        (None, "missing"),
        ("", "missing"),
        (GOOD, "malformed"),
        (f"v1={GOOD}", "malformed"),
        (f"t={NOW_S}", "malformed"),
        (f"t={NOW_S},v0={GOOD}", "malformed"),
        (f"t={NOW_S},t={NOW_S},v1={GOOD}", "malformed"),
        (f"t={NOW_S},v1={GOOD},t={NOW_S}", "malformed"),
        (f"t=,v1={GOOD}", "malformed"),
        (f"t=-{NOW_S},v1={GOOD}", "malformed"),
        (f"t=1_0,v1={GOOD}", "malformed"),
        (f"t=１２３,v1={GOOD}", "malformed"),
        (f"t={'9' * 13},v1={GOOD}", "malformed"),
        (f"t={NOW_S},v1={GOOD[1:]}", "malformed"),
        (f"t={NOW_S},v1={GOOD[1:]}é", "malformed"),
        (f"t={NOW_S},v1={'A' * 64}", "malformed"),
        (f"t={NOW_S},v1={GOOD},", "malformed"),
        (f"t={NOW_S},v1={GOOD}" + ",v2=" + "x" * 400 * 5, "malformed"),
        (f"t={NOW_S};v1={GOOD}", "malformed"),
        (f"t={NOW_S},v1={GOOD}", "no_match"),
        (f"t={NOW_S},v1={GOOD},v1={'1' * 64}", "no_match"),
    ],
)
def test_a_header_of_another_form_is_refused_by_name(header: str | None, reason: str) -> None:
    assert refusal(event(), header) == reason


def test_other_schemes_and_blanks_after_commas_change_nothing() -> None:
    seconds, digest = signed(event()).split(",")
    for header in (f"{seconds},v0=abc,{digest},v2=x+/=", f"{digest}, {seconds}", f"{seconds},v1={GOOD},{digest}"):
        assert verify(event(), header, SECRET, now_s=NOW_S).id == "evt_1"


@pytest.mark.requirement("SIGN-01")
def test_json_that_was_written_again_has_another_signature() -> None:
    again = json.dumps(json.loads(event()), separators=(",", ":")).encode()
    assert refusal(again, signed(event())) == "no_match"


@pytest.mark.parametrize(
    "ask",
    [
        lambda: verify(event(), signed(event(), ""), "", now_s=NOW_S),
        lambda: verify(event(), signed(event()), [], now_s=NOW_S),
        lambda: verify(event(), signed(event()), [SECRET, ""], now_s=NOW_S),
        lambda: verify(event(), signed(event()), SECRET + "\n", now_s=NOW_S),
        lambda: verify(event(), signed(event()), [SECRET, None], now_s=NOW_S),  # pyright: ignore[reportArgumentType]  # wrong on purpose
        lambda: verify(event(), signed(event()), SECRET.encode(), now_s=NOW_S),  # pyright: ignore[reportArgumentType]  # wrong on purpose
        lambda: verify(event().decode(), signed(event()), SECRET, now_s=NOW_S),  # pyright: ignore[reportArgumentType]  # wrong on purpose
        lambda: verify(json.loads(event()), signed(event()), SECRET, now_s=NOW_S),
    ],
    ids=["empty", "none", "one empty", "newline", "no text", "bytes", "text body", "parsed body"],
)
def test_secrets_and_bodies_that_cannot_be_such_are_the_callers_mistake(ask: Callable[[], object]) -> None:
    with pytest.raises(InvalidArguments) as caught:
        ask()
    assert SECRET[6:] not in str(caught.value)


@pytest.mark.requirement("SIGN-04")
def test_digests_are_compared_in_constant_time_and_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    import hmac

    compared: list[tuple[bytes, bytes]] = []
    compare = hmac.compare_digest

    def counting(one: bytes, other: bytes) -> bool:
        compared.append((one, other))
        return compare(one, other)

    monkeypatch.setattr(hmac, "compare_digest", counting)
    assert verify(event(), signed(event(), SECRET, OTHER), [SECRET, OTHER], now_s=NOW_S).id == "evt_1"
    assert len(compared) == 4


def test_data_is_given_as_the_model_of_its_type() -> None:
    found = verify(event(), signed(event()), SECRET, now_s=NOW_S)
    call = typed_data(found)
    assert isinstance(call, CallCompleted)
    assert (call.call_id, call.duration_seconds) == ("cal_1", 42)


def test_data_of_a_later_type_has_no_model_and_what_does_not_fit_is_named() -> None:
    later = EventEnvelope.model_validate_json(event("call.hummed", {"tune": 1}))
    assert typed_data(later) is None
    assert later.data == {"tune": 1}
    short = EventEnvelope.model_validate_json(event(data={"call_id": "cal_1"}))
    with pytest.raises(UnexpectedAnswer, match=r"call\.completed: .*duration_seconds"):
        typed_data(short)
    assert "call.hummed" not in EVENT_TYPES


def test_the_signature_is_the_one_that_the_other_client_is_tested_with() -> None:
    body = (
        '{"id":"evt_1","type":"call.hummed","created_at":"2026-11-21T12:00:00.123Z","org_id":"org_1",'
        '"data":{"tune":"ü"}}'
    ).encode()
    header = signed(body)
    assert header == "t=1795262400,v1=d3d9e20f21ae9a40e30683f8edeb7685f9a3ffabbba479120dcfc10a5c8f4ff5"
    checks = Path(__file__).resolve().parents[1] / "typescript_client" / "checks.mts"
    text = checks.read_text(encoding="utf-8")
    assert header in text
    assert body.decode() in text
    assert verify(body, header, SECRET, now_s=NOW_S).data == {"tune": "ü"}
