"""What happens when a person corrects the disposition of a call."""

import json
from typing import Any

import pytest
from sqlalchemy import select

from callwright.client.errors import ServiceProblem
from callwright.contract.calls.calls import Call
from callwright.service.tables.schema import audit_log, call_counts, call_kinds
from tests.support.calls.held_calls import held_call
from tests.support.calls.stored_calls import put_call
from tests.support.campaigns import ONCE, people, run
from tests.support.resources import draft
from tests.support.service import Tenant


async def _talked(tenant: Tenant) -> tuple[str, Call]:
    """A campaign whose calls have ended, and one of them on which somebody talked."""
    made = await run(tenant, people(6), retry_policy=ONCE)
    calls = [call async for call in tenant.client.calls.list(deployment_id=made.id, outcome=["answered"])]
    return made.id, next(call for call in calls if call.disposition is not None)


async def _by_disposition(tenant: Tenant, deployment_id: str) -> dict[str, int]:
    found = await tenant.client.calls.stats(group_by=["disposition"], deployment_id=[deployment_id])
    return {group.key["disposition"]: group.calls for group in found.groups if "disposition" in group.key}


@pytest.mark.requirement("DASH-46")
@pytest.mark.service(workers=True)
async def test_a_correction_stands_beside_the_agents_own_disposition_and_everything_counts_it(tenant: Tenant) -> None:
    deployment_id, call = await _talked(tenant)
    before = (await tenant.client.deployments.get(id=deployment_id)).stats.dispositions
    corrected = await tenant.client.calls.correct_disposition(
        call_uuid=call.id, disposition="wrong_person", note="She only wanted to be polite."
    )
    assert (corrected.disposition, corrected.disposition_source) == ("wrong_person", "person")
    assert corrected.correction is not None
    assert (corrected.correction.agent_disposition, corrected.correction.note) == (
        call.disposition,
        "She only wanted to be polite.",
    )
    after = (await tenant.client.deployments.get(id=deployment_id)).stats.dispositions
    own = str(call.disposition)
    assert after.get(own, 0) == before[own] - 1
    assert after["wrong_person"] == before.get("wrong_person", 0) + 1
    assert await _by_disposition(tenant, deployment_id) == after
    listed = tenant.client.calls.list(deployment_id=deployment_id, disposition=["wrong_person"])
    assert call.id in [one.id async for one in listed]
    contacts = tenant.client.deployments.list_contacts(id=deployment_id, last_disposition=["wrong_person"])
    assert call.contact_id in [one.id async for one in contacts]


@pytest.mark.requirement("DASH-46")
async def test_counts_that_no_call_is_left_in_are_gone_and_statistics_are_those_of_the_calls(tenant: Tenant) -> None:
    ids = [await put_call(tenant, disposition="goal_met", duration_ms=40_000 + n, cost_micros=n) for n in range(3)]
    for call_id in ids:
        await tenant.client.calls.correct_disposition(call_uuid=call_id, disposition="wrong_person")
    await tenant.client.calls.correct_disposition(call_uuid=ids[0], disposition="interested")
    found = await tenant.client.calls.stats(group_by=["disposition"])
    assert {group.key["disposition"]: group.calls for group in found.groups} == {"wrong_person": 2, "interested": 1}

    def rows(connection: Any) -> tuple[set[Any], list[Any]]:
        kinds = {tuple(row) for row in connection.execute(select(call_kinds.c.id, call_kinds.c.disposition))}
        counted = connection.execute(select(call_counts.c.kind_id, call_counts.c.calls, call_counts.c.durations)).all()
        return kinds, list(counted)

    kinds, counted = await tenant.database.read(rows)
    assert {disposition for _, disposition in kinds} == {"wrong_person", "interested"}
    assert {kind for kind, _, _ in counted} == {kind for kind, _ in kinds}
    assert {durations for _, calls, durations in counted if calls == 1} == {"40000"}
    assert {durations for _, calls, durations in counted if calls == 2} == {"40001 40002"}


@pytest.mark.requirement("DASH-46")
async def test_the_agents_own_disposition_stays_after_many_corrections_and_can_be_confirmed(tenant: Tenant) -> None:
    call_id = await put_call(tenant, disposition="goal_met")
    await tenant.client.calls.correct_disposition(call_uuid=call_id, disposition="interested", note="Not yet.")
    again = await tenant.client.calls.correct_disposition(call_uuid=call_id, disposition="goal_met")
    assert again.correction is not None
    assert (again.disposition, again.disposition_source) == ("goal_met", "person")
    assert (again.correction.agent_disposition, again.correction.note) == ("goal_met", "")


