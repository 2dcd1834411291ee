"""The greeting of a preview is what the first person who is called hears first, word for word."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from callwright.contract.deployments.dialling import WEEKDAYS, CallingHours, Compliance, Window
from callwright.service.platform.clock.clock import SystemClock, milliseconds
from tests.support.campaign_invariants import campaign_records
from tests.support.campaigns import ONCE, after_rounds, draft, make_agent, make_audience, people, run, working
from tests.support.service import Tenant, open_service

ANSWERS: dict[str, Any] = {"sim_outcome": "answered", "sim_intent": "yes"}
ONE_BY_ONE: dict[str, Any] = {"max_concurrency": 1, "retry_policy": ONCE}
WELCOMES = {
    "plain": ("Hi {{first_name}}.", "en-US"),
    "question": ("Hi {{first_name}}. Is now a good time?", "en-US"),
    "machine": ("Hi {{first_name}}, I am an automated assistant.", "en-US"),
    "spaces": ("  Hi  {{first_name}} {{nothing}}!  ", "en-US"),
    "as_people_write": ("Hi {{First Name|there}}. {{ NOTHING | default: 'Is it 3 p.m.?' }}", "en-US"),
    "braces": ("Hi {{name}}.", "en-US"),
    "german": ("Guten Tag {{first_name}}.", "de-DE"),
    "no_phrases": ("Dzień dobry {{first_name}}.", "pl-PL"),
}


async def first_turns(tenant: Tenant, deployment_id: str, call: int = 0) -> str:
    """What the agent said in one of the deployment's calls, before anybody answered."""
    found = await campaign_records(tenant.database, deployment_id)
    turns = (await tenant.client.calls.get_transcript(call_uuid=found.calls[call].id)).turns
    said: list[str] = []
    for turn in turns:
        if turn.role != "agent":
            break
        said.append(turn.text)
    return " ".join(said)


@pytest.mark.requirement("RES-32")
@pytest.mark.parametrize("disclosure", [True, False])
@pytest.mark.parametrize("welcome", WELCOMES)
async def test_the_first_call_begins_with_the_words_of_the_preview(
    welcome: str, disclosure: bool, tenant: Tenant
) -> None:
    message, language = WELCOMES[welcome]
    agent = await make_agent(tenant, welcome_message=message, language=language, system_prompt="Ask how they are.")
    for first in range(4):  # which phrase tells it is left to chance
        rows = people(2, first=first * 2, **ANSWERS, name="{{first_name}}")
        rows[1]["nothing"] = "x"
        made = await draft(
            tenant,
            rows,
            f"From {first}",
            agent_id=agent.id,
            compliance=Compliance(ai_disclosure=disclosure),
            **ONE_BY_ONE,
        )
        seen = await tenant.client.deployments.preview(id=made.id)
        async with working(tenant):
            await tenant.client.deployments.start(id=made.id, plan_id=seen.plan_id)
            await tenant.ended(made.id)
        assert seen.greeting == await first_turns(tenant, made.id)


@pytest.mark.service(workers=True)
async def test_the_greeting_is_that_of_somebody_who_would_be_called(tenant: Tenant) -> None:
    opted_out = people(1, sim_outcome="answered", sim_intent="opt_out")
    await run(tenant, opted_out, "before", retry_policy=ONCE)
    rows = [{**row, "ok": ok} for row, ok in zip(people(4, **ANSWERS), ("yes", "no", "yes", "yes"), strict=True)]
    made = await draft(tenant, rows, compliance=Compliance(consent_column="ok"), **ONE_BY_ONE)
    seen = await tenant.client.deployments.preview(id=made.id)
    assert seen.eligible == 2
    assert seen.greeting is not None
    assert seen.greeting.startswith("Hello Person 2,")
    await tenant.client.deployments.start(id=made.id, plan_id=seen.plan_id)
    await tenant.ended(made.id)
    assert await first_turns(tenant, made.id) == seen.greeting


async def test_where_nobody_would_be_called_there_is_no_greeting_and_no_time(tenant: Tenant) -> None:
    rows = [{**row, "ok": "no"} for row in people(2)]
    made = await draft(tenant, rows, compliance=Compliance(consent_column="ok"))
    seen = await tenant.client.deployments.preview(id=made.id)
    assert (seen.eligible, seen.greeting, seen.next_call_at, seen.finishes_at) == (0, None, None, None)


async def test_an_agent_without_welcome_message_lets_the_contact_speak_first(tenant: Tenant) -> None:
    agent = await make_agent(tenant, welcome_message="")
    made = await draft(tenant, people(1), agent_id=agent.id)
    assert (await tenant.client.deployments.preview(id=made.id)).greeting == ""


