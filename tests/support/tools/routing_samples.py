"""Good answers of the tools for routing webhooks, and good arguments."""

from collections.abc import Callable, Mapping
from typing import Any

from callwright.contract.declaration.model import Resource
from callwright.contract.deployments.talks import Talk
from callwright.contract.inbound_routing import NewInboundRouting, RoutingRequest
from callwright.contract.simulated_callers import SimulatedCallers
from tests.support.tools.finding_samples import AT

URL = "https://example.com/who-answers"
SECRET = "whsec_0123456789abcdefghijklmnopqrstuvwxyz"
_ENTRY: Mapping[str, Any] = {
    "id": "evt_1",
    "phone_number_id": "num_1",
    "simulated": True,
    "created_at": AT,
    "from_number": "+12025550100",
    "latency_ms": 84,
    "slow": False,
}


def asked() -> RoutingRequest:
    """A caller for whom the endpoint had no answer."""
    return RoutingRequest(
        **_ENTRY,
        call_id="cal_1",
        is_test=False,
        outcome="server_error",
        response_status=500,
        response_excerpt="out of order",
        detail="The endpoint answered 500: it has failed.",
    )


def tried() -> RoutingRequest:
    """A test that went well."""
    return RoutingRequest(
        **_ENTRY,
        is_test=True,
        outcome="succeeded",
        action="answer",
        response_status=200,
        response_excerpt='{"agent_id": "agt_1"}',
        decision="Agent agt_1 answers.",
    )


COMING = SimulatedCallers(
    phone_number_id="num_1", deployment_id="dep_1", count=2, first_call_id="cal_1", first_at=AT, last_at=AT
)
LINK = Talk(
    call_id="cal_1",
    deployment_id="dep_1",
    url="https://voice.example.com/talk/cal_1#tlk_0a",
    expires_at=AT,
    hears=True,
)
LISTED: Mapping[str, Callable[[], Resource]] = {"list_routing_requests": asked}
ARGUMENTS: dict[str, dict[str, Any]] = {"set_inbound_routing": {"phone_number_id": "num_1", "url": URL}}


def singles() -> dict[str, Any]:
    """An answer for every operation that does not answer with a list."""
    made = NewInboundRouting(url=URL, enabled=True, secret_prefix="whsec_0123", failures=0, secret=SECRET)
    return {
        "set_inbound_routing": made,
        "remove_inbound_routing": None,
        "test_inbound_routing": tried(),
        "simulate_inbound_call": COMING,
        "talk_to_number": LINK,
    }
