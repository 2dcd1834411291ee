"""Inbound deployments that answer callers of a SIP trunk: the whole service, a telephone and a routing webhook."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest

from callwright.contract.calls.calls import Call
from callwright.contract.checks.address_ranges import LOOPBACK
from callwright.contract.deployments.deployments import Deployment
from callwright.contract.deployments.inbound import AfterHours, BusinessHours, Overflow
from callwright.service.settings import InstalledService, LineSettings, ServiceSettings, SpeechSettings
from tests.service.telephony.media.conftest import Sounds
from tests.service.telephony.media.sentences import GREETING, PROMPT, QUESTION, YES
from tests.service.telephony.media.sip.switch import Switch, switch
from tests.service.telephony.media.sip.telephone import Telephone, free_port, telephone
from tests.service.telephony.media.speech_endpoint import endpoint
from tests.support.campaigns import make_agent
from tests.support.service import Tenant, open_service
from tests.support.webhooks.endpoints import saying, sink, status
from tests.support.webhooks.predial import body_of

pytestmark = [pytest.mark.xdist_group("live-calls"), pytest.mark.parametrize("engine", ["sqlite"], indirect=True)]
NOT_TODAY = (datetime.now(UTC) + timedelta(days=3)).strftime("%a").lower()
NEVER_OPEN = BusinessHours.model_validate(
    {"timezone": "UTC", "windows": [{"days": [NOT_TODAY], "start": "09:00", "end": "10:00"}]}
)
MOST = 10_000_000
OWN, CALLER, SECOND, ELSEWHERE = "+12125550191", "+14155550123", "+14155550124", "+14155550177"


@dataclass
class Front:
    """A number that an inbound deployment answers, and a telephone from which somebody calls it."""

    tenant: Tenant
    phone: Telephone
    port: int
    number_id: str
    deployment: Deployment

    async def rings(self) -> None:
        """Calls until it rings: the port is opened a moment after the service has started."""
        with anyio.fail_after(60):
            while not self.phone.of("rings"):
                self.phone.all.clear()
                await self.phone.call(OWN, self.port)
                await self.phone.wait_for(lambda each: each["event"] in ("rings", "closed"))

    async def call_when(self, holds: Callable[[Call], bool]) -> Call:
        """The only call, once something is true of it."""
        with anyio.fail_after(40):
            while True:
                found = (await self.tenant.client.calls.list(call_type="inbound")).data
                assert len(found) < 2
                if found and holds(found[0]):
                    return found[0]
                await anyio.sleep(0.1)


@asynccontextmanager
async def front(
    database_url: str, data: Path, sounds: Sounds, *, trunk: Switch | None = None, **inbound: Any
) -> AsyncGenerator[Front]:
    """A service with a SIP trunk whose callers come to a port. Without a trunk it is the caller's telephone itself."""
    async with telephone(user=CALLER, transfers="auto") as phone, endpoint(sounds.closed_set()) as service:
        port = free_port()
        settings = ServiceSettings(
            data=data,
            database_url=database_url,
            webhook_networks=LOOPBACK,
            lines=LineSettings(
                count=4,
                sip_trunk=f"sip:127.0.0.1:{trunk.port if trunk else phone.port}",
                sip_numbers=(OWN,),
                sip_inbound=f"127.0.0.1:{port}",
            ),
            speech=SpeechSettings(hearing=InstalledService(kind="openai", url=service.url)),
        )
        async with open_service(database_url, data, settings=settings) as tenant:
            number = await tenant.client.phone_numbers.import_owned(number=OWN)
            agent = await make_agent(tenant, system_prompt=PROMPT, welcome_message=GREETING)
            made = await tenant.client.deployments.create_inbound(
                name="Front desk", agent_id=agent.id, phone_number_id=number.id, **inbound
            )
            yield Front(tenant, phone, port, number.id, made)


@pytest.mark.requirement("SIP-01")
async def test_a_caller_over_sip_talks_to_the_agent_as_the_webhook_says(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None
) -> None:
    answer = b'{"action": "answer", "metadata": {"ticket": "7"}}'
    async with sink(saying(status(200, answer))) as hook, front(database_url, tmp_path, sounds) as made:
        await made.tenant.client.phone_numbers.set_inbound_routing(id=made.number_id, url=hook.url())
        await made.rings()
        await made.phone.wait_for("answered")
        await made.phone.hears_it_out(2.0)
        await made.phone.say(sounds.contact[YES])
        await made.phone.hears_it_out(made.phone.of("saved")[-1]["heard_s"] + 1.0)
        await made.phone.do("hang_up")
        call = await made.call_when(lambda call: call.ended_at is not None)
        transcript = await made.tenant.client.calls.get_transcript(call_uuid=call.id)
        async with made.tenant.client.calls.get_recording(call_uuid=call.id, format="wav") as download:
            recording = await download.read(MOST)
    assert (call.outcome, call.hangup_cause, call.simulated) == ("answered", "contact_hangup", False)
    assert (call.from_number, call.to, call.deployment_id) == (CALLER, OWN, made.deployment.id)
    assert call.inbound is not None
    assert (call.inbound.routed_by, call.inbound.action) == ("webhook", "agent")
    assert call.inbound.metadata == {"ticket": "7"}
    greeting, *said = transcript.turns
    assert (greeting.role, GREETING in greeting.text) == ("agent", True)
    assert [(turn.role, turn.text) for turn in said[:1]] == [("contact", YES)]
    assert (said[1].role, said[1].text.endswith(QUESTION)) == ("agent", True)
    assert len(recording) > 50_000, "both sides were recorded for some seconds"
    (question,) = hook.requests
    assert CALLER.encode() in body_of(question)


