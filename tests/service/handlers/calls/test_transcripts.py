"""Searching what was said and counting calls, over the typed client on both engines."""

from typing import Any

import pytest

from callwright.service.platform.clock.clock import DAY, HOUR
from tests.support.calls.prompts_with_facts import LANGUAGES_SPOKEN
from tests.support.calls.stored_calls import DIALLED_MS, put_call, put_conversation
from tests.support.campaigns import make_agent, people, run
from tests.support.resources import refusal
from tests.support.service import Tenant


async def test_calls_are_found_by_words_and_phrases(tenant: Tenant) -> None:
    dear = await put_conversation(
        tenant, ("agent", "It costs 90 dollars."), ("contact", "That is too expensive for me.")
    )
    other = await put_conversation(tenant, ("agent", "Is it too early?"), ("contact", "No. An expensive car, too."))
    search = tenant.client.transcripts.search

    async def ids(query: str, **given: Any) -> list[str]:
        return [match.call_id for match in (await search(query=query, **given)).data]

    assert await ids('"too expensive"') == [dear]
    assert sorted(await ids("too expensive")) == sorted([dear, other])
    assert await ids("TOO, Expensive! dollars") == [dear]
    assert await ids("cheap") == []
    assert await ids('"early no"') == []  # a phrase does not reach across two speakers
    assert await ids("expensive", outcome=["busy"]) == []


async def test_a_match_shows_the_turns_with_their_places(tenant: Tenant) -> None:
    said = [("agent", "Thursday?"), ("contact", "Not Thursday."), ("agent", "Monday?"), ("contact", "Thursday then.")]
    await put_conversation(tenant, *said)
    (match,) = (await tenant.client.transcripts.search(query="thursday", snippets=2)).data
    assert (match.match_count, [turn.turn_index for turn in match.snippets]) == (3, [0, 1])
    (match,) = (await tenant.client.transcripts.search(query="thursday", speaker="contact")).data
    assert [(turn.turn_index, turn.role, turn.start_seconds) for turn in match.snippets] == [
        (1, "contact", 2.0),
        (3, "contact", 6.0),
    ]


async def test_words_of_other_scripts_are_found(tenant: Tenant) -> None:
    call_id = await put_conversation(tenant, ("contact", "क्या गुरुवार ठीक है?"))
    for query in ("गुरुवार", '"ठीक है"'):
        assert [match.call_id for match in (await tenant.client.transcripts.search(query=query)).data] == [call_id]


@pytest.mark.service(workers=True)
async def test_the_words_of_a_planted_mailbox_are_found_and_are_no_variable(tenant: Tenant) -> None:
    rows = people(3, sim_outcome="voicemail")
    rows[1]["sim.greeting"] = "Kayak rentals, please speak after the beep."
    made = await run(tenant, rows)
    (match,) = (await tenant.client.transcripts.search(query="kayak", speaker="contact")).data
    (turn,) = (await tenant.client.calls.get_transcript(call_uuid=match.call_id)).turns
    assert (match.deployment_id, turn.text) == (made.id, rows[1]["sim.greeting"])
    row = [row async for row in tenant.client.audiences.list_rows(id=made.audience_id or "")][1]
    assert set(row.values) == {"first_name"}


@pytest.mark.service(workers=True)
async def test_the_day_in_a_german_prompt_is_said_in_each_call_of_a_campaign(tenant: Tenant) -> None:
    german = LANGUAGES_SPOKEN["de"]
    agent = await make_agent(
        tenant, language="de-DE", voice_id="de-DE-jonas", system_prompt=german.instructed, welcome_message="Guten Tag."
    )
    rows = [{**person, "name": "Kim"} for person in people(5, sim_outcome="answered", sim_intent="yes")]
    await run(tenant, rows, agent_id=agent.id)
    found = (await tenant.client.transcripts.search(query=f'"{german.day}"', speaker="agent")).data
    assert len(found) == 5


async def test_matches_are_paged_newest_first(tenant: Tenant) -> None:
    made = [
        await put_conversation(tenant, ("agent", "Hello."), created_at=DIALLED_MS + n, ended_at=None) for n in range(1)
    ]
    made += [await put_conversation(tenant, ("agent", "Hello."), created_at=DIALLED_MS + n) for n in range(1, 7)]
    seen = [match.call_id async for match in tenant.client.transcripts.search(query="hello", per_page=3)]
    assert seen == made[::-1]


