"""Whether a campaign's calls are recorded, and what the agent says of it."""

from typing import Any

import pytest

from callwright.contract.calls.calls import Call
from callwright.contract.deployments.dialling import Compliance, Recording
from callwright.service.telephony.simulated.conversation.phrases import LANGUAGES, bank_or_english
from tests.support.campaigns import ONCE, calls_of, draft, make_agent, people, run, started
from tests.support.http.raw_requests import AsyncClient
from tests.support.resources import refusal
from tests.support.service import Tenant

ANSWERS: dict[str, Any] = {"sim_outcome": "answered", "sim_intent": "yes"}
WELCOME = "{{first_name}}. Ada. OK?"
working = pytest.mark.service(workers=True)


async def opening_of(tenant: Tenant, call: Call) -> str:
    """What the agent says before the contact says anything but a word of greeting."""
    turns = (await tenant.client.calls.get_transcript(call_uuid=call.id)).turns
    return next(turn.text for turn in turns if turn.role == "agent")


@working
@pytest.mark.requirement("RECORD-01")
async def test_a_campaign_without_recording_keeps_none_of_its_calls(tenant: Tenant, http: AsyncClient) -> None:
    off = await run(tenant, people(2, **ANSWERS), "Off", recording=Recording(enabled=False), retry_policy=ONCE)
    on = await run(tenant, people(1, first=5, **ANSWERS), "On", retry_policy=ONCE)
    assert (off.recording, on.recording) == (Recording(enabled=False), Recording())
    for call in await calls_of(tenant, off.id):
        assert (call.turn_count > 0, call.recording.status, call.recording.kept_until) == (True, "not_recorded", None)
        assert (call.recording_url, call.transcript_url is not None) == (None, True)
        assert (await tenant.client.calls.get(call_uuid=call.id)).recording == call.recording
        answer = await http.get(f"/v1/calls/{call.id}/recording")
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")
        assert "not recorded" in answer.json()["error"]["message"]
    (kept,) = await calls_of(tenant, on.id)
    assert kept.recording.status == "available"
    listed = {call.id: call.recording.status for call in (await tenant.client.calls.list(per_page=100)).data}
    assert sorted(listed.values()) == ["available", "not_recorded", "not_recorded"]


@working
async def test_the_event_of_a_call_that_is_not_recorded_names_no_recording(tenant: Tenant) -> None:
    made = await run(tenant, people(1, **ANSWERS), recording=Recording(enabled=False), retry_policy=ONCE)
    (call,) = await calls_of(tenant, made.id)
    events = (await tenant.client.events.list(type="call.completed")).data
    assert [(one.data["call_id"], one.data["recording_url"]) for one in events] == [(call.id, None)]
    assert events[0].data["transcript_url"] is not None


@working
@pytest.mark.requirement("RECORD-02")
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("disclosure", [True, False])
async def test_the_agent_says_after_its_greeting_that_the_call_is_recorded(
    tenant: Tenant, language: str, disclosure: bool
) -> None:
    agent = await make_agent(tenant, language=language, welcome_message=WELCOME, system_prompt="Ask how they are.")
    made = await draft(
        tenant,
        people(4, **ANSWERS),
        agent_id=agent.id,
        recording=Recording(announcement="always"),
        compliance=Compliance(ai_disclosure=disclosure),
        retry_policy=ONCE,
        max_concurrency=1,
    )
    seen = await tenant.client.deployments.preview(id=made.id)
    await tenant.client.deployments.start(id=made.id)
    made = await tenant.ended(made.id)
    phrases = bank_or_english(language).agent["recorded"]
    found = await calls_of(tenant, made.id)
    openings = [await opening_of(tenant, call) for call in found]
    assert seen.greeting in openings
    for opening in openings:
        assert opening.startswith("Person ")
        assert opening.endswith("OK?")
        assert any(phrase in opening for phrase in phrases)


@working
@pytest.mark.parametrize("recording", [Recording(), Recording(announcement="never"), Recording(enabled=False)])
async def test_without_a_rule_that_asks_for_it_nothing_is_said(tenant: Tenant, recording: Recording) -> None:
    made = await run(tenant, people(3, **ANSWERS), recording=recording, retry_policy=ONCE)
    for call in await calls_of(tenant, made.id):
        assert "recorded" not in await opening_of(tenant, call)


@working
async def test_a_contact_who_speaks_first_hears_it_too_and_so_does_a_language_without_phrases(tenant: Tenant) -> None:
    for name, fields in {
        "first": {"welcome_message": ""},
        "polish": {"welcome_message": "Dzień dobry.", "language": "pl-PL"},
    }.items():
        agent = await make_agent(tenant, name, system_prompt="You are Ada. Ask how they are.", **fields)
        rows = people(3, **ANSWERS)
        always = Recording(announcement="always")
        made = await run(tenant, rows, name, agent_id=agent.id, recording=always, retry_policy=ONCE)
        for call in await calls_of(tenant, made.id):
            turns = (await tenant.client.calls.get_transcript(call_uuid=call.id)).turns
            said = [turn.text for turn in turns if turn.role == "agent"][:2]
            assert "recorded" in " ".join(said)


@pytest.mark.requirement("RECORD-03")
async def test_recording_can_change_in_a_draft_and_not_after_the_start(tenant: Tenant) -> None:
    made = await draft(tenant, people(2, **ANSWERS))
    changed = await tenant.client.deployments.update(id=made.id, recording=Recording(enabled=False))
    assert changed.recording == Recording(enabled=False)
    await tenant.client.deployments.start(id=made.id)
    await tenant.client.deployments.pause(id=made.id)
    async with refusal(409, "invalid_state_transition", "recording"):
        await tenant.client.deployments.update(id=made.id, recording=Recording())
    copied = await tenant.client.deployments.clone(id=made.id, name="Copy")
    assert copied.recording == Recording(enabled=False)


async def test_an_unknown_announcement_is_refused_by_name(tenant: Tenant, http: AsyncClient) -> None:
    made = await draft(tenant, people(1))
    for sent, field in (
        ({"announcement": "maybe"}, "recording.announcement"),
        ({"enabled": "perhaps"}, "recording.enabled"),
        ({"announced": True}, "recording.announced"),
    ):
        answer = await http.patch(f"/v1/deployments/{made.id}", json={"recording": sent})
        assert (answer.status_code, answer.json()["error"]["field"]) == (400, field)


async def test_what_is_recorded_is_part_of_the_plan_of_a_start(tenant: Tenant) -> None:
    made = await draft(tenant, people(1, **ANSWERS))
    seen = await tenant.client.deployments.preview(id=made.id)
    await tenant.client.deployments.update(id=made.id, recording=Recording(announcement="always"))
    async with refusal(409, "plan_stale"):
        await tenant.client.deployments.start(id=made.id, plan_id=seen.plan_id)
    assert (await started(tenant, people(1, first=9), "Other")).recording == Recording()
