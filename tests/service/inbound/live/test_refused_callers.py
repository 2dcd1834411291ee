"""Callers who are refused before anybody answers leave a record."""

from pathlib import Path

import pytest

from callwright.contract.checks.address_ranges import LOOPBACK
from callwright.service.inbound.live.inbound_router import InboundRouter
from callwright.service.inbound.live.live_calls import LiveCaller
from callwright.service.settings import LineSettings, ServiceSettings
from callwright.service.telephony.registry import SIP
from tests.service.telephony.media.sip.telephone import free_port
from tests.support.campaigns import make_agent
from tests.support.service import Tenant, open_service
from tests.support.talks import ended
from tests.support.webhooks.endpoints import saying, sink, status

OWN, CALLER = "+12125550191", "+14155550123"


def trunk() -> LineSettings:
    """A trunk that brings its callers to a port here; nobody calls."""
    at = f"127.0.0.1:{free_port()}"
    return LineSettings(count=1, sip_trunk="sip:127.0.0.1:9", sip_numbers=(OWN,), sip_inbound=at)


async def _desk(tenant: Tenant) -> tuple[str, str]:
    """A number of the trunk and the deployment that answers it."""
    number = await tenant.client.phone_numbers.import_owned(number=OWN)
    agent = await make_agent(tenant)
    made = await tenant.client.deployments.create_inbound(name="Desk", agent_id=agent.id, phone_number_id=number.id)
    return number.id, made.id


@pytest.mark.requirement("INB-18")
async def test_a_caller_for_whom_a_process_has_no_line_is_refused_at_once_and_has_a_call(
    database_url: str, tmp_path: Path
) -> None:
    settings = ServiceSettings(data=tmp_path, database_url=database_url, webhook_networks=LOOPBACK, lines=trunk())
    async with (
        sink(saying(status(200, b'{"action": "answer"}'))) as hook,
        open_service(database_url, tmp_path, settings=settings) as tenant,
    ):
        number_id, _ = await _desk(tenant)
        await tenant.client.phone_numbers.set_inbound_routing(id=number_id, url=hook.url())
        router = InboundRouter(tenant.services)
        routed = await router.route(LiveCaller(SIP, OWN, CALLER, "id-1", "hash", has_line=False))
        assert routed.is_refused
        assert routed.call_id is not None
        call = await ended(tenant.client, routed.call_id)
        assert (call.outcome, call.from_number) == ("busy", CALLER)
        assert call.inbound is not None
        assert (call.inbound.action, call.inbound.reason) == ("reject", "no_line")
        assert hook.requests == [], "nobody would have carried out the answer"


@pytest.mark.requirement("INB-18")
async def test_a_call_to_a_number_that_nobody_answers_stands_in_the_audit_log(
    database_url: str, tmp_path: Path
) -> None:
    settings = ServiceSettings(data=tmp_path, database_url=database_url, lines=trunk())
    async with open_service(database_url, tmp_path, settings=settings) as tenant:
        number_id, deployment_id = await _desk(tenant)
        await tenant.client.deployments.cancel(id=deployment_id)
        router = InboundRouter(tenant.services)
        for to in (OWN, "+12125550192"):  # the second is nobody's
            routed = await router.route(LiveCaller(SIP, to, CALLER, f"id {to}", "hash"))
            assert (routed.is_refused, routed.call_id) == (True, None)
        (entry,) = (await tenant.client.audit_log.list(action="call.refused")).data
        assert entry.subject_id == number_id
        assert "no_deployment" in str(entry.changes)
        assert CALLER not in entry.model_dump_json()
