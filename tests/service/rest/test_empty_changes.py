"""A PATCH that names nothing changes nothing; and a few words of refusals."""

from typing import Any

import pytest
from sqlalchemy import Connection, select

from callwright.contract.surface import OPERATIONS
from callwright.service.tables import schema
from tests.support import resources
from tests.support.http.raw_requests import AsyncClient, refused
from tests.support.service import Tenant

PATCHES = sorted(operation.path for operation in OPERATIONS.values() if operation.method == "PATCH")
TABLES = (
    *(schema.agents, schema.audiences, schema.phone_numbers, schema.deployments, schema.webhooks),
    *(schema.organizations, schema.wallets, schema.audit_log, schema.outbox),
)


def everything(connection: Connection) -> list[list[tuple[Any, ...]]]:
    return [sorted(map(tuple, connection.execute(select(table))), key=repr) for table in TABLES]


@pytest.mark.requirement("CONV-34")
async def test_a_patch_that_names_nothing_changes_nothing(tenant: Tenant, http: AsyncClient) -> None:
    made = await resources.draft(tenant)
    hook = await tenant.client.webhooks.create(url="https://example.com/events", events=["*"])
    ids = {"agents": made.agent.id, "audiences": made.audience.id, "phone_numbers": made.number.id}
    ids |= {"deployments": made.deployment.id, "webhooks": hook.id}
    before = await tenant.database.read(everything)
    for path in PATCHES:
        address = "/v1" + path.replace("{id}", ids.get(path.split("/")[1], ""))
        as_it_is = await http.get(address)
        answer = await http.patch(address, json={})
        assert answer.status_code == 200, path
        assert answer.json() == as_it_is.json(), path
        if "{id}" in path:
            missing = "/v1" + path.replace("{id}", "unknown")
            refused(await http.patch(missing, json={}), 404, "not_found")
    assert await tenant.database.read(everything) == before


@pytest.mark.requirement("CONV-35")
@pytest.mark.parametrize("name", [" ", "  ", "\u2003"])
async def test_a_name_of_blanks_is_refused(tenant: Tenant, http: AsyncClient, name: str) -> None:
    agent = await resources.agent(tenant)
    made = await http.post("/v1/audiences", json={"name": name})
    assert refused(made, 400, "invalid_field", "name")["message"] == "name: must not be blank"
    refused(await http.patch(f"/v1/agents/{agent.id}", json={"name": name}), 400, "invalid_field", "name")


async def test_what_cannot_be_done_is_said_in_good_english(tenant: Tenant, http: AsyncClient) -> None:
    path = f"/v1/deployments/{(await resources.draft(tenant)).deployment.id}"
    paused = await http.post(f"{path}/pause")
    said = refused(paused, 409, "invalid_state_transition")["message"]
    assert said == "a deployment that is draft cannot be paused"
    assert (await http.post(f"{path}/cancel")).status_code == 200
    removed = refused(await http.delete(path), 409, "invalid_state_transition")
    assert removed["message"] == "a deployment that is cancelled cannot be deleted"
