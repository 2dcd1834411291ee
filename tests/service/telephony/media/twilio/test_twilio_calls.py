"""Telephone calls through Twilio that are spoken: dialler, line host, media process, and an imitation of Twilio."""

from pathlib import Path

import anyio
import pytest

from callwright.contract.deployments.dialling import Voicemail
from tests.service.telephony.media.conftest import Sounds
from tests.service.telephony.media.sentences import GREETING, LONG, MACHINE, MESSAGE, QUESTION, WAIT, YES, beep
from tests.service.telephony.media.twilio.twilio_calls import CALLED, calls_through_twilio
from tests.support.campaigns import call_in, calls_of
from tests.support.twilio.account import NUMBER

pytestmark = [pytest.mark.xdist_group("live-calls")]


@pytest.mark.requirement("TWILIO-01")
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_a_dialogue_is_heard_on_both_sides(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None
) -> None:
    async with calls_through_twilio(database_url, tmp_path, sounds) as calls:
        telephone = calls.telephone()
        campaign = await calls.begin()
        await telephone.hears(calls.known, GREETING)
        await telephone.say(sounds.contact[YES])
        await telephone.hears(calls.known, QUESTION)
        telephone.hang_up()
        call = await calls.ended(campaign)
        assert (call.outcome, call.hangup_cause, call.ended_by) == ("answered", "contact_hangup", "contact")
        assert await calls.words(call) == [("agent", GREETING), ("contact", YES), ("agent", QUESTION)]
        assert (call.simulated, call.answered_by, call.provider) == (False, "human", "twilio")
        assert call.ringing_at is not None
        assert call.answered_at is not None
        assert call.recording_url is not None
        (placed,) = calls.twilio.calls
        assert (placed["From"], placed["To"]) == (NUMBER, CALLED)
        assert (placed["Timeout"], placed["TimeLimit"]) == ("25", "620")
        assert (placed["MachineDetection"], placed["AsyncAmd"]) == ("Enable", "true")


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_speaking_interrupts_the_agent_and_clears_what_twilio_has_not_played(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None
) -> None:
    async with calls_through_twilio(database_url, tmp_path, sounds) as calls:
        telephone = calls.telephone()
        campaign = await calls.begin(welcome_message=LONG)
        await telephone.heard(1.5)
        await telephone.say(sounds.contact[WAIT])
        await telephone.comes("clear")
        telephone.hang_up()
        call = await calls.ended(campaign)
        first = (await calls.turns(call))[0]
        assert first.interrupted
        assert LONG.startswith(first.text)
        assert 0 < len(first.text.split()) < len(LONG.split())


@pytest.mark.parametrize(
    ("does", "sip_status", "outcome", "cause", "ended_by"),
    [
        ("busy", None, "busy", "user_busy", "contact"),
        ("failed", 404, "invalid_number", "unallocated_number", "carrier"),
        ("failed", 603, "rejected", "call_rejected", "contact"),
        ("failed", None, "failed", "carrier_rejected", "carrier"),
        ("no-answer", None, "no_answer", "no_answer", "contact"),
    ],
)
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_a_call_that_nobody_answers_has_its_cause(
    database_url: str,
    tmp_path: Path,
    sounds: Sounds,
    alone: None,
    does: str,
    sip_status: int | None,
    outcome: str,
    cause: str,
    ended_by: str,
) -> None:
    async with calls_through_twilio(database_url, tmp_path, sounds) as calls:
        calls.telephone(does, sip_status=sip_status)
        call = await calls.ended(await calls.begin())
        assert (call.outcome, call.hangup_cause, call.ended_by) == (outcome, cause, ended_by)
        assert call.sip_code == (486 if does == "busy" else sip_status)
        assert (call.answered_at, len(calls.twilio.calls)) == (None, 1)


@pytest.mark.parametrize("answered_by", ["machine_end_beep", None])
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_a_message_is_left_to_a_machine(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None, answered_by: str | None
) -> None:
    """Twilio says that a machine answered and has stopped speaking; or it says nothing, and the agent hears it."""
    voicemail = Voicemail(action="leave_message", message_template=MESSAGE)
    async with calls_through_twilio(database_url, tmp_path, sounds) as calls:
        telephone = calls.telephone(answered_by=answered_by)
        campaign = await calls.begin(welcome_message="", voicemail=voicemail)
        with anyio.fail_after(40):
            await telephone.is_connected.wait()
        if answered_by is None:
            await telephone.say(sounds.contact[MACHINE] + bytes(6_400) + beep())
        call = await calls.ended(campaign)
        assert (call.outcome, call.answered_by) == ("voicemail_left", "machine_end_beep")
        assert (call.hangup_cause, call.ended_by) == ("agent_hangup", "agent")
        assert ("agent", MESSAGE) in await calls.words(call)
        await telephone.hears(calls.known, MESSAGE)
        assert calls.twilio.calls[0]["MachineDetection"] == "DetectMessageEnd"
        assert telephone.of("mark"), "the call was ended without waiting until the message was played"


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_keys_go_both_ways(database_url: str, tmp_path: Path, sounds: Sounds, alone: None) -> None:
    async with calls_through_twilio(database_url, tmp_path, sounds, thinks=True) as calls:
        calls.speech.answers = ["[12#]", "[hang_up]"]
        telephone = calls.telephone()
        campaign = await calls.begin(welcome_message="")
        with anyio.fail_after(40):
            await telephone.is_connected.wait()
        await telephone.press("42#")
        await telephone.heard(0.3)  # Twilio takes no keys over a stream, so they are tones
        await telephone.press("7#")
        call = await calls.ended(campaign)
        assert [chat["messages"][-1]["content"] for chat in calls.speech.chats] == ["[42#]", "[7#]"]
        assert (call.hangup_cause, call.ended_by) == ("normal_clearing", "agent")


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_a_call_is_hung_up_by_request(database_url: str, tmp_path: Path, sounds: Sounds, alone: None) -> None:
    async with calls_through_twilio(database_url, tmp_path, sounds) as calls:
        telephone = calls.telephone()
        campaign = await calls.begin()
        await telephone.hears(calls.known, GREETING)
        (under_way,) = await calls_of(calls.tenant, campaign)
        await calls.tenant.client.calls.hang_up(call_uuid=under_way.id)
        call = await calls.ended(campaign)
        with anyio.fail_after(20):
            await telephone.is_over.wait()
        assert (call.outcome, call.hangup_cause, call.ended_by) == ("answered", "normal_clearing", "api")
        assert calls.twilio.calls[0].status == "completed"


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_a_call_that_rings_is_hung_up_by_request(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None
) -> None:
    async with calls_through_twilio(database_url, tmp_path, sounds) as calls:
        telephone = calls.telephone(rings_s=30.0)
        campaign = await calls.begin()
        ringing = await call_in(calls.tenant, campaign, status="ringing", within_s=40)
        await calls.tenant.client.calls.hang_up(call_uuid=ringing.id)
        call = await calls.ended(campaign)
        with anyio.fail_after(20):
            await telephone.is_over.wait()
        assert (call.outcome, call.hangup_cause, call.ended_by) == ("cancelled", "originator_cancel", "api")
        assert calls.twilio.calls[0].status == "canceled"


