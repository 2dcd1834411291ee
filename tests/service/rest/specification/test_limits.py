"""What plans allow at a time."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, insert, select, update

from callwright.service.tables.schema import audiences, deployments
from tests.support import resources
from tests.support.http.raw_requests import AsyncClient, refused
from tests.support.imports import carry_out_import
from tests.support.resources import refusal, row
from tests.support.service import Tenant, open_service

COUNTED = ("scheduled", "active", "paused")
FREE = ("draft", "completed", "cancelled", "failed")


async def copies(tenant: Tenant, deployment_id: str, statuses: list[str]) -> None:
    """Puts copies of a deployment beside it, one in each of these states."""

    def put(connection: Connection) -> None:
        row = connection.execute(select(deployments).where(deployments.c.id == deployment_id)).mappings().one()
        made: list[dict[str, Any]] = [
            {**row, "id": tenant.services.ids.new("dep"), "name": f"Copy {index}", "status": status}
            for index, status in enumerate(statuses)
        ]
        connection.execute(insert(deployments), made)

    await tenant.database.write(put)


@pytest.mark.requirement("LIMIT-10", "LIMIT-11", "LIMIT-16", "ERR-40")
@pytest.mark.parametrize(("plan", "limit"), [("starter", 5), ("pro", 25), ("growth", 100), ("enterprise", None)])
async def test_a_plan_allows_so_many_deployments_at_a_time(
    database_url: str, tmp_path: Path, plan: str, limit: int | None
) -> None:
    async with open_service(database_url, tmp_path, plan=plan, workers=False) as tenant:
        campaign = await resources.draft(tenant)
        second = await tenant.client.deployments.create(name="Second", **campaign.parts)
        others = 300 if limit is None else limit - 1
        counted = [COUNTED[index % len(COUNTED)] for index in range(others)]
        await copies(tenant, campaign.deployment.id, [*counted, *FREE])
        assert (await tenant.client.deployments.start(id=campaign.deployment.id)).status == "active"
        if limit is None:
            assert (await tenant.client.deployments.start(id=second.id)).status == "active"
            return
        async with refusal(422, "plan_limit_reached") as kept:
            await tenant.client.deployments.start(id=second.id)
        assert kept[0].details == {"limit": limit, "current": limit}


@pytest.mark.requirement("LIMIT-17")
@pytest.mark.parametrize(("plan", "limit"), [("starter", 10), ("pro", 50), ("growth", 200), ("enterprise", None)])
async def test_a_plan_allows_so_many_calls_at_a_time(
    database_url: str, tmp_path: Path, plan: str, limit: int | None
) -> None:
    async with open_service(database_url, tmp_path, plan=plan, workers=False) as tenant:
        made = (await resources.draft(tenant)).deployment
        change = tenant.client.deployments.update
        most = 1_000 if limit is None else limit
        assert (await change(id=made.id, max_concurrency=most)).max_concurrency == most
        if limit is not None:
            async with refusal(422, "plan_limit_reached", "max_concurrency"):
                await change(id=made.id, max_concurrency=limit + 1)


@pytest.mark.requirement("LIMIT-07")
async def test_an_audience_takes_its_five_millionth_row_and_none_beyond(tenant: Tenant, http: AsyncClient) -> None:
    audience = await tenant.client.audiences.create(name="Large")
    full = update(audiences).values(valid_count=4_999_999, row_count=4_999_999, status="ready")
    await tenant.database.write(lambda connection: connection.execute(full).rowcount)
    path = f"/v1/audiences/{audience.id}/rows"
    refusal = await http.post(path, json={"rows": [row(1), row(2)]})
    found = refused(refusal, 422, "audience_full", "rows")
    assert (found["limit"], found["current"]) == (5_000_000, 4_999_999)
    assert (await http.post(path, json={"rows": [row(1)]})).json()["data"]["added"] == 1
    refused(await http.post(path, json={"rows": [row(2)]}), 422, "audience_full", "rows")
    assert (await http.post(path, json={"rows": [{"phone_number": "x"}]})).json()["data"]["invalid"] == 1
    done = await carry_out_import(tenant, "phone_number\n+12125550163\n", audience_id=audience.id)
    assert (done.status, done.added) == ("failed", 0)
    assert done.status_reason == "an audience has at most 5,000,000 rows"
