"""Calls through Twilio that a process of its own carries, on one database with the service that Twilio asks; and what
becomes of them when it is killed."""

import re
from pathlib import Path

import anyio
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from callwright.contract.agents.call_tools import TransferTool
from callwright.contract.agents.transfer_destinations import TransferDestination
from tests.service.telephony.media.conftest import Sounds
from tests.service.telephony.media.sentences import GREETING, PERSON, QUESTION, SUMMARY, YES
from tests.service.telephony.media.twilio.carrying_process import several_processes
from tests.support.campaigns import call_in
from tests.support.twilio.telephone import Telephone

pytestmark = [
    pytest.mark.xdist_group("live-calls"),
    pytest.mark.parametrize("engine", ["postgres"], indirect=True),  # several processes share no SQLite
]
DESK = "+14155550177"
SETTLED_S = 60.0
"""The lease of a killed process has to run out first."""
TOOL = TransferTool(
    type="transfer",
    name="transfer_call",
    description="To a person.",
    destinations=[TransferDestination(name="desk", to=DESK, summary=SUMMARY)],
)


@pytest.mark.requirement("TWILIO-11")
async def test_sound_comes_to_the_process_that_has_the_call_and_all_else_to_any(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None
) -> None:
    async with several_processes(database_url, tmp_path, sounds) as several, several.carrying() as lines:
        calls = several.calls
        telephone = calls.telephone()
        campaign = await calls.begin()
        await telephone.hears(calls.known, GREETING)
        (placed,) = calls.twilio.calls
        address = re.findall(r'<Stream url="([^"]+)"', placed.twiml[0])[0]
        assert address.startswith(f"ws://127.0.0.1:{lines.port}/lines/twilio/media/")
        assert placed["Url"].startswith(several.public_url)
        for url in (address, address.replace(str(lines.port), several.public_url.rpartition(":")[2])):
            with pytest.raises(InvalidStatus) as refused:  # its sound has come already, and to another process
                await connect(url, proxy=None)
            assert refused.value.response.status_code == 403
        await telephone.say(sounds.contact[YES])
        await telephone.hears(calls.known, QUESTION)
        telephone.hang_up()
        call = await calls.ended(campaign)
        assert (call.outcome, call.hangup_cause, call.ended_by) == ("answered", "contact_hangup", "contact")
        assert await calls.words(call) == [("agent", GREETING), ("contact", YES), ("agent", QUESTION)]


@pytest.mark.requirement("TWILIO-11", "TWILIO-05")
async def test_sound_that_comes_to_a_process_without_the_call_ends_it_with_a_warning_that_says_what_to_set(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None
) -> None:
    async with several_processes(database_url, tmp_path, sounds) as several:
        async with several.carrying(lines_url=several.public_url):
            telephone = several.calls.telephone()
            call = await several.calls.ended(await several.calls.begin())
            assert (call.outcome, call.hangup_cause, call.ended_by) == ("answered", "no_audio", "carrier")
            assert any("CALLWRIGHT_LINES_URL" in warning for warning in call.warnings)
            assert (telephone.is_connected.is_set(), telephone.is_over.is_set()) == (False, True)


@pytest.mark.requirement("TWILIO-11", "LINE-04")
async def test_a_call_that_is_answered_after_its_process_was_killed_is_hung_up_and_not_placed_again(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None
) -> None:
    async with several_processes(database_url, tmp_path, sounds) as several:
        calls = several.calls
        telephone = calls.telephone(rings_s=4.0)
        async with several.carrying() as killed:
            campaign = await calls.begin()
            await call_in(calls.tenant, campaign, status="ringing", within_s=40)
            killed.kill()
            with anyio.fail_after(SETTLED_S):
                await telephone.is_over.wait()
            assert not telephone.is_connected.is_set()
        async with several.carrying():
            call = await calls.ended(campaign)
            assert (call.outcome, call.hangup_cause, call.ended_by) == ("answered", "platform_error", "platform")
            assert [placed.status for placed in calls.twilio.calls] == ["completed"]


@pytest.mark.requirement("TRANSFER-10", "TWILIO-09")
@pytest.mark.parametrize("killed", ["host", "media"])
async def test_contact_and_person_are_both_hung_up_when_the_process_of_their_call_is_killed(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None, killed: str
) -> None:
    async with several_processes(database_url, tmp_path, sounds) as several:
        calls = several.calls
        contact, desk = calls.telephone(), Telephone(told_s=120.0)  # the summary goes on and on
        calls.twilio.telephones[DESK] = desk
        async with several.carrying() as first:
            campaign = await calls.begin(call_tools=[TOOL])
            await contact.hears(calls.known, GREETING)
            await contact.say(sounds.contact[PERSON])
            with anyio.fail_after(40):
                while True:
                    held = await call_in(calls.tenant, campaign, status="in_progress", within_s=40)
                    if held.transfer is not None and held.transfer.status == "answered":
                        break
                    await anyio.sleep(0.1)
            assert (contact.is_over.is_set(), desk.is_over.is_set()) == (False, False)
            if killed == "host":
                first.kill()
            else:
                await first.kill_media()
            async with several.carrying():
                with anyio.fail_after(SETTLED_S):
                    await contact.is_over.wait()
                    await desk.is_over.wait()
                call = await calls.ended(campaign)
        assert call.transfer is not None
        assert (call.transfer.status, call.transfer.cause, call.transfer.bridged_at) == ("failed", "hung_up", None)
        assert (call.outcome, call.hangup_cause, call.ended_by) == ("answered", "platform_error", "platform")
        assert ("contact", PERSON) in await calls.words(call)
        assert [event.id async for event in calls.tenant.client.events.list(type="call.transferred")] == []
        assert [placed["To"] for placed in calls.twilio.calls] == [calls.twilio.calls[0]["To"], DESK]
        assert calls.twilio.rooms == {}
