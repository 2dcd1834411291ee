"""The media process of a call over SIP is killed while contact and person wait for each other."""

import os
import signal
from functools import partial
from pathlib import Path

import anyio
import pytest

from callwright.contract.agents.call_tools import TransferTool
from callwright.contract.agents.transfer_destinations import TransferDestination
from callwright.service.telephony.carriers.media_calls import always
from callwright.service.telephony.carriers.sip import SipCarrier
from callwright.service.telephony.lines.media_processes import MediaProcesses
from callwright.service.telephony.media.messages import SpeechService, SpeechServices
from tests.service.telephony.media.conftest import Sounds
from tests.service.telephony.media.sentences import GREETING, PERSON, PROMPT, SUMMARY
from tests.service.telephony.media.sip.switch import switch
from tests.service.telephony.media.sip.telephone import telephone
from tests.service.telephony.media.speech_endpoint import endpoint
from tests.support.campaigns import ONCE, PLAIN, calls_of, make_agent, people, phone, started
from tests.support.scripted_carrier import driven_on_lines, host_of
from tests.support.service import open_service

pytestmark = [pytest.mark.xdist_group("live-calls")]
DESK = "+14155550177"
TOOL = TransferTool(
    type="transfer",
    name="transfer_call",
    description="To a person.",
    destinations=[TransferDestination(name="desk", to=DESK, summary=SUMMARY, confirm_key="1")],
)


class Media(MediaProcesses):
    """Media processes that can be killed."""

    def kill(self) -> None:
        for process in self._processes:
            os.kill(process.process.pid, signal.SIGKILL)


@pytest.mark.requirement("TRANSFER-10")
async def test_the_trunk_ends_both_calls_and_the_transfer_has_failed(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None
) -> None:
    media = Media(1)
    async with (
        telephone(rtp_timeout=2) as contact,
        telephone(rtp_timeout=2) as desk,
        switch({phone(0): contact.port, DESK: desk.port}) as between,
        open_service(database_url, tmp_path, workers=False) as tenant,
        endpoint(sounds.closed_set()) as service,
        anyio.create_task_group() as tasks,
    ):
        hears = SpeechServices(hearing=SpeechService(kind="openai", url=service.url))
        carrier = SipCarrier("scripted", media, always(hears), between.trunk)
        host = host_of(tenant, carrier, lines=1, is_ready=media.has_room)
        tasks.start_soon(media.run)
        tasks.start_soon(host.run)
        agent = await make_agent(tenant, system_prompt=PROMPT, welcome_message=GREETING)
        await tenant.client.agents.set_call_tools(id=agent.id, call_tools=[TOOL])
        made = await started(tenant, people(1), agent_id=agent.id, retry_policy=ONCE, compliance=PLAIN)
        tasks.start_soon(partial(driven_on_lines, tenant, made.id, within_s=120))
        await contact.wait_for("answered")
        await contact.hears(service.known, GREETING)
        await contact.say(sounds.contact[PERSON])
        await desk.wait_for("answered")
        await desk.hears_anything(0.5)
        media.kill()
        for left in (contact, desk):
            assert (await left.wait_for("closed"))["answered"]
        await tenant.ended(made.id)
        (call,) = await calls_of(tenant, made.id)
        assert call.transfer is not None
        assert (call.transfer.status, call.transfer.cause, call.transfer.bridged_at) == ("failed", "hung_up", None)
        assert (call.outcome, call.hangup_cause, call.ended_by) == ("answered", "platform_error", "platform")
        assert [event.id async for event in tenant.client.events.list(type="call.transferred")] == []
        assert [number for method, number in between.passed if method == "INVITE"].count(DESK) == 1
        tasks.cancel_scope.cancel()
