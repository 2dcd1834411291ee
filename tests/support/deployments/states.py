"""Deployments in every state, and what moves them."""

from datetime import timedelta

from sqlalchemy import select, update

from callwright.service.platform.clock.clock import moment
from callwright.service.tables.schema import deployments, outbox
from tests.support import resources
from tests.support.service import Tenant

ACTIONS = ("start", "pause", "resume", "cancel")


async def deployment_in_state(tenant: Tenant, status: str) -> str:
    """The id of a deployment in this state."""
    name = tenant.services.ids.new("tst")
    client, made = tenant.client.deployments, (await resources.draft(tenant, name)).deployment
    if status == "scheduled":
        start_at = moment(tenant.services.clock.now_ms()) + timedelta(days=1)
        await client.update(id=made.id, start_at=start_at)
    if status in ("scheduled", "active", "paused"):
        await client.start(id=made.id)
    if status == "paused":
        await client.pause(id=made.id)
    if status == "cancelled":
        await client.cancel(id=made.id)
    if status in ("completed", "failed"):
        await _force(tenant, made.id, status)
    assert (await client.get(id=made.id)).status == status
    return made.id


async def _force(tenant: Tenant, deployment_id: str, status: str) -> None:
    statement = update(deployments).where(deployments.c.id == deployment_id).values(status=status)
    await tenant.database.write(lambda connection: connection.execute(statement).rowcount)


async def act(tenant: Tenant, action: str, deployment_id: str) -> str:
    """Carries out an action; returns the state afterwards."""
    return (await getattr(tenant.client.deployments, action)(id=deployment_id)).status


async def event_types(tenant: Tenant) -> list[str]:
    """The types of the organization's events, without those of its wallet."""
    statement = select(outbox.c.type).where(outbox.c.org_id == tenant.org_id).order_by(outbox.c.created_at, outbox.c.id)
    found = await tenant.database.read(lambda connection: list(connection.execute(statement).scalars()))
    return [name for name in found if not name.startswith("wallet.")]
