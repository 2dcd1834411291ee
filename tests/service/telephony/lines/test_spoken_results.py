"""Calls whose sound a media process carries: what it tells of them is kept, and so is the file of their sound."""

from typing import Any

import pytest

from callwright.contract.calls.calls import AnswerLatency, Call
from callwright.contract.deployments.dialling import Recording
from tests.support import scripted_media
from tests.support.campaigns import ONCE, calls_of, people, phone, run, started
from tests.support.resources import refusal
from tests.support.scripted_carrier import driven_on_lines
from tests.support.scripted_lines import media_lines
from tests.support.service import Tenant

pytestmark = pytest.mark.service(workers=False)
MOST = 5_000_000


async def called(tenant: Tenant, *numbers: int, **fields: Any) -> dict[int, Call]:
    """The calls of a campaign, by the last digit of the number."""
    rows = [row for number in numbers for row in people(1, first=number)]
    made = await started(tenant, rows, retry_policy=ONCE, **fields)
    async with media_lines(tenant):
        await driven_on_lines(tenant, made.id)
    found = {call.to: call for call in await calls_of(tenant, made.id)}
    return {number: found[phone(number)] for number in numbers}


async def test_how_long_answers_took_is_kept_with_them_and_with_the_call(tenant: Tenant) -> None:
    call = (await called(tenant, 8))[8]
    transcript = await tenant.client.calls.get_transcript(call_uuid=call.id)
    assert [(turn.index, turn.text) for turn in transcript.turns] == list(
        enumerate(["Hello.", "When?", "At ten.", "Where?", "Here."])
    )
    assert [turn.latency_ms for turn in transcript.turns] == [
        None,
        None,
        AnswerLatency(total=640, endpointing=300, hearing=100, thinking=200, speaking=40),
        None,
        AnswerLatency(total=900, thinking=900),
    ]
    page = await tenant.client.calls.get_transcript(call_uuid=call.id, per_page=3)
    rest = await tenant.client.calls.get_transcript(call_uuid=call.id, per_page=3, cursor=page.next_cursor)
    assert [*page.turns, *rest.turns] == transcript.turns
    assert (call.latency_p50_ms, call.latency_p95_ms, call.provider) == (640, 900, "scripted")


@pytest.mark.requirement("COST-08")
@pytest.mark.parametrize("number", [1, 2], ids=["whole", "the process ends in the middle"])
async def test_what_a_call_used_of_services_is_summed_and_kept(tenant: Tenant, number: int) -> None:
    call = (await called(tenant, number))[number]
    assert call.cost is not None
    assert [(one.quantity, one.unit, one.provider) for one in call.cost.breakdown if one.item == "tts"] == [
        (42, "character", "openai")
    ]


@pytest.mark.service(workers=True)
async def test_calls_on_the_simulated_network_have_nothing_of_lines(tenant: Tenant) -> None:
    made = await run(tenant, people(1, sim_outcome="answered"), retry_policy=ONCE)
    (call,) = await calls_of(tenant, made.id)
    assert (call.latency_p50_ms, call.latency_p95_ms, call.provider, call.sip_code) == (None, None, None, None)
    assert (call.answered_by, call.answered_by_carrier, call.answered_by_words) == ("human", None, None)
    transcript = await tenant.client.calls.get_transcript(call_uuid=call.id)
    assert [turn.latency_ms for turn in transcript.turns if turn.latency_ms is not None] == []


async def test_a_message_is_left_if_the_whole_of_it_was_said(tenant: Tenant) -> None:
    calls = await called(tenant, 1, 5, 6)
    assert {number: call.outcome for number, call in calls.items()} == {
        1: "answered",
        5: "voicemail",
        6: "voicemail_left",
    }
    for number in (5, 6):
        call = calls[number]
        assert (call.answered_by, call.answered_by_carrier, call.answered_by_words) == (
            "machine_end_beep",
            "human",
            "machine_end_beep",
        )


async def test_the_status_of_sip_is_kept_where_there_is_one(tenant: Tenant) -> None:
    calls = await called(tenant, 1, 7)
    assert [(calls[number].outcome, calls[number].sip_code) for number in (1, 7)] == [("answered", None), ("busy", 486)]


@pytest.mark.requirement("RECORD-04")
@pytest.mark.parametrize("number", [8, 2], ids=["whole", "the process ends in the middle"])
async def test_the_recording_of_a_call_is_the_file_that_its_process_wrote(tenant: Tenant, number: int) -> None:
    call = (await called(tenant, number))[number]
    assert call.recording.status == "available"
    assert call.recording_url is not None
    async with tenant.client.calls.get_recording(call_uuid=call.id, format="wav") as download:
        assert await download.read(MOST) == scripted_media.RECORDED
    assert await told(tenant) == {call.id: call.recording_url}


async def test_a_call_that_nobody_answered_has_no_recording(tenant: Tenant) -> None:
    call = (await called(tenant, 7))[7]
    assert (call.recording.status, call.recording_url) == ("absent", None)
    assert await told(tenant) == {call.id: None}


async def told(tenant: Tenant) -> dict[str, str | None]:
    """The addresses of recordings that events tell, by call."""
    events = [event async for event in tenant.client.events.list(type="call.completed")]
    return {event.data["call_id"]: event.data["recording_url"] for event in events}


@pytest.mark.requirement("RECORD-01")
async def test_a_campaign_that_records_nothing_has_no_file(tenant: Tenant) -> None:
    call = (await called(tenant, 8, recording=Recording(enabled=False)))[8]
    assert (call.recording.status, call.recording_url) == ("not_recorded", None)
    assert list(tenant.services.recordings.lines.call_ids()) == []
    async with refusal(404, "not_found"):
        async with tenant.client.calls.get_recording(call_uuid=call.id):
            raise AssertionError("there is nothing to open")


@pytest.mark.requirement("CALLTOOL-19", "CALLTOOL-12")
async def test_a_booking_that_is_under_way_when_its_process_ends_stands_in_transcript_and_events(
    tenant: Tenant,
) -> None:
    call = (await called(tenant, 10))[10]
    transcript = await tenant.client.calls.get_transcript(call_uuid=call.id)
    assert [turn.role for turn in transcript.turns] == ["agent", "system"]
    booking = transcript.turns[1].tool_call
    assert booking is not None
    assert (booking.name, booking.ok, booking.result) == ("book", False, "Nobody knows.")
    (event,) = [one async for one in tenant.client.events.list(type="call.tool_called")]
    assert event.subject_id == call.id
    assert (call.outcome, call.hangup_cause) == ("answered", "platform_error")
    assert call.warnings
