"""The money in a sentence that somebody agrees to, with services that say little of what calls cost."""

from typing import Any

import pytest
from mcp.types import TextContent

from callwright.contract.declaration.field_types import Money
from callwright.contract.wallet import Price
from tests.support.tools import samples
from tests.support.tools.fakes import ERAS, FakeCaller, assistant, server

TOLD = "calls them too, for at most 25.43 USD more."
NOT_KNOWN = "calls them too, at a cost that is not known."


@pytest.mark.parametrize(
    ("price", "campaign", "said"),
    [
        (Money(amount="0.042500", currency="USD"), {}, TOLD),
        (Money(amount="0.042500", currency="USD"), {"retry_policy": None}, NOT_KNOWN),
        (Money(amount="0.042500", currency="EUR"), {}, NOT_KNOWN),
        (Money(amount="free", currency="USD"), {}, NOT_KNOWN),
        (None, {}, NOT_KNOWN),
    ],
)
async def test_the_money_is_told_where_the_service_says_what_a_minute_costs_and_how_often_is_called(
    price: Money | None, campaign: dict[str, Any], said: str
) -> None:
    prices = [] if price is None else [Price(item="outbound_call", unit="minute", price=price)]
    answers = {
        **samples.answers(),
        "list_deployments": samples.page([samples.deployment(simulated=False, **campaign)]),
        "get_wallet": samples.wallet().model_copy(update={"prices": prices}),
    }
    csv = "phone_number\n" + "".join(f"+1202555{number:04d}\n" for number in range(100, 130))
    async with assistant(server(FakeCaller(answers)), ERAS[-1]) as client:
        result = await client.call_tool("import_audience", {"audience_id": "aud_1", "csv": csv})
    block = result.content[0]
    assert isinstance(block, TextContent)
    assert result.is_error
    assert said in block.text
