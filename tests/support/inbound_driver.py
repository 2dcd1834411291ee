"""Drives inbound deployments of tests by hand, with a routing webhook that answers as it is told."""

from dataclasses import replace
from math import inf

from callwright.contract.deployments.deployments import Deployment
from callwright.service.dialling import leases
from callwright.service.dialling.rounds.driver_writes import DriverWrites
from callwright.service.inbound.routing.asking import RoutingWebhook
from callwright.service.inbound.simulated_driver import SimulatedInbound
from tests.support.service import Tenant
from tests.support.webhooks.routing import ScriptedRouting

OWNER, LEASE_MS = "wrk_test", 60_000


async def answer_callers(
    tenant: Tenant, deployment: Deployment, routing: ScriptedRouting | None = None, *, time_scale: float = inf
) -> None:
    """Has everybody who is to call a number call, and returns once nobody does."""
    services, now_ms = tenant.services, tenant.services.clock.now_ms()
    writes = DriverWrites(
        database=services.database, clock=services.clock, ids=services.ids, owner=OWNER, lease_ms=LEASE_MS
    )
    webhook = RoutingWebhook(replace(services, routing_endpoints=routing or ScriptedRouting()))
    await services.database.write(leases.take, [deployment.id], OWNER, now_ms, now_ms + LEASE_MS)
    await SimulatedInbound(writes, webhook, time_scale=time_scale).drive(deployment.id)
    await services.database.write(leases.release, deployment.id, OWNER)
