"""What a person decides about a call of which nobody knows whether the telephone rang."""

import json
from typing import Any

import pytest
from sqlalchemy import select, update

from callwright.service.dialling.endings import UNCONFIRMED_CALLS
from callwright.service.tables.schema import api_keys, audit_log, deployment_contacts, deployments
from tests.support import resources
from tests.support.calls.held_calls import held_call
from tests.support.service import Tenant


async def held(tenant: Tenant, **columns: Any) -> tuple[str, str]:
    """The ids of a deployment, with these columns, and of a call of it that is unconfirmed."""
    deployment_id = (await resources.draft(tenant)).deployment.id
    call_id = await held_call(tenant, deployment_id)
    if columns:
        change = update(deployments).where(deployments.c.id == deployment_id).values(**columns)
        await tenant.database.write(lambda connection: connection.execute(change))
    return deployment_id, call_id


async def nobody_else(tenant: Tenant, deployment_id: str) -> None:
    """Only the held contact is left, and the campaign has paused for it."""
    held_alone = update(deployments).where(deployments.c.id == deployment_id)
    paused = {"status": "paused", "status_reason": UNCONFIRMED_CALLS, "started_at": 1, "clock_ms": 1}
    states = json.dumps({"held": 1})

    def put(connection: Any) -> None:
        connection.execute(held_alone.values(**paused, states=states, contacts=1, channel_free_at="[]"))

    await tenant.database.write(put)


@pytest.mark.parametrize("placed", [True, False])
async def test_the_call_its_evidence_and_the_audit_log_show_what_was_decided_and_by_whom(
    tenant: Tenant, placed: bool
) -> None:
    _, call_id = await held(tenant)
    before = await tenant.client.calls.get(call_uuid=call_id)
    assert before.resolved is None
    resolved = await tenant.client.calls.resolve(call_uuid=call_id, placed=placed)
    key = select(api_keys.c.id).where(api_keys.c.org_id == tenant.org_id)
    key_id = await tenant.database.read(lambda connection: connection.execute(key).scalar_one())
    assert resolved.resolved is not None
    assert (resolved.resolved.placed, resolved.resolved.actor_id) == (placed, key_id)
    assert (await tenant.client.calls.get(call_uuid=call_id)).resolved == resolved.resolved
    assert (await tenant.client.calls.get_evidence(call_uuid=call_id)).resolved == resolved.resolved
    entry = select(audit_log.c.changes).where(audit_log.c.action == "resolve_call")
    (changes,) = await tenant.database.read(lambda connection: connection.execute(entry).scalars().all())
    changed = json.loads(changes)["resolved"]
    assert changed["before"] is None
    assert changed["after"]["placed"] is placed


async def test_an_attempt_of_which_a_person_says_that_it_did_not_ring_does_not_count(tenant: Tenant) -> None:
    deployment_id, call_id = await held(tenant)
    await tenant.client.calls.resolve(call_uuid=call_id, placed=False)
    wanted = select(deployment_contacts).where(deployment_contacts.c.last_call_id == call_id)
    contact = await tenant.database.read(lambda connection: connection.execute(wanted).one())
    assert (contact.deployment_id, contact.status, contact.attempt_times) == (deployment_id, "pending", "[]")


async def test_a_campaign_that_waited_for_its_held_contact_alone_is_completed_once_it_is_decided(
    tenant: Tenant,
) -> None:
    deployment_id, call_id = await held(tenant)
    await nobody_else(tenant, deployment_id)
    await tenant.client.calls.resolve(call_uuid=call_id, placed=True)
    found = await tenant.client.deployments.get(id=deployment_id)
    assert (found.status, found.status_reason) == ("completed", "audience_exhausted")


async def test_a_campaign_whose_contact_is_to_be_called_again_stays_paused_until_it_is_resumed(
    tenant: Tenant,
) -> None:
    deployment_id, call_id = await held(tenant)
    await nobody_else(tenant, deployment_id)
    await tenant.client.calls.resolve(call_uuid=call_id, placed=False)
    assert (await tenant.client.deployments.get(id=deployment_id)).status == "paused"
