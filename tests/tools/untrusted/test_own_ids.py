"""The list's own id of a person, where it is or may be the person's telephone number."""

import pytest

from callwright.contract.audiences import RowError
from callwright.contract.calls.conversations import SaidOn
from callwright.tools.untrusted.guarded_answers import guarded
from tests.support.tools import samples


@pytest.mark.parametrize("own", ["2025550120", "12025550120", "(202) 555-0120", "+1 202 555 0120"])
def test_an_own_id_that_is_the_number_of_the_call_is_masked_like_it(own: str) -> None:
    call = samples.call(to="+12025550120", external_id=own)
    shown = guarded(call, masks=True).external_id
    assert shown is not None
    assert "•••" in shown
    assert guarded(call, masks=False).external_id == own


@pytest.mark.parametrize("own", ["2025550120", "(202) 555-0120", "202\u200b5550120", "٢٠٢٥٥٥٠١٢٠"])
def test_an_own_id_that_may_be_a_number_is_masked_where_no_number_stands_beside_it(own: str) -> None:
    on = SaidOn(call_id="cal_1", external_id=own)
    refused = RowError(row_number=1, code="missing_phone", message="the phone number is empty", external_id=own)
    for shown in (guarded(on, masks=True).external_id, guarded(refused, masks=True).external_id):
        assert shown is not None
        assert "•••" in shown


@pytest.mark.parametrize("own", ["K-1", "C-02090", "10207", "123456789", "1234567890123456"])
def test_other_own_ids_are_shown_whole(own: str) -> None:
    assert guarded(SaidOn(call_id="cal_1", external_id=own), masks=True).external_id == own
    assert guarded(samples.call(to="+12025550120", external_id=own), masks=True).external_id == own
