"""The legs of calls that came in."""

from collections.abc import Generator
from dataclasses import replace

import pytest
from sqlalchemy import Connection

from callwright.service.telephony.answering import Answering, Wait
from callwright.service.telephony.engine import CallResult, Turn
from callwright.service.telephony.legs import leg_rows
from callwright.service.telephony.legs.leg_results import lost
from tests.service.telephony.legs.interleavings import REQUEST, modelled_rows

CALLER = replace(REQUEST, call_id="cal_caller", answering=Answering("agent"))
SAID = Turn(0, "contact", "Please call me back.", 1.0, 2.0, "en-US")


@pytest.fixture
def rows() -> Generator[Connection]:
    connection = modelled_rows()
    yield connection
    connection.close()
    connection.engine.dispose()


@pytest.mark.requirement("SIP-06")
def test_a_caller_is_answered_by_the_host_where_they_are_and_by_no_other(rows: Connection) -> None:
    leg_rows.add(rows, "modelled", CALLER, 0, token_hash="of the caller")
    other, here = leg_rows.Wanted(["modelled"]), leg_rows.Wanted(["modelled"], ["cal_caller"])
    assert not leg_rows.are_new(rows, other)
    assert not leg_rows.take(rows, "hst_other", other, 5, now_ms=0, until_ms=9)
    assert [leg.call_id for leg in leg_rows.take(rows, "hst_here", here, 5, now_ms=0, until_ms=9)] == ["cal_caller"]


def test_nobody_has_to_say_whether_a_telephone_rang_of_a_caller_whose_host_is_gone() -> None:
    ended = lost(CALLER, None, is_answered=False)
    assert (ended.outcome, ended.hangup_cause, ended.ended_by) == ("failed", "platform_error", "platform")
    assert lost(replace(CALLER, answering=None), None, is_answered=False).hangup_cause == "unconfirmed"


@pytest.mark.requirement("INB-18")
@pytest.mark.parametrize(
    ("answering", "waits", "turns", "outcome"),
    [
        (Answering("agent"), False, (), "answered"),
        (Answering("agent", wait=Wait(1, 300.0)), True, (), "abandoned"),
        (Answering("agent", wait=Wait(1, 300.0)), False, (SAID,), "answered"),
        (Answering("voicemail"), False, (), "voicemail"),
        (Answering("voicemail"), False, (SAID,), "voicemail_left"),
        (Answering("forward", forward_to="+14155550177"), False, (), "no_answer"),
    ],
)
def test_a_caller_whose_host_is_gone_has_the_outcome_of_where_they_were(
    answering: Answering, waits: bool, turns: tuple[Turn, ...], outcome: str
) -> None:
    caller = replace(CALLER, answering=answering)
    so_far = CallResult(
        call_id=caller.call_id, outcome="answered", hangup_cause="platform_error", ended_by="platform", turns=turns
    )
    ended = lost(caller, so_far, is_answered=True, waits=waits)
    assert (ended.outcome, ended.hangup_cause, bool(ended.warnings)) == (outcome, "platform_error", True)
    assert ended.disposition == ("incomplete" if outcome == "answered" else None)
