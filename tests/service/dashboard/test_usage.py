"""Use against limits: what is used, what there may be, and what happens at the limit."""

import re
from html import unescape
from pathlib import Path

import pytest

from callwright.service import accounts
from tests.support.campaigns import people, started
from tests.support.dashboard import logged_in, text_of
from tests.support.service import Tenant, open_service
from tests.support.webhooks.sent_events import subscribe

PATH = "/settings/usage"


@pytest.mark.requirement("DASH-55")
async def test_each_limit_of_the_plan_shows_what_is_used_and_what_happens_then(
    database_url: str, tmp_path: Path
) -> None:
    async with open_service(database_url, tmp_path, plan="starter", workers=False) as tenant:
        await started(tenant, people(3))
        await subscribe(tenant)
        await tenant.database.write(
            lambda connection: accounts.change_plan(
                connection,
                tenant.services.ids,
                tenant.org_id,
                tenant.services.clock.now_ms(),
                reserved_inbound_concurrency=4,
            )
        )
        async with logged_in(tenant, role="viewer") as visit:
            await tenant.services.limits.keep(tenant.services.clock.confirmed_now_ms())
            html = await visit.page(PATH)
        text = text_of(html)
    for said in (
        "Plan starter. Each key and each user makes up to 5 requests a second",
        "Calls under way 0 of 10",
        "Lines kept for callers that are in use 0 of 4",
        "Campaigns that are scheduled, active or paused 1 of 5",
        "Active API keys 1 of 20",
        "Webhooks 1 of 20",
        "People in the largest audience 3 of 5,000,000",
        "Your sessions 1 of 20",
        "More are refused until midnight UTC",
        "is refused until one has ended",
    ):
        assert said in text
    labels = re.findall(r'role="img" aria-label="([^"]*)"', unescape(html))
    assert "Active API keys: 1 of 20" in labels
    made = re.findall(r"([0-9,]+) of 5,000 ", text)
    assert len(made) == 2
    assert max(int(one) for one in made) >= 4


@pytest.mark.requirement("DASH-55")
async def test_a_plan_without_limits_says_so_and_a_full_one_is_marked(tenant: Tenant) -> None:
    for at in range(19):
        await tenant.new_key(f"key {at}")
    async with logged_in(tenant) as visit:
        await visit.send("/settings/api-keys", kind="personal", label="lap", profile="analyst", spending_cap="12.50")
        html = await visit.page(PATH)
    text = text_of(html)
    assert "Requests a second have no limit." in text
    assert "They have no limit, and are not counted." in text
    assert "Active API keys 20 of 20" in text
    assert 'data-part="full"' in html
    assert "Spending cap of the personal key lap 0.00 USD of 12.50 USD" in text


async def test_another_organization_is_not_counted(tenant: Tenant) -> None:
    async with tenant.another_organization() as other:
        await subscribe(other)
        async with logged_in(tenant) as visit:
            assert "Webhooks 0 of 20" in text_of(await visit.page(PATH))
