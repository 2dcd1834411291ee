"""Who acts: what is kept of a key, of a user, of the service itself and of whoever runs it."""

from typing import Any

import pytest
from sqlalchemy import Connection, select, update

from callwright.contract.agents import agents as contract
from callwright.service import accounts
from callwright.service.accounts.principals import SERVICE, Principal
from callwright.service.handlers.request_context import HANDLERS, RequestContext
from callwright.service.platform.clock.clock import DAY, moment
from callwright.service.rest.audit import entries
from callwright.service.rest.authentication.api_key_check import identify
from callwright.service.rules.organization_plans import PRICE_PLANS
from callwright.service.tables.schema import audit_log, deployments
from tests.support.campaigns import ONCE, draft, ended_by_workers, people
from tests.support.service import Tenant


async def actors(tenant: Tenant, action: str) -> list[tuple[str, str | None]]:
    """The actor and the user of the organization's entries of an action."""
    own = select(audit_log.c.actor, audit_log.c.user_id).where(
        audit_log.c.org_id == tenant.org_id, audit_log.c.action == action
    )
    found = await tenant.database.read(lambda connection: connection.execute(own).all())
    return [(row.actor, row.user_id) for row in found]


async def make_agent(tenant: Tenant, principal: Principal) -> Any:
    """An agent that a principal makes, as a request does it."""
    services = tenant.services

    def work(connection: Connection) -> Any:
        context = RequestContext(
            connection=connection,
            org_id=tenant.org_id,
            plan=PRICE_PLANS["enterprise"],
            principal=principal,
            request_id="req_test",
            now_ms=services.clock.now_ms(),
            ids=services.ids,
            cursors=services.cursors,
            start_plan_seal=services.start_plan_seal,
            settings=services.settings,
        )
        asked = contract.CreateAgent.model_validate(
            {"name": "Ada", "voice_id": "en-US-ada", "language": "en-US", "system_prompt": "Be kind."}
        )
        made = HANDLERS[contract.create_agent.name](asked, context)
        entries.record(context, contract.create_agent, tool=None, path={}, asked=asked, result=made, before=None)
        return made

    return await services.database.write(work)


@pytest.mark.parametrize("kind", ["api key", "user", "system"])
async def test_a_handler_acts_for_a_key_a_user_and_the_system(kind: str, tenant: Tenant) -> None:
    services = tenant.services
    given = (services.ids, tenant.org_id, "personal", services.clock.now_ms())
    personal = await services.database.write(accounts.create_personal_key, *given)
    owner = await services.database.read(accounts.first_owner, tenant.org_id)
    live = await services.database.read(identify, tenant.api_key)
    principal, key_id, expected = {
        "api key": (live, live.key_id, (live.key_id, None)),
        "user": (await services.database.read(identify, personal.secret), personal.id, (personal.id, owner)),
        "system": (SERVICE, None, ("platform", None)),
    }[kind]
    assert (await make_agent(tenant, principal)).created_by_key_id == key_id
    assert await actors(tenant, "create_agent") == [expected]


async def test_the_service_is_the_actor_of_what_it_does_by_itself(tenant: Tenant) -> None:
    later = moment(tenant.services.clock.now_ms() + DAY)
    made = await draft(tenant, people(1), start_at=later, auto_start=True, retry_policy=ONCE)
    now = update(deployments).where(deployments.c.id == made.id).values(start_at=tenant.services.clock.now_ms())
    await tenant.database.write(lambda connection: connection.execute(now).rowcount)
    assert (await ended_by_workers(tenant, made.id)).status == "completed"
    for action in ("deployment.started", "call.placed", "call.ended", "deployment.completed"):
        assert await actors(tenant, action) == [("platform", None)], action
    assert await actors(tenant, "organization.created") == [("operator", None)]
