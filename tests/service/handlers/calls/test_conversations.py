"""Reading many conversations in a row: call by call, and equal turns once."""

import json
from typing import Any

import pytest
from sqlalchemy import Connection, insert, update

from callwright.contract.calls.conversations import Conversations
from callwright.service.tables import call_counts
from callwright.service.tables.schema import calls, transcripts
from tests.support.campaigns import people, run
from tests.support.resources import refusal
from tests.support.service import Tenant


async def spoken(tenant: Tenant, count: int = 12) -> str:
    """A campaign with so many answered calls."""
    return (await run(tenant, people(count, sim_outcome="answered"), "spoken")).id


def store_values(connection: Connection, call_id: str, values: dict[str, str]) -> None:
    connection.execute(update(calls).where(calls.c.id == call_id).values(**values))


async def everything(tenant: Tenant, **asked: Any) -> list[Conversations]:
    found = [await tenant.client.calls.read_conversations(**asked)]
    while found[-1].next_cursor:
        found.append(await tenant.client.calls.read_conversations(**asked, cursor=found[-1].next_cursor))
    return found


@pytest.mark.service(workers=True)
async def test_every_conversation_is_read_once_the_newest_first_and_each_answer_keeps_its_bound(tenant: Tenant) -> None:
    campaign = await spoken(tenant)
    answers = await everything(tenant, deployment_id=campaign, max_tokens=400)
    assert len(answers) > 2
    assert all(len(answer.model_dump_json()) < 400 * 4 * 2 for answer in answers)
    read = [one for answer in answers for one in answer.conversations]
    listed = [call async for call in tenant.client.calls.list(deployment_id=campaign) if call.turn_count]
    assert [one.call_id for one in read] == [call.id for call in listed]
    assert [one.contact_name for one in read] == [call.contact_name for call in listed]
    assert [(one.created_at, one.deployment_id) for one in read] == [(call.created_at, campaign) for call in listed]
    assert {one.deployment_name for one in read} == {(await tenant.client.deployments.get(id=campaign)).name}
    for one in read[:3]:
        whole = await tenant.client.calls.get_transcript(call_uuid=one.call_id)
        assert [(turn.index, turn.role, turn.text) for turn in one.turns] == [
            (turn.index, turn.role, turn.text) for turn in whole.turns[: len(one.turns)]
        ]
        assert len(one.turns) + one.turns_left == whole.turn_count


@pytest.mark.service(workers=True)
async def test_only_one_side_is_read_where_it_is_asked_for(tenant: Tenant) -> None:
    campaign = await spoken(tenant, 4)
    for speaker in ("agent", "contact"):
        (answer,) = await everything(tenant, deployment_id=campaign, speaker=speaker, max_tokens=20_000)
        assert {turn.role for one in answer.conversations for turn in one.turns} == {speaker}


@pytest.mark.service(workers=True)
async def test_what_was_said_alike_stands_once_with_its_counts_whatever_the_bound(tenant: Tenant) -> None:
    campaign = await spoken(tenant, 30)
    calls_ = await everything(tenant, deployment_id=campaign, speaker="contact", max_tokens=20_000)
    turns = [(turn.text, one.call_id) for answer in calls_ for one in answer.conversations for turn in one.turns]
    expected: dict[str, list[str]] = {}
    for text, call_id in turns:
        expected.setdefault(" ".join(text.casefold().split()), []).append(call_id)
    for bound in (300, 20_000):
        answers = await everything(
            tenant, deployment_id=campaign, view="distinct_turns", speaker="contact", max_tokens=bound
        )
        found = [one for answer in answers for one in answer.distinct_turns]
        assert {" ".join(one.text.casefold().split()): (one.count, one.calls) for one in found} == {
            key: (len(ids), len(set(ids))) for key, ids in expected.items()
        }
        assert len(found) == len(expected)
        assert [one.count for one in found] == sorted((one.count for one in found), reverse=True)
        assert {answer.calls for answer in answers} == {len({call_id for _, call_id in turns})}
    assert len(answers) == 1


