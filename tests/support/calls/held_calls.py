"""A call of which nobody knows whether it rang, with its held contact, for tests of what a person decides."""

from typing import Any

from sqlalchemy import insert, select, update

from callwright.contract.events import CALL_UNCONFIRMED, CallUnconfirmed
from callwright.service.tables import counters, outbox
from callwright.service.tables.schema import deployment_contacts, deployments
from tests.support.calls.stored_calls import DIALLED_MS, put_call
from tests.support.service import Tenant

NUMBER = "+12125550177"


async def held_call(tenant: Tenant, deployment_id: str) -> str:
    """A call with the cause unconfirmed, told by an event; a further contact of the deployment is held for it."""
    contact_id = tenant.services.ids.new("row")
    call_id = await put_call(
        tenant,
        deployment_id=deployment_id,
        contact_id=contact_id,
        to_number=NUMBER,
        status="failed",
        outcome="failed",
        hangup_cause="unconfirmed",
    )

    def put(connection: Any) -> None:
        row = connection.execute(select(deployments).where(deployments.c.id == deployment_id)).one()
        held = {
            "deployment_id": deployment_id,
            "id": contact_id,
            "org_id": tenant.org_id,
            "position": 1_000,
            "phone": NUMBER,
            "status": "held",
            "attempts": 1,
            "attempt_times": f"[{DIALLED_MS}]",
            "last_call_id": call_id,
            "last_outcome": "failed",
        }
        connection.execute(insert(deployment_contacts), held)
        states = counters.moved(row.states, [(None, "held")])
        connection.execute(
            update(deployments)
            .where(deployments.c.id == deployment_id)
            .values(states=states, contacts=row.contacts + 1)
        )
        about = {"call_id": call_id, "deployment_id": deployment_id, "contact_id": contact_id}
        told = CallUnconfirmed(**about, agent_id=row.agent_id, simulated=row.simulated)
        services = tenant.services
        at_ms = services.clock.now_ms()
        outbox.emit(
            connection, services.ids, tenant.org_id, CALL_UNCONFIRMED, told, at_ms=at_ms, simulated=row.simulated
        )

    await tenant.database.write(put)
    return call_id
