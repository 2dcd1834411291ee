"""Plans, and what an organization negotiates in their place."""

import pytest

from callwright.service.rules.organization_plans import PRICE_PLANS, PricePlan, negotiated


@pytest.mark.requirement("RATE-02", "RATE-03", "RATE-04", "LIMIT-10", "LIMIT-11", "LIMIT-16")
@pytest.mark.parametrize(
    ("name", "plan"),
    [
        ("starter", PricePlan("starter", 5, 10, 5, 5_000, 90)),
        ("pro", PricePlan("pro", 25, 50, 25, 50_000, 90)),
        ("growth", PricePlan("growth", 100, 200, 100, 250_000, 90)),
        ("enterprise", PricePlan("enterprise", None, None, None, None, 90)),
    ],
)
def test_a_plan_has_its_limits(name: str, plan: PricePlan) -> None:
    assert PRICE_PLANS[name] == plan


def test_negotiated_values_take_the_place_of_the_plans_and_leave_the_others() -> None:
    plan = negotiated(PRICE_PLANS["pro"], requests_per_second=40)
    assert (plan.name, plan.requests_per_second, plan.requests_per_day) == ("pro", 40, 50_000)
    plan = negotiated(PRICE_PLANS["enterprise"], requests_per_second=1, requests_per_day=2, recording_retention_days=3)
    assert (plan.requests_per_second, plan.requests_per_day, plan.recording_retention_days) == (1, 2, 3)
    assert plan.concurrent_calls is None


def test_a_plan_without_negotiated_values_is_itself() -> None:
    assert negotiated(PRICE_PLANS["growth"]) is PRICE_PLANS["growth"]
