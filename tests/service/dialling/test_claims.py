"""The claim decides by what is so at its moment, not by what was so when it was looked whom to call."""

from typing import Any

from sqlalchemy import Connection

from callwright.contract.declaration.field_types import Spend
from callwright.service.dialling.claims import Allowance, allowance
from callwright.service.dialling.eligibility import do_not_call
from callwright.service.dialling.queue import FIND
from callwright.service.platform.money import money
from tests.support.campaign_invariants import campaign_records
from tests.support.campaigns import claim_and_die, draft, driver_of, lease, leave_in_wallet, people, phone, started
from tests.support.interposed_claims import driven
from tests.support.prices import US
from tests.support.service import Tenant


async def test_nobody_is_claimed_once_the_campaign_is_paused(tenant: Tenant) -> None:
    made = await started(tenant, people(5))
    found = await driven(tenant, made.id, lambda: tenant.client.deployments.pause(id=made.id))
    assert (found.deployment.status, found.calls, found.dials) == ("paused", [], [])


async def test_whoever_is_put_on_the_do_not_call_list_before_the_claim_is_not_called(tenant: Tenant) -> None:
    made = await started(tenant, people(5))
    listed: dict[str, Any] = {"org_id": tenant.org_id, "numbers": {phone(3): "cal_1"}, "simulated": True}

    async def opt_out() -> None:
        now_ms = tenant.services.clock.now_ms()
        await tenant.database.write(do_not_call.opt_out, tenant.services.ids, **listed, now_ms=now_ms)

    found = await driven(tenant, made.id, opt_out)
    assert [one.status_reason for one in found.contacts if one.status == "suppressed"] == ["do_not_call"]
    assert found.deployment.status == "completed"
    assert phone(3) not in {call.to_number for call in found.calls}


async def test_a_number_in_a_call_of_another_campaign_is_not_claimed(tenant: Tenant) -> None:
    calling, waiting = await draft(tenant, people(3)), await draft(tenant, people(3), "Other")
    for made in (calling, waiting):
        await tenant.client.deployments.start(id=made.id)
    await claim_and_die(tenant, calling.id)
    await lease(tenant, waiting.id, "wrk_other")
    await driver_of(tenant, "wrk_other", rounds=1).drive(waiting.id)
    found = await campaign_records(tenant.database, waiting.id)
    assert (found.deployment.in_flight, found.calls, found.dials) == (0, [], [])
    assert {contact.status for contact in found.contacts} == {"pending"}


async def test_what_is_held_back_for_calls_under_way_covers_no_other_call(tenant: Tenant) -> None:
    call = US.held_back
    made = await started(tenant, people(10), max_concurrency=20)
    await claim_and_die(tenant, made.id)

    def allowed(connection: Connection) -> Allowance:
        return allowance(connection, connection.execute(FIND, {"id": made.id}).one(), jumps=True)

    assert await tenant.database.read(allowed) == Allowance(10, lines=20)
    await tenant.client.deployments.update(id=made.id, budget_cap=Spend(amount=money(13 * call).amount))
    assert await tenant.database.read(allowed) == Allowance(3, lines=20)
    await leave_in_wallet(tenant, 12 * call)
    assert await tenant.database.read(allowed) == Allowance(2, lines=20)
