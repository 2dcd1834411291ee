"""get_call: what a call cost, item by item."""

from callwright.contract.calls.costs import CallCost, CostItem
from callwright.contract.declaration.field_types import Money
from tests.support.tools.fakes import FakeCaller, assistant, server
from tests.support.tools.results import text_of
from tests.support.tools.samples import call


async def test_each_item_says_its_units_and_what_is_not_final_or_not_charged() -> None:
    told = Money(amount="0.008500", currency="USD")
    line = CostItem(
        item="telephony", quantity=31, unit="second", status="unpriced", provider="twilio", carrier_charged=told
    )
    read = CostItem(item="llm", quantity=3000, unit="input_token", amount="0.001200", status="known")
    late = CostItem(item="telephony", quantity=60, unit="second", amount="0.012000", status="pending")
    found = call(cost=CallCost(amount="0.013200", currency="USD", breakdown=[line, read, late]))
    async with assistant(server(FakeCaller(answers={"get_call": found})), "auto") as client:
        said = text_of(await client.call_tool("get_call", {"call_uuid": found.id}))
    assert "- telephony (twilio), 31 seconds: no price list has it, the carrier charged 0.0085 USD\n" in said
    assert "- llm, 3,000 input tokens: 0.001200\n" in said
    assert "- telephony, 60 seconds: 0.012000, until the carrier says what it charged\n" in said
    assert "None" not in said
