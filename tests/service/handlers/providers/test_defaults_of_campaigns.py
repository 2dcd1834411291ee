"""A default with which a campaign on real lines began: it stays while the campaign's price does not count it."""

from tests.support.campaigns import people
from tests.support.priced_calls import real_draft, start_by_plan, take_prices
from tests.support.resources import refusal
from tests.support.service import Tenant

KEY = "sk-thisIsTheKeyOfTheTests-9f3a"


async def test_the_default_of_a_campaign_under_way_stays_until_another_takes_its_place(tenant: Tenant) -> None:
    providers = tenant.client.providers
    await take_prices(tenant)
    await providers.set(name="ours", kind="openai", key=KEY, default_for=["thinking", "hearing"])
    made = await real_draft(tenant, people(1))
    await start_by_plan(tenant, made.id)
    async with refusal(409, "provider_in_use") as found:
        await providers.remove(name="ours")
    assert found[0].details == {"used_by": [made.id]}
    async with refusal(409, "provider_in_use"):
        await providers.set(name="ours", kind="openai", default_for=["hearing"])
    await providers.set(name="another", kind="openai", key=KEY, default_for=["thinking", "hearing"])
    await providers.remove(name="ours")
    await tenant.client.deployments.cancel(id=made.id)
    await providers.remove(name="another")
    assert (await providers.list()).data == []


async def test_a_default_that_came_after_the_start_may_go_again(tenant: Tenant) -> None:
    await take_prices(tenant)
    made = await real_draft(tenant, people(1))
    await start_by_plan(tenant, made.id)
    await tenant.client.providers.set(name="ours", kind="openai", key=KEY, default_for=["thinking"])
    await tenant.client.providers.remove(name="ours")
    assert (await tenant.client.providers.list()).data == []