@pytest.mark.requirement("DASH-47")
async def test_correcting_to_do_not_call_lists_the_number_and_correcting_away_leaves_it_there(tenant: Tenant) -> None:
    call_id = await put_call(tenant, disposition="not_interested", to_number="+12125550144")
    await tenant.client.calls.correct_disposition(call_uuid=call_id, disposition="do_not_call")
    (entry,) = [one async for one in tenant.client.do_not_call.list(simulated=True)]
    assert (entry.number, entry.source_call_id, entry.expires_at) == ("+12125550144", call_id, None)
    await tenant.client.calls.correct_disposition(call_uuid=call_id, disposition="interested")
    assert [one.id async for one in tenant.client.do_not_call.list(simulated=True)] == [entry.id]


@pytest.mark.requirement("DASH-47")
async def test_the_number_of_somebody_who_called_in_is_listed_and_not_the_number_that_was_called(
    tenant: Tenant,
) -> None:
    numbers: dict[str, Any] = {"from_number": "+12125550145", "to_number": "+12125550150", "call_type": "inbound"}
    call_id = await put_call(tenant, disposition="interested", **numbers)
    await tenant.client.calls.correct_disposition(call_uuid=call_id, disposition="do_not_call")
    assert [one.number async for one in tenant.client.do_not_call.list()] == ["+12125550145"]


@pytest.mark.requirement("DASH-46")
async def test_a_call_that_goes_on_that_nobody_answered_or_that_is_unclear_is_not_corrected(tenant: Tenant) -> None:
    going_on = await put_call(tenant, ended_at=None, status="in_progress", outcome=None)
    unanswered = await put_call(tenant, answered_at=None, outcome="no_answer")
    unclear = await held_call(tenant, (await draft(tenant)).deployment.id)
    for call_id, words in ((going_on, "once it has ended"), (unanswered, "nobody answered"), (unclear, "resolve_call")):
        with pytest.raises(ServiceProblem, match=words):
            await tenant.client.calls.correct_disposition(call_uuid=call_id, disposition="interested")


@pytest.mark.requirement("DASH-46")
async def test_the_audit_log_has_both_dispositions_and_not_the_note(tenant: Tenant) -> None:
    call_id = await put_call(tenant, disposition="goal_met")
    await tenant.client.calls.correct_disposition(call_uuid=call_id, disposition="interested", note="Marked words.")
    entry = select(audit_log.c.changes).where(audit_log.c.action == "correct_disposition")
    (changes,) = await tenant.database.read(lambda connection: connection.execute(entry).scalars().all())
    assert json.loads(changes)["disposition"] == {"before": "goal_met", "after": "interested"}
    assert "Marked words" not in changes


@pytest.mark.requirement("DASH-46")
async def test_the_note_goes_with_the_persons_data_and_the_judgement_stays(tenant: Tenant) -> None:
    call_id = await put_call(tenant, disposition="goal_met", to_number="+12125550146")
    await tenant.client.calls.correct_disposition(call_uuid=call_id, disposition="interested", note="Ann is ill.")
    await tenant.client.people.delete(number="+12125550146", confirm=True)
    correction = (await tenant.client.calls.get(call_uuid=call_id)).correction
    assert correction is not None
    assert (correction.note, correction.agent_disposition) == ("", "goal_met")


@pytest.mark.requirement("DASH-46")
@pytest.mark.parametrize("note", ["She said so to me on +14155550123.", "Call 212-555-0199 instead", "(212) 555 0199"])
async def test_a_note_with_a_telephone_number_is_refused_and_changes_nothing(tenant: Tenant, note: str) -> None:
    call_id = await put_call(tenant, disposition="goal_met", to_number="+12125550146")
    with pytest.raises(ServiceProblem, match="note: holds a telephone number"):
        await tenant.client.calls.correct_disposition(call_uuid=call_id, disposition="interested", note=note)
    assert (await tenant.client.calls.get(call_uuid=call_id)).disposition == "goal_met"


@pytest.mark.requirement("DASH-46")
async def test_a_note_with_dates_and_amounts_is_kept(tenant: Tenant) -> None:
    call_id = await put_call(tenant, disposition="goal_met", to_number="+12125550146")
    note = "Asked on 2026-11-28 at 09:30 whether 1,250.00 USD is right; invoice 20261128."
    corrected = await tenant.client.calls.correct_disposition(call_uuid=call_id, disposition="interested", note=note)
    assert corrected.correction is not None
    assert corrected.correction.note == note