async def test_the_greeting_of_a_campaign_that_goes_on_is_that_of_whoever_is_next(tenant: Tenant) -> None:
    agent = await make_agent(tenant, welcome_message="Hi {{first_name}}.")
    paused = await after_rounds(tenant, people(3, **ANSWERS), agent_id=agent.id, **ONE_BY_ONE)
    assert (paused.stats.completed, paused.stats.pending) == (1, 2)
    seen = await tenant.client.deployments.preview(id=paused.id)
    assert seen.greeting is not None
    assert seen.greeting.startswith("Hi Person 1. ")
    async with working(tenant):
        await tenant.client.deployments.resume(id=paused.id, plan_id=seen.plan_id)
        await tenant.ended(paused.id)
    assert seen.greeting == await first_turns(tenant, paused.id, call=1)
    over = await tenant.client.deployments.preview(id=paused.id)
    assert (over.eligible, over.greeting, over.next_call_at) == (0, None, None)


async def test_the_greeting_is_that_of_whoever_lives_where_the_hours_begin_first(
    database_url: str, tmp_path: Path
) -> None:
    at_noon = SystemClock(milliseconds(datetime(2026, 11, 27, 12, tzinfo=UTC)))  # before nine in both
    async with open_service(database_url, tmp_path, workers=False, clock=at_noon) as tenant:
        west_then_east = [*people(1, area="415"), *people(1, first=1, area="212")]
        window = Window(days=list(WEEKDAYS), start="09:00", end="11:00")
        made = await draft(tenant, west_then_east, calling_hours=CallingHours(windows=[window]))
        seen = await tenant.client.deployments.preview(id=made.id)
        assert seen.next_call_at == datetime(2026, 11, 27, 14, tzinfo=UTC)
        assert seen.greeting is not None
        assert seen.greeting.startswith("Hello Person 1,")


async def test_the_worst_greeting_is_that_of_whoever_has_most_empty_cells(tenant: Tenant) -> None:
    words = "Good day {{first_name}} of {{city}}, this is Ada."
    whole = {"first_name": "Kim", "city": "Rome"}
    rows = [{**person, **whole, "city": city} for person, city in zip(people(3), ("Rome", "", "Pisa"), strict=True)]
    audience = await make_audience(tenant, rows)
    agent = await make_agent(tenant, "A", welcome_message=words)
    made = await draft(tenant, [], audience_id=audience.id, agent_id=agent.id)
    seen = await tenant.client.deployments.preview(id=made.id)
    assert seen.greeting is not None
    assert seen.worst_greeting is not None
    assert "Good day Kim of Rome," in seen.greeting
    assert "Good day Kim of, this is Ada." in seen.worst_greeting
    (warning,) = seen.warnings
    assert "column 'city' of 1 of 3 people in the audience;" in warning
    filled = await tenant.client.agents.update(id=agent.id, welcome_message=words.replace("city}}", "city|town}}"))
    assert filled.welcome_message.endswith("{{city|town}}, this is Ada.")
    seen = await tenant.client.deployments.preview(id=made.id)
    assert (seen.worst_greeting, seen.warnings) == (None, [])


async def test_an_empty_cell_leaves_no_blank_before_a_comma_and_is_still_shown(tenant: Tenant) -> None:
    agent = await make_agent(tenant, welcome_message="Guten Tag {{Vorname}} {{Prénom}}, hier ist  Ada.", language="de")
    rows = [{**person, "vorname": "", "prenom": ""} for person in people(3, **ANSWERS)]
    made = await draft(tenant, [*rows[:2], {**rows[2], "vorname": "Kim"}], agent_id=agent.id, **ONE_BY_ONE)
    seen = await tenant.client.deployments.preview(id=made.id)
    assert seen.worst_greeting is not None
    assert seen.worst_greeting.startswith("Guten Tag, hier ist  Ada.")
    assert any("column 'vorname' of 2 of 3 people, 'prenom' of 3 of 3 people in" in each for each in seen.warnings)
    async with working(tenant):
        await tenant.client.deployments.start(id=made.id, plan_id=seen.plan_id)
        await tenant.ended(made.id)
    heard = [await first_turns(tenant, made.id, call=call) for call in range(3)]
    beginnings = sorted(words.partition(" Ada.")[0] for words in heard)
    assert beginnings == ["Guten Tag Kim, hier ist ", "Guten Tag, hier ist ", "Guten Tag, hier ist "]