@pytest.mark.requirement("SIP-02")
async def test_a_caller_whom_the_webhook_does_not_want_hears_the_busy_tone_and_the_call_says_why(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None
) -> None:
    answer = b'{"action": "reject", "reject_reason": "blocked"}'
    async with sink(saying(status(200, answer))) as hook, front(database_url, tmp_path, sounds) as made:
        await made.tenant.client.phone_numbers.set_inbound_routing(id=made.number_id, url=hook.url())
        await made.rings()
        closed = await made.phone.wait_for("closed")
        call = await made.call_when(lambda call: call.ended_at is not None)
    assert closed["text"] == "486 Busy Here"
    assert (call.outcome, call.hangup_cause, call.answered_at) == ("rejected", "call_rejected", None)
    assert call.inbound is not None
    assert (call.inbound.action, call.inbound.reason) == ("reject", "blocked")


@pytest.mark.requirement("SIP-05", "INB-14")
async def test_a_caller_over_sip_is_put_through_as_the_webhook_says(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None
) -> None:
    answer = f'{{"action": "transfer", "transfer_to": "{ELSEWHERE}"}}'.encode()
    async with (
        telephone() as other,
        switch({ELSEWHERE: other.port}) as trunk,
        sink(saying(status(200, answer))) as hook,
    ):
        async with front(database_url, tmp_path, sounds, trunk=trunk) as made:
            await made.tenant.client.phone_numbers.set_inbound_routing(id=made.number_id, url=hook.url())
            await made.rings()
            await other.wait_for("answered")
            call = await made.call_when(lambda call: call.ended_at is not None)
    assert (call.outcome, call.hangup_cause) == ("transferred", "transfer_completed")
    assert call.inbound is not None
    assert (call.inbound.routed_by, call.inbound.action, call.inbound.reason) == ("webhook", "forward", "transfer")


@pytest.mark.requirement("INB-12")
async def test_a_caller_over_sip_leaves_a_message_after_hours(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None
) -> None:
    closed: dict[str, Any] = {"business_hours": NEVER_OPEN, "after_hours": AfterHours(action="voicemail")}
    async with front(database_url, tmp_path, sounds, **closed) as made:
        await made.rings()
        await made.phone.hears_it_out(3.5)
        await made.phone.say(sounds.contact[YES])
        await made.phone.wait_for("closed")  # after silence
        call = await made.call_when(lambda call: call.ended_at is not None)
        transcript = await made.tenant.client.calls.get_transcript(call_uuid=call.id)
    assert (call.outcome, call.recording.status) == ("voicemail_left", "available")
    assert ("contact", YES) in [(turn.role, turn.text) for turn in transcript.turns]


async def calls(made: Front, holds: Callable[[list[Call]], bool]) -> list[Call]:
    """All calls, the oldest first, once something is true of them."""
    with anyio.fail_after(60):
        while True:
            found = (await made.tenant.client.calls.list(call_type="inbound", sort="created_at")).data
            if holds(found):
                return found
            await anyio.sleep(0.1)


@pytest.mark.requirement("INB-13")
async def test_a_caller_over_sip_waits_hears_the_place_and_is_answered_when_the_line_is_free(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None
) -> None:
    queue: dict[str, Any] = {"max_concurrency": 1, "overflow": Overflow(action="queue")}
    async with front(database_url, tmp_path, sounds, **queue) as made, telephone(user=SECOND) as other:
        await made.rings()
        await made.phone.wait_for("answered")
        await other.call(OWN, made.port)
        await other.wait_for("answered")
        await other.hears_it_out(1.0)  # the place in the queue
        waiting = (await calls(made, lambda found: len(found) == 2))[1]
        await made.phone.do("hang_up")
        await calls(made, lambda found: found[0].ended_at is not None)
        await other.hears_it_out(other.of("saved")[-1]["heard_s"] + 2.0)  # the greeting
        await other.do("hang_up")
        second = (await calls(made, lambda found: found[1].ended_at is not None))[1]
        turns = (await made.tenant.client.calls.get_transcript(call_uuid=second.id)).turns
    assert waiting.id == second.id
    assert second.from_number == SECOND
    assert second.inbound is not None
    assert (second.inbound.action, second.inbound.reason) == ("agent", "overflow")
    assert second.inbound.waited_seconds > 0
    said = [turn.text for turn in turns if turn.role == "agent"]
    assert "number 1" in said[0]
    assert any(GREETING in text for text in said[1:])


@pytest.mark.requirement("SIP-02")
async def test_a_caller_over_sip_beyond_the_lines_hears_the_busy_tone_and_the_call_says_why(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None
) -> None:
    busy: dict[str, Any] = {"max_concurrency": 1, "overflow": Overflow(action="busy")}
    async with front(database_url, tmp_path, sounds, **busy) as made, telephone(user=SECOND) as other:
        await made.rings()
        await made.phone.wait_for("answered")
        await other.call(OWN, made.port)
        closed = await other.wait_for("closed")
        second = (await calls(made, lambda found: len(found) == 2 and found[1].ended_at is not None))[1]
    assert closed["text"] == "486 Busy Here"
    assert (second.outcome, second.from_number) == ("busy", SECOND)
    assert second.inbound is not None
    assert second.inbound.reason == "overflow"