@pytest.mark.requirement("TWILIO-05")
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_a_call_whose_sound_never_comes_ends_for_that_reason(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None
) -> None:
    async with calls_through_twilio(database_url, tmp_path, sounds) as calls:
        calls.telephone(opens_media=False)
        call = await calls.ended(await calls.begin())
        assert (call.outcome, call.hangup_cause, call.ended_by) == ("answered", "no_audio", "carrier")
        assert any("CALLWRIGHT_PUBLIC_URL" in warning for warning in call.warnings)


@pytest.mark.requirement("TWILIO-05")
@pytest.mark.parametrize("how", ["drop", "nonsense"])
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_a_stream_that_breaks_off_or_goes_on_sending_nonsense_ends_the_call_with_what_was_said(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None, how: str
) -> None:
    async with calls_through_twilio(database_url, tmp_path, sounds) as calls:
        telephone = calls.telephone()
        campaign = await calls.begin()
        await telephone.hears(calls.known, GREETING)
        await telephone.send("of_tomorrow", of_tomorrow={})  # what is not known means nothing
        await telephone.send_text("{")  # what cannot be read is dropped, fifty times
        await telephone.send("media", media={"payload": "~"})
        await telephone.say(sounds.contact[YES])
        await telephone.hears(calls.known, QUESTION)
        if how == "drop":
            await telephone.drop()
        for _ in range(49 if how == "nonsense" else 0):
            await telephone.send_text("{")
        call = await calls.ended(campaign)
        assert (call.outcome, call.hangup_cause, call.ended_by) == ("answered", "network_error", "carrier")
        assert await calls.words(call) == [("agent", GREETING), ("contact", YES), ("agent", QUESTION)]


@pytest.mark.requirement("TWILIO-04")
@pytest.mark.parametrize("tells", ["twice", "backwards", "never"])
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_statuses_that_come_twice_out_of_order_or_never_change_nothing(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None, tells: str
) -> None:
    async with calls_through_twilio(database_url, tmp_path, sounds) as calls:
        calls.twilio.tells = tells
        telephone = calls.telephone()
        campaign = await calls.begin()
        await telephone.hears(calls.known, GREETING)
        telephone.hang_up()
        call = await calls.ended(campaign)
        assert (call.outcome, call.hangup_cause) == ("answered", "contact_hangup")
        assert call.answered_at is not None
        assert call.ringing_at is None or call.ringing_at <= call.answered_at


@pytest.mark.requirement("TWILIO-04")
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_a_call_is_asked_for_when_twilio_tells_nothing(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None
) -> None:
    async with calls_through_twilio(database_url, tmp_path, sounds) as calls:
        calls.twilio.tells = "never"
        calls.telephone("busy")
        call = await calls.ended(await calls.begin())
        assert (call.outcome, call.hangup_cause) == ("busy", "user_busy")


@pytest.mark.requirement("TWILIO-02")
@pytest.mark.parametrize("how", ["500", "hang", "nonsense"])
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_a_call_whose_answer_is_lost_after_placing_goes_on_and_is_not_placed_again(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None, how: str
) -> None:
    async with calls_through_twilio(database_url, tmp_path, sounds) as calls:
        calls.twilio.placing.append(how)
        telephone = calls.telephone()
        campaign = await calls.begin()
        await telephone.hears(calls.known, GREETING)
        telephone.hang_up()
        call = await calls.ended(campaign)
        assert (call.outcome, call.hangup_cause) == ("answered", "contact_hangup")
        assert len(calls.twilio.calls) == 1


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_a_call_that_twilio_refuses_is_a_result_that_names_the_error(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None
) -> None:
    async with calls_through_twilio(database_url, tmp_path, sounds) as calls:
        calls.twilio.placing.append("429")
        call = await calls.ended(await calls.begin())
        assert (call.outcome, call.hangup_cause, call.ended_by) == ("failed", "carrier_rejected", "carrier")
        assert any("20429" in warning for warning in call.warnings)
        assert calls.twilio.calls == []