async def test_a_search_needs_a_word(tenant: Tenant) -> None:
    async with refusal(400, "invalid_field", "query"):
        await tenant.client.transcripts.search(query="?!")


async def test_nobody_searches_another_organization(other: Tenant, tenant: Tenant) -> None:
    await put_conversation(tenant, ("agent", "Hello."))
    assert (await other.client.transcripts.search(query="hello")).data == []
    assert (await other.client.calls.stats(group_by=["outcome"])).calls == 0


async def test_calls_are_counted_by_group(tenant: Tenant) -> None:
    for seconds in (10, 20, 30, 40, 100):
        await put_call(tenant, duration_ms=seconds * 1_000, cost_micros=seconds * 200)
    await put_call(tenant, outcome="busy", duration_ms=0, cost_micros=0)
    stats = await tenant.client.calls.stats(group_by=["outcome"])
    assert (stats.calls, stats.answered, stats.groups_left_out) == (6, 5, 0)
    answered, busy = stats.groups
    assert (answered.key, answered.calls, answered.share) == ({"outcome": "answered"}, 5, 0.833333)
    assert answered.duration_seconds is not None
    assert answered.cost is not None
    lasted = answered.duration_seconds
    assert (lasted.p50, lasted.p90, lasted.total) == (30.0, 100.0, 200.0)
    assert (answered.cost.p50.amount, answered.cost.total.amount) == ("0.006000", "0.040000")
    assert answered.cost.p90.currency == "USD"
    assert (busy.key, busy.calls, busy.answered) == ({"outcome": "busy"}, 1, 0)
    assert (busy.duration_seconds, busy.cost) == (None, None)


async def test_averages_are_over_all_calls_and_over_each_group(tenant: Tenant) -> None:
    for index, (seconds, outcome) in enumerate(((10, "answered"), (40, "answered"), (100, "transferred"))):
        spent = {"duration_ms": seconds * 1_000, "cost_micros": seconds * 200}
        await put_call(tenant, **spent, outcome=outcome, to_number=f"+1212555010{index}")
    await put_call(tenant, outcome="busy", duration_ms=0, cost_micros=0, answered_at=None, to_number="+12125550109")
    stats = await tenant.client.calls.stats(group_by=["outcome"])
    assert stats.duration_seconds is not None
    assert (stats.duration_seconds.total, stats.duration_seconds.mean) == (150.0, 50.0)
    assert stats.cost is not None
    assert (stats.cost.total.amount, stats.cost.mean.amount) == ("0.030000", "0.010000")
    assert stats.answered_cost == stats.cost
    means = {group.key["outcome"]: group.duration_seconds and group.duration_seconds.mean for group in stats.groups}
    assert means == {"answered": 25.0, "transferred": 100.0, "busy": None}
    costs = {group.key["outcome"]: group.cost and group.cost.mean.amount for group in stats.groups}
    assert costs == {"answered": "0.005000", "transferred": "0.020000", "busy": None}
    again = await tenant.client.calls.stats(group_by=["day", "language"])
    assert (again.duration_seconds, again.cost) == (stats.duration_seconds, stats.cost)


async def test_early_hang_ups_are_answered_calls_that_the_person_ended_first(tenant: Tenant) -> None:
    endings = (("contact_hangup", "answered"), ("normal_clearing", "answered"), ("contact_hangup", "abandoned"))
    for index, (cause, outcome) in enumerate(endings):
        await put_call(tenant, hangup_cause=cause, outcome=outcome, to_number=f"+1212555010{index}")
    stats = await tenant.client.calls.stats(group_by=["outcome"])
    assert (stats.answered, stats.hang_ups) == (2, 1)
    assert {group.key["outcome"]: group.hang_ups for group in stats.groups} == {"answered": 1, "abandoned": 0}


