"""What callers of a Twilio number get before the agent, or in its place: a queue, a mailbox, another telephone."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest

from callwright.contract.deployments.inbound import AfterHours, BusinessHours, Overflow
from tests.service.telephony.media.conftest import Sounds
from tests.service.telephony.media.sentences import STOP, WELCOME, YES
from tests.service.telephony.media.twilio.answered_number import CALLER, WITHIN_S, Desk, answering
from tests.support.campaigns import calls_of
from tests.support.twilio.telephone import Telephone
from tests.support.webhooks.endpoints import saying, sink, status

pytestmark = [pytest.mark.xdist_group("live-calls"), pytest.mark.parametrize("engine", ["sqlite"], indirect=True)]
NOT_TODAY = (datetime.now(UTC) + timedelta(days=3)).strftime("%a").lower()
NEVER_OPEN = BusinessHours.model_validate(
    {"timezone": "UTC", "windows": [{"days": [NOT_TODAY], "start": "09:00", "end": "10:00"}]}
)
ELSEWHERE = "+14155550177"
ONE_LINE: dict[str, Any] = {"max_concurrency": 1, "overflow": Overflow(action="queue")}
CLOSED, LEAVE = "Hello. We are closed at the moment.", "Please leave a message after the tone."
PLACE, BUSY = (
    "You are number 1 in the queue.",
    "I'm sorry, nobody can take your call just now. Please call again later.",
)


async def waiting(desk: Desk) -> tuple[Telephone, Telephone]:
    """Two callers of a number with one line: the first talks, the second has heard the place in the queue."""
    first, second = Telephone(), Telephone()
    desk.ring(first)
    await first.hears(desk.calls.known, WELCOME)
    desk.ring(second, "+14155550124")
    await second.heard(1.0)
    return first, second


@pytest.mark.requirement("INB-12")
async def test_a_caller_outside_business_hours_leaves_a_message_with_a_recording(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None
) -> None:
    after = AfterHours(action="voicemail")
    async with answering(database_url, tmp_path, sounds, business_hours=NEVER_OPEN, after_hours=after) as desk:
        telephone = Telephone()
        desk.ring(telephone)
        await desk.says(2, "agent")
        await telephone.comes_to_rest()
        await desk.understands(telephone, sounds.contact[STOP])
        telephone.hang_up()
        (call,) = await desk.ended()
        assert (call.outcome, call.disposition, call.ended_by) == ("voicemail_left", "do_not_call", "contact")
        assert (call.recording_url is not None, call.answered_by) == (True, None)
        words = await desk.calls.words(call)
        assert words[:3] == [("agent", CLOSED), ("agent", LEAVE), ("contact", STOP)]
        assert set(words[3:]) <= {("contact", STOP)}, "the caller says it again if it was not understood"
        listed = (await desk.calls.tenant.client.do_not_call.list()).data
        assert [(entry.number, entry.source_call_id) for entry in listed] == [(CALLER, call.id)]


@pytest.mark.requirement("INB-12")
async def test_silence_ends_a_message(database_url: str, tmp_path: Path, sounds: Sounds, alone: None) -> None:
    after = AfterHours(action="voicemail")
    async with answering(database_url, tmp_path, sounds, business_hours=NEVER_OPEN, after_hours=after) as desk:
        desk.ring(Telephone())
        (call,) = await desk.ended()
        assert (call.outcome, call.hangup_cause, call.ended_by) == ("voicemail", "normal_clearing", "platform")


@pytest.mark.requirement("INB-13")
async def test_who_waits_hears_the_place_and_then_the_agent(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None
) -> None:
    async with answering(database_url, tmp_path, sounds, **ONE_LINE) as desk:
        first, second = await waiting(desk)
        first.hang_up()
        await second.hears_at_last(desk.calls.known, WELCOME)
        await second.say(sounds.contact[YES])
        second.hang_up()
        _, call = await desk.ended(2)
        assert call.inbound is not None
        assert (call.outcome, call.inbound.reason, call.inbound.waited_seconds > 0) == ("answered", "overflow", True)
        words = [text for role, text in await desk.calls.words(call) if role == "agent"]
        assert words[0] == PLACE
        assert WELCOME in words


@pytest.mark.requirement("INB-13")
async def test_who_hangs_up_in_the_queue_has_given_up_and_a_pause_ends_the_wait_of_others(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None
) -> None:
    async with answering(database_url, tmp_path, sounds, **ONE_LINE) as desk:
        first, second = await waiting(desk)
        third = Telephone()
        desk.ring(third, "+14155550125")
        await third.heard(1.0)
        second.hang_up()
        with anyio.fail_after(WITHIN_S):
            await second.is_over.wait()
        await desk.calls.tenant.client.deployments.pause(id=desk.deployment.id)
        with anyio.fail_after(WITHIN_S):
            await third.is_over.wait()
        first.hang_up()
        talked, gave_up, sent_away = await desk.ended(3)
        assert (talked.outcome, gave_up.outcome, gave_up.hangup_cause) == ("answered", "abandoned", "contact_hangup")
        assert (sent_away.outcome, sent_away.hangup_cause, sent_away.ended_by) == (
            "rejected",
            "call_rejected",
            "platform",
        )
        assert (await desk.calls.words(sent_away))[-1] == ("agent", CLOSED)
        assert gave_up.inbound is not None
        assert sent_away.inbound is not None
        assert sent_away.inbound.waited_seconds > gave_up.inbound.waited_seconds > 0


@pytest.mark.requirement("INB-14")
@pytest.mark.parametrize(
    ("does", "ended"),
    [("answers", ("transferred", "transfer_completed")), ("busy", ("busy", "transfer_failed"))],
)
async def test_the_webhook_forwards_a_caller(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None, does: str, ended: tuple[str, str]
) -> None:
    answer = json.dumps({"action": "transfer", "transfer_to": ELSEWHERE}).encode()
    async with answering(database_url, tmp_path, sounds) as desk, sink(saying(status(200, answer))) as endpoint:
        tenant, other = desk.calls.tenant, Telephone(does)
        desk.calls.twilio.telephones[ELSEWHERE] = other
        await tenant.client.phone_numbers.set_inbound_routing(id=desk.number_id, url=endpoint.url())
        telephone = Telephone()
        ringing = desk.ring(telephone)
        if does == "answers":
            with anyio.fail_after(WITHIN_S):
                while True:
                    (call,) = await calls_of(tenant, desk.deployment.id) or [None]
                    if call is not None and call.transfer is not None and call.transfer.status == "bridged":
                        break
                    await anyio.sleep(0.1)
            telephone.hang_up()
        (call,) = await desk.ended()
        assert (call.outcome, call.hangup_cause) == ended, (call.warnings, ringing.twiml)
        assert call.transfer is not None
        assert (call.transfer.to, call.from_number) == (ELSEWHERE, CALLER)
        assert call.inbound is not None
        assert call.inbound.action == "forward"
