"""get_call: whether the call was handed over, and to whom."""

import pytest

from callwright.contract.transfers import Transfer
from tests.support.tools.fakes import FakeCaller, assistant, server
from tests.support.tools.results import text_of
from tests.support.tools.samples import call

DESK = Transfer(type="warm", to="+14155550177", name="front desk", status="bridged")


@pytest.mark.requirement("TRANSFER-01")
@pytest.mark.parametrize(
    ("transfer", "said"),
    [
        (DESK, 'transfer (warm) to "front desk" +14155550177: bridged'),
        (DESK.model_copy(update={"status": "failed", "cause": "busy"}), "+14155550177: failed, busy"),
        (Transfer(type="cold", to=None), "transfer (cold)"),
    ],
)
async def test_the_transfer_of_a_call_says_where_to_and_what_came_of_it(transfer: Transfer, said: str) -> None:
    found = call(transfer=transfer)
    async with assistant(server(FakeCaller(answers={"get_call": found})), "auto") as client:
        answer = await client.call_tool("get_call", {"call_uuid": found.id})
    assert said in text_of(answer)
    assert "None" not in text_of(answer)
    assert (answer.structured_content or {})["transfer"]["type"] == transfer.type
