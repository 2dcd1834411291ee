"""People call a number on the simulated network: through the typed client, on both engines."""

import pytest

from tests.support.callers import answered_number, called_in
from tests.support.service import Tenant

pytestmark = [pytest.mark.service(plan="growth", workers=True)]


async def test_a_caller_is_answered_by_the_agent_and_leaves_a_record(tenant: Tenant) -> None:
    desk = await answered_number(tenant)
    (call,) = await called_in(tenant, desk, caller="+12065550111")
    assert (call.call_type, call.outcome, call.status) == ("inbound", "answered", "completed")
    assert (call.from_number, call.deployment_id, call.simulated) == ("+12065550111", desk.id, True)
    assert call.inbound is not None
    assert (call.inbound.routed_by, call.inbound.action, call.inbound.reason) == ("deployment", "agent", None)
    transcript = await tenant.client.calls.get_transcript(call_uuid=call.id)
    assert transcript.turns[0].role == "agent"
    assert call.cost is not None
    shown = await tenant.client.deployments.get(id=desk.id)
    assert (shown.status, shown.stats.attempts, shown.stats.answered) == ("active", 1, 1)
    assert shown.stats.spend.amount == call.cost.amount
