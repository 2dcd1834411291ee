"""Somebody calls a number of a Twilio account, and the agent answers or nobody does."""

from pathlib import Path

import anyio
import pytest

from tests.service.telephony.media.conftest import Sounds
from tests.service.telephony.media.sentences import QUESTION, WELCOME, YES
from tests.service.telephony.media.twilio.answered_number import CALLER, WITHIN_S, answering
from tests.support.campaigns import calls_of
from tests.support.twilio.account import NUMBER
from tests.support.twilio.callers import ANONYMOUS
from tests.support.twilio.telephone import Telephone
from tests.support.webhooks.endpoints import saying, sink, status

pytestmark = [pytest.mark.xdist_group("live-calls")]


@pytest.mark.requirement("TWILIO-27", "INB-11")
async def test_a_caller_talks_with_the_agent_that_the_routing_webhook_lets_answer(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None
) -> None:
    async with answering(database_url, tmp_path, sounds) as desk, sink(saying(status(200, b"{}"))) as endpoint:
        tenant, known = desk.calls.tenant, desk.calls.known
        await tenant.client.phone_numbers.set_inbound_routing(id=desk.number_id, url=endpoint.url())
        telephone = Telephone()
        ringing = desk.ring(telephone)
        await telephone.hears(known, WELCOME)
        await telephone.say(sounds.contact[YES])
        await desk.says(2, "agent")
        telephone.hang_up()
        (call,) = await desk.ended()
        assert (call.call_type, call.from_number, call.to) == ("inbound", CALLER, NUMBER)
        assert (call.outcome, call.hangup_cause, call.ended_by) == ("answered", "contact_hangup", "contact")
        assert (call.simulated, call.provider, call.recording_url is not None) == (False, "twilio", True)
        assert call.inbound is not None
        assert call.inbound.routed_by == "webhook"
        words = await desk.calls.words(call)
        assert [role for role, _ in words] == ["agent", "contact", "agent"]
        assert (words[0][1], words[1][1], words[2][1].endswith(QUESTION)) == (WELCOME, YES, True)
        (asked,) = (await tenant.client.phone_numbers.list_routing_requests(id=desk.number_id)).data
        assert (asked.outcome, asked.call_id, asked.from_number) == ("succeeded", call.id, CALLER)
        assert len(endpoint.requests) == 1
        assert "MachineDetection" not in ringing.form
        assert ringing.status == "completed"


@pytest.mark.requirement("TWILIO-27")
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_a_request_that_twilio_repeats_is_one_call_and_a_withheld_number_stays_unknown(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None
) -> None:
    async with answering(database_url, tmp_path, sounds) as desk:
        telephone = Telephone()
        ringing = desk.ring(telephone, ANONYMOUS)
        await telephone.hears(desk.calls.known, WELCOME)
        again = await desk.calls.twilio.post(ringing["Url"], ringing.requests[0][1])
        assert (again.status_code, "Stream" in again.text) == (200, True)
        telephone.hang_up()
        (call,) = await desk.ended()
        assert (call.from_number, call.outcome) == ("withheld", "answered")


@pytest.mark.requirement("TWILIO-27")
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_a_caller_whom_nobody_answers_is_refused_before_it_costs_anything(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None
) -> None:
    async with answering(database_url, tmp_path, sounds) as desk:
        tenant = desk.calls.tenant
        await tenant.client.deployments.pause(id=desk.deployment.id)
        refused = desk.ring(Telephone())
        (call,) = await desk.ended()
        assert (call.outcome, call.hangup_cause, call.answered_at) == ("busy", "user_busy", None)
        assert call.billed_seconds == 0
        await tenant.client.deployments.cancel(id=desk.deployment.id)
        unbound_telephone = Telephone()
        unbound = desk.ring(unbound_telephone)
        with anyio.fail_after(WITHIN_S):
            await unbound_telephone.is_over.wait()
        assert (refused.status, unbound.status) == ("busy", "busy")
        assert len(await calls_of(tenant, desk.deployment.id)) == 1


@pytest.mark.requirement("TWILIO-27")
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_a_request_that_twilio_has_not_signed_rings_nobody(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None
) -> None:
    async with answering(database_url, tmp_path, sounds) as desk:
        url = f"{desk.calls.tenant.services.settings.public_url}/lines/twilio/incoming"
        form = {"CallSid": "CA" + "0" * 32, "From": CALLER, "To": NUMBER}
        answered = await desk.calls.twilio.post(url, form, signed="AAAA")
        assert answered.status_code == 403
        assert await calls_of(desk.calls.tenant, desk.deployment.id) == []


@pytest.mark.requirement("TWILIO-27")
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
@pytest.mark.parametrize("sid", [None, "", "CA<script>"])
async def test_a_signed_request_that_names_no_call_is_refused_and_nobody_is_called(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None, sid: str | None
) -> None:
    async with answering(database_url, tmp_path, sounds) as desk:
        url = f"{desk.calls.tenant.services.settings.public_url}/lines/twilio/incoming"
        form = {"From": CALLER, "To": NUMBER} | ({} if sid is None else {"CallSid": sid})
        assert (await desk.calls.twilio.post(url, form)).status_code == 400
        assert await calls_of(desk.calls.tenant, desk.deployment.id) == []
        assert desk.calls.twilio.calls == []