async def test_what_a_machine_cost_is_no_part_of_what_an_answered_call_cost(tenant: Tenant) -> None:
    await put_call(tenant, cost_micros=8_000, to_number="+12125550100")
    await put_call(tenant, cost_micros=4_000, to_number="+12125550101")
    await put_call(tenant, outcome="voicemail", cost_micros=3_000, to_number="+12125550102")
    await put_call(tenant, outcome="busy", cost_micros=None, to_number="+12125550103")
    stats = await tenant.client.calls.stats(group_by=["outcome"])
    assert stats.cost is not None
    assert stats.answered_cost is not None
    assert (stats.cost.total.amount, stats.answered_cost.total.amount) == ("0.015000", "0.012000")
    assert stats.answered_cost.mean.amount == "0.006000"
    found = {group.key["outcome"]: group.answered_cost and group.answered_cost.mean.amount for group in stats.groups}
    assert found == {"answered": "0.006000", "voicemail": None, "busy": None}


async def test_without_an_answered_call_there_is_no_average(tenant: Tenant) -> None:
    await put_call(tenant, outcome="busy", duration_ms=0, cost_micros=0, answered_at=None)
    stats = await tenant.client.calls.stats(group_by=["outcome"])
    assert (stats.calls, stats.duration_seconds, stats.cost) == (1, None, None)
    nothing = await tenant.client.calls.stats(group_by=["outcome"], outcome=["failed"])
    assert (nothing.calls, nothing.duration_seconds, nothing.cost, nothing.groups) == (0, None, None, [])


async def test_groups_go_by_several_fields_and_by_time(tenant: Tenant) -> None:
    first = DIALLED_MS // DAY * DAY + 9 * HOUR
    for at_ms, disposition in ((first, "goal_met"), (first + 1, None), (first + DAY + HOUR, None)):
        await put_call(tenant, created_at=at_ms, disposition=disposition)
    stats = await tenant.client.calls.stats(group_by=["hour", "disposition"])
    counted = {(group.key["hour"], group.key.get("disposition")): group.calls for group in stats.groups}
    assert counted == {("09", "goal_met"): 1, ("09", None): 1, ("10", None): 1}
    stats = await tenant.client.calls.stats(group_by=["day"], disposition=["goal_met"])
    assert [(group.key, group.calls) for group in stats.groups] == [({"day": "2096-10-02"}, 1)]


async def test_calls_are_counted_by_campaign_unless_told_otherwise_and_by_who_hung_up(tenant: Tenant) -> None:
    for index, who in enumerate(("contact", "agent", "contact")):
        await put_call(tenant, ended_by=who, to_number=f"+1212555010{index}")
    by_campaign = await tenant.client.calls.stats(group_by=["deployment_id"])
    assert await tenant.client.calls.stats() == by_campaign
    stats = await tenant.client.calls.stats(group_by=["ended_by"])
    assert [(group.key, group.calls) for group in stats.groups] == [
        ({"ended_by": "contact"}, 2),
        ({"ended_by": "agent"}, 1),
    ]


@pytest.mark.parametrize("group_by", [[], ["outcome", "day", "hour", "language"], ["mood"]])
async def test_what_cannot_be_grouped_by_is_refused(tenant: Tenant, group_by: list[str]) -> None:
    with pytest.raises(ValueError, match="group_by"):
        await tenant.client.calls.stats(group_by=group_by)  # pyright: ignore[reportArgumentType]  # on purpose


async def test_each_group_says_how_many_of_its_answered_calls_reached_the_goal(tenant: Tenant) -> None:
    for version, dispositions in ((1, ("goal_met", None, None)), (2, ("goal_met", "goal_met"))):
        for at, disposition in enumerate(dispositions):
            number = f"+121255501{version}{at}"
            await put_call(tenant, disposition=disposition, agent_version=version, to_number=number)
    await put_call(tenant, agent_version=2, outcome="busy", disposition=None, to_number="+12125550199")
    stats = await tenant.client.calls.stats(group_by=["agent_version"])
    found = {one.key["agent_version"]: (one.goal_met, one.goal_met_share) for one in stats.groups}
    assert found == {"1": (1, 0.333333), "2": (2, 1.0)}
    assert (stats.goal_met, stats.goal_met_share) == (3, 0.6)
    busy = await tenant.client.calls.stats(outcome=["busy"])
    assert (busy.goal_met, busy.goal_met_share) == (0, None)
