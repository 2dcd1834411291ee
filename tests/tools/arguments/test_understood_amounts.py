"""Amounts of money in many forms: none of them changes the value, and what is no plain amount is refused."""

import pytest
from mcp.server.mcpserver.exceptions import ToolError

from callwright.tools.arguments.understood import Understood
from callwright.tools.catalogue.registry import tool_named
from tests.support.tools.tool_calls import DRAFT, refused, taken

NO_SUM = (
    "should be an amount in USD such as 25.00, not below 0, with nine digits before the point and six behind it at most"
)


@pytest.mark.parametrize(
    ("given", "amount"),
    [
        (25, "25.000000"),
        (0, "0.000000"),
        (0.1, "0.100000"),
        (0.000001, "0.000001"),
        (19.99, "19.990000"),
        (999_999_999.999999, "999999999.999999"),
        ("25", "25"),
        ("25.50", "25.50"),
        ("25 USD", "25"),
        (" 25.5usd ", "25.5"),
        ("$25", "25"),
        ("$ 0.042500", "0.042500"),
        ({"amount": "25.00"}, "25.00"),
        ({"amount": 0.1}, "0.100000"),
        ('{"amount": 25}', "25.000000"),
    ],
)
async def test_an_amount_keeps_its_value_in_every_form(given: object, amount: str) -> None:
    assert (await taken("create_deployment", **DRAFT, budget_cap=given))["budget_cap"]["amount"] == amount


@pytest.mark.parametrize(
    "given",
    [
        *("ten dollars", "25 EUR", "€25", "25,50", "1e3", "", "-5", "$", "25 USD a day", "٢٥", "0x19", "nan"),
        *(-1, -0.01, 1e-9, 1e-7, 0.1234567, 0.1 + 0.2, 1e9, 1e20, 10**400),
        *(True, False, [25], ["25 USD"]),
    ],
    ids=str,
)
async def test_what_is_no_plain_amount_is_refused_and_never_rounded(given: object) -> None:
    assert await refused("create_deployment", **DRAFT, budget_cap=given) == f"budget_cap: {NO_SUM}"


@pytest.mark.parametrize("given", [float("nan"), float("inf"), float("-inf")])
def test_what_is_no_number_at_all_is_no_amount(given: float) -> None:
    with pytest.raises(ToolError, match="budget_cap: should be an amount in USD"):
        Understood(tool_named("create_deployment"), {**DRAFT, "budget_cap": given})
    inside = {**DRAFT, "budget_cap": {"amount": given}}
    assert Understood(tool_named("create_deployment"), inside).arguments["budget_cap"]["amount"] is given


@pytest.mark.parametrize("given", [1e-9, 1e20, True, [1], {"amount": 1}, -1, None])
async def test_an_object_with_another_amount_is_refused(given: object) -> None:
    said = await refused("create_deployment", **DRAFT, budget_cap={"amount": given})
    assert said == "budget_cap.amount: should be text"


async def test_another_currency_is_refused_beside_a_number_too() -> None:
    said = await refused("create_deployment", **DRAFT, budget_cap={"amount": 25, "currency": "EUR"})
    assert said.startswith("budget_cap.currency: has the wrong form; a right one is USD.")


async def test_a_cap_is_still_taken_away_with_null() -> None:
    assert await taken("update_deployment", deployment_id="dep_1", budget_cap=None) == {
        "id": "dep_1",
        "budget_cap": None,
    }