@pytest.mark.service(workers=True)
async def test_what_the_agent_could_not_answer_stands_grouped_in_one_answer(tenant: Tenant) -> None:
    campaign = await spoken(tenant, 8)
    ids = [call.id async for call in tenant.client.calls.list(deployment_id=campaign) if call.turn_count]
    asked = {ids[0]: ["Is there parking?"], ids[1]: ["is there  parking?", "What does it cost?"]}
    for call_id in ids:
        values = {"unanswered_questions": json.dumps(asked.get(call_id, []))}
        await tenant.database.write(store_values, call_id, values)
    (answer,) = await everything(tenant, deployment_id=campaign, view="unanswered_questions")
    found = {
        one.text.casefold().replace("  ", " "): (one.count, sorted(on.call_id for on in one.said_on))
        for one in answer.distinct_turns
    }
    assert found == {"is there parking?": (2, sorted(ids[:2])), "what does it cost?": (1, [ids[1]])}


async def test_many_calls_take_few_answers(tenant: Tenant) -> None:
    agent = (await tenant.client.agents.create(name="A", voice_id="en-US-ada", language="en-US", system_prompt="x")).id
    reasons = [
        "It is too expensive.",
        "I have no time.",
        "I am a customer elsewhere.",
        "Not interested.",
        "Call later.",
    ]

    def store(connection: Any) -> int:
        blank = dict.fromkeys(("reserved_micros", "duration_ms", "billed_seconds"), 0)
        rows = [
            {
                **blank,
                "id": f"cal_{index:05d}",
                "org_id": tenant.org_id,
                "call_type": "outbound",
                "simulated": True,
                "agent_id": agent,
                "attempt_number": 1,
                "from_number": "+12125550100",
                "to_number": "+12125550101",
                "status": "completed",
                "outcome": "answered",
                "created_at": 1_700_000_000_000 + index // 3,
                "ended_at": 1_700_000_000_000 + index,
                "language": "en-US",
                "voice_id": "en-US-ada",
                "variables": "{}",
                "unanswered_questions": "[]",
                "warnings": "[]",
                "turn_count": 2,
            }
            for index in range(4_500)
        ]
        connection.execute(insert(calls), rows)
        call_counts.add(connection, [str(row["id"]) for row in rows])
        said = [
            {
                "call_id": row["id"],
                "org_id": tenant.org_id,
                "turns": json.dumps(
                    [
                        {"index": 0, "role": "agent", "text": "Do you want to come?"},
                        {"index": 1, "role": "contact", "text": reasons[index % 5]},
                    ]
                ),
            }
            for index, row in enumerate(rows)
        ]
        return connection.execute(insert(transcripts), said).rowcount

    await tenant.database.write(store)
    answers = await everything(tenant, view="distinct_turns", speaker="contact")
    assert [answer.calls for answer in answers] == [2_000, 2_000, 500]
    assert sum(one.count for answer in answers for one in answer.distinct_turns) == 4_500
    assert sum(len(answer.model_dump_json()) for answer in answers) < 20_000
    small = await everything(tenant, view="distinct_turns", speaker="contact", max_tokens=200)
    assert sum(one.count for answer in small for one in answer.distinct_turns) == 4_500


async def test_a_cursor_of_another_question_is_refused(tenant: Tenant) -> None:
    async with refusal(400, "invalid_cursor", "cursor"):
        await tenant.client.calls.read_conversations(cursor="made up")
    nothing = await tenant.client.calls.read_conversations()
    assert (nothing.calls, nothing.conversations, nothing.next_cursor) == (0, [], None)


@pytest.mark.service(workers=True)
async def test_an_answer_that_covers_all_says_on_how_many_calls_nobody_spoke(tenant: Tenant) -> None:
    made = await run(tenant, [*people(2, sim_outcome="answered"), *people(3, first=20, sim_outcome="invalid_number")])
    whole = await tenant.client.calls.read_conversations(deployment_id=made.id, max_tokens=20_000)
    assert (whole.calls, whole.silent_calls, whole.next_cursor) == (2, 3, None)
    first, second = await everything(tenant, deployment_id=made.id, max_tokens=200)
    assert (first.silent_calls, second.silent_calls) == (None, None)
    nobody = await tenant.client.calls.read_conversations(deployment_id=made.id, contact_name="Nobody")
    assert (nobody.calls, nobody.silent_calls) == (0, 0)
    counted = await tenant.client.calls.read_conversations(deployment_id=made.id, view="distinct_turns")
    assert counted.silent_calls is None
