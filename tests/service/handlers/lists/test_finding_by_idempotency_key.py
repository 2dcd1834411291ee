"""After a lost answer: which deployment a request with an idempotency key made or started."""

from sqlalchemy import update

from callwright.client import Client
from callwright.client.transport import ASGITransport
from callwright.service.platform.clock.clock import HOUR
from callwright.service.tables.schema import idempotency_keys
from tests.support import resources
from tests.support.deployments.plans import plan_of
from tests.support.http.raw_requests import AsyncClient
from tests.support.resources import refusal, row
from tests.support.service import BASE_URL, Tenant


async def found(client: Client, key: str) -> list[str]:
    """The ids of the deployments that a key leads to."""
    page = await client.deployments.list(idempotency_key=key)
    assert page.pagination.total == len(page.data)
    return [entry.id for entry in page.data]


async def age(tenant: Tenant, hours: int) -> None:
    older = update(idempotency_keys).values(created_at=idempotency_keys.c.created_at - hours * HOUR)
    await tenant.database.write(lambda connection: connection.execute(older).rowcount)


async def test_the_deployment_that_was_made_started_or_resumed_is_found(tenant: Tenant, http: AsyncClient) -> None:
    client, campaign = tenant.client, await resources.draft(tenant, "Other")
    made = await client.idempotent("make").deployments.create(name="Mine", **campaign.parts)
    assert await found(client, "make") == [made.id]
    assert await found(client, "go") == []
    await client.idempotent("go").deployments.start(id=made.id, plan_id=await plan_of(tenant, made.id))
    assert await found(client, "go") == [made.id]
    await client.deployments.pause(id=made.id)
    await client.idempotent("on").deployments.resume(id=made.id)
    assert await found(client, "on") == [made.id]
    assert (await client.deployments.list(idempotency_key="on", status=["draft"])).data == []
    path = f"/v1/deployments/{campaign.deployment.id}/start"
    assert (await http.post(path, headers={"Idempotency-Key": '"by-hand"'})).is_success
    answer = await http.get("/v1/deployments", params={"filter[idempotency_key]": "by-hand"})
    assert [entry["id"] for entry in answer.json()["data"]] == [campaign.deployment.id]


async def test_a_key_that_started_nothing_leads_to_nothing(tenant: Tenant, other: Tenant) -> None:
    made = (await resources.draft(tenant)).deployment.id
    assert await found(tenant.client, "never used") == []
    async with refusal(400, "invalid_field", "plan_id"):
        await tenant.client.idempotent("refused").deployments.start(id=made, plan_id="pln_x")
    assert await found(tenant.client, "refused") == []
    await tenant.client.idempotent("seen").deployments.preview(id=made)
    await tenant.client.idempotent("rows").audiences.create(name="Rows", rows=[row()])
    assert await found(tenant.client, "seen") == await found(tenant.client, "rows") == []
    await tenant.client.idempotent("go").deployments.start(id=made)
    assert await found(other.client, "go") == []


async def test_any_key_of_the_organization_finds_it_for_24_hours(tenant: Tenant) -> None:
    second = await tenant.new_key("second")
    made = (await resources.draft(tenant)).deployment.id
    await tenant.client.idempotent("go").deployments.start(id=made)
    async with Client(BASE_URL, second.secret, transport=ASGITransport(app=tenant.service.asgi)) as client:
        await client.idempotent("go").deployments.start(id=made)
        assert await found(client, "go") == [made]
        await age(tenant, 23)
        assert await found(client, "go") == [made]
        await age(tenant, 1)
        assert await found(client, "go") == []
