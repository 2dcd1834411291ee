"""The wallet page: how long the balance lasts, and what running campaigns may still cost."""

from decimal import Decimal
from typing import Any

import pytest

from callwright.contract.declaration.operation import AnyOperation
from callwright.service.dashboard.asking import Operations, Refused
from callwright.service.dashboard.forecasts import lasts
from callwright.service.platform.clock.clock import DAY
from tests.support.calls.stored_calls import put_call
from tests.support.campaigns import draft, people, started
from tests.support.dashboard import logged_in, text_of
from tests.support.service import Tenant


@pytest.mark.requirement("DASH-57")
async def test_the_pace_is_that_of_the_last_seven_days(tenant: Tenant) -> None:
    now_ms = tenant.services.clock.now_ms()
    await put_call(tenant, created_at=now_ms - 2 * DAY, cost_micros=35_000_000)
    await put_call(tenant, created_at=now_ms - 9 * DAY, cost_micros=90_000_000)
    async with logged_in(tenant, role="viewer") as visit:
        page = text_of(await visit.page("/wallet"))
    assert "At the pace of the last 7 days the wallet lasts for about 20 days." in page
    assert "Calls of the last 7 days cost 35.00 USD, a seventh of it a day; 0 numbers cost 0.00 USD in 30 days." in page
    assert "No campaign runs or is scheduled." in page


@pytest.mark.requirement("DASH-57")
async def test_what_running_campaigns_may_cost_is_that_of_their_plans(tenant: Tenant) -> None:
    made = await started(tenant, people(3), name="Autumn recall")
    await draft(tenant, people(2, first=5), name="Not started")
    cost = (await tenant.client.deployments.preview(id=made.id)).cost
    async with logged_in(tenant) as visit:
        html = await visit.page("/wallet")
    text = text_of(html)
    low, high = (f"{Decimal(one.amount):,.2f} USD" for one in (cost.low, cost.high))
    assert f"1 campaign that runs or is scheduled may still cost {low} to {high}" in text
    assert "The wallet covers that." in text
    assert f'<a href="/campaigns/{made.id}">Autumn recall</a>' in html
    assert "Not started" not in text


@pytest.mark.requirement("DASH-57")
async def test_a_sum_that_would_leave_campaigns_out_is_not_shown(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    for at in range(5):
        await started(tenant, people(1, first=at), name=f"Campaign {at}")
    ask = Operations.one

    async def hurried(self: Operations, operation: AnyOperation, **fields: Any) -> dict[str, Any]:
        if operation.name == "preview_deployment":
            raise Refused(429, "rate_limited", "Too many requests.")
        return await ask(self, operation, **fields)

    async with logged_in(tenant) as visit:
        assert "The 4 newest campaigns that run or are scheduled may" in text_of(await visit.page("/wallet"))
        monkeypatch.setattr(Operations, "one", hurried)
        page = text_of(await visit.page("/wallet"))
    assert "may still cost cannot be said now: Too many requests." in page


@pytest.mark.parametrize(
    ("available", "a_day", "said"),
    [
        ("0", "1", "Nothing is available: no call begins until the wallet is topped up."),
        ("5", "0", "Nothing was spent in the last 7 days, so there is no pace to go by."),
        ("5", "10", "At the pace of the last 7 days the wallet lasts for less than a day."),
        ("5", "4", "At the pace of the last 7 days the wallet lasts for about 1 day."),
        ("5000", "1", "At the pace of the last 7 days the wallet lasts for more than a year."),
    ],
)
def test_how_long_it_lasts_is_said_in_words(available: str, a_day: str, said: str) -> None:
    assert lasts(Decimal(available), Decimal(a_day)) == said
