"""A personal key with a spending cap: what it may set going, through the protocol over HTTP."""

from callwright.contract.declaration.field_types import Spend
from tests.support.campaigns import draft, make_audience, people
from tests.support.mcp.over_http import Served
from tests.support.service import Tenant


async def _campaign(tenant: Tenant, name: str, cap: str | None) -> str:
    audience = await make_audience(tenant, people(2, first=len(name) * 10, sim_outcome="busy"), f"{name} people")
    bounded = {} if cap is None else {"budget_cap": Spend(amount=cap), "max_call_duration_seconds": 120}
    return (await draft(tenant, [], name, audience_id=audience.id, **bounded)).id


async def test_a_capped_key_starts_only_what_its_cap_covers(served: Served) -> None:
    unbounded, small, large = [
        await _campaign(served.tenant, name, cap)
        for name, cap in (("Unbounded", None), ("Small", "6.00"), ("Larger one", "5.00"))
    ]
    async with served.personal_assistant(cap_dollars=10.0) as hand:
        assert "budget_cap" in await hand.refused("start_deployment", deployment_id=unbounded)
        assert (await hand.use("start_deployment", deployment_id=small))["status"] == "active"
        said = await hand.refused("start_deployment", deployment_id=large)
        assert "10.00" in said or "10.000000" in said
        assert "6.00" in said
        await hand.use("update_deployment", deployment_id=large, budget_cap={"amount": "4.00"})
        assert (await hand.use("start_deployment", deployment_id=large))["status"] == "active"
        assert "this key" in (
            await hand.refused("update_deployment", deployment_id=small, budget_cap={"amount": "7.00"})
        )
        assert "this key" in await hand.refused("rent_phone_number", country="US")
    assert (await served.tenant.client.deployments.get(id=unbounded)).status == "draft"
    assert (await served.tenant.client.phone_numbers.list()).pagination.total == 3


async def test_a_key_without_a_cap_and_the_key_of_an_organization_are_not_held_to_one(served: Served) -> None:
    first, second = await _campaign(served.tenant, "First", None), await _campaign(served.tenant, "Second", None)
    async with served.personal_assistant() as hand:
        assert (await hand.use("start_deployment", deployment_id=first))["status"] == "active"
    await served.tenant.client.deployments.start(id=second)
