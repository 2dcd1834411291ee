"""The legs of calls that came in."""

from collections.abc import Generator
from dataclasses import replace

import pytest
from sqlalchemy import Connection

from callwright.service.telephony.answering import Answering
from callwright.service.telephony.legs import leg_rows
from callwright.service.telephony.legs.leg_results import lost
from tests.service.telephony.legs.interleavings import REQUEST, modelled_rows

CALLER = replace(REQUEST, call_id="cal_caller", answering=Answering("agent"))


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
