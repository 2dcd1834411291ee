"""The evening of a large campaign: whoever may not be called any more is deferred with many others at once."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, select

from callwright.contract.deployments.dialling import CallingHours, RetryPolicy, Window
from callwright.contract.do_not_call import NewEntry
from callwright.service.dialling.rounds import deferral, runner
from callwright.service.settings import ServiceSettings
from callwright.service.tables.schema import calls, contact_decisions, deployment_contacts
from tests.support.campaign_invariants import campaign_records, check_everything
from tests.support.campaigns import draft, make_agent, make_audience, people, phone
from tests.support.service import Tenant, open_service

POLICY = RetryPolicy(max_attempts=2)
BRIEF = CallingHours(
    windows=[Window(days=["mon", "tue", "wed", "thu", "fri", "sat", "sun"], start="12:00", end="12:20")]
)
"""So brief that not everybody is called on one day."""
NIGHT_MS = 1_796_101_200_000
"""Midnight in New York."""
EAST, WEST, LISTED = 700, 150, (3, 350, 820)


async def campaign(tenant: Tenant) -> str:
    """A campaign of people in two time zones, some of whom are on the do-not-call list, once it is completed."""
    rows = [*people(EAST, area="212", sim_intent="yes"), *people(WEST, area="415", first=EAST, sim_intent="yes")]
    listed = [phone(index, "212" if index < EAST else "415") for index in LISTED]
    await tenant.client.do_not_call.add(entries=[NewEntry(number=one) for one in listed])
    audience = await make_audience(tenant, rows)
    agent = await make_agent(tenant)
    made = await draft(tenant, [], agent_id=agent.id, audience_id=audience.id, calling_hours=BRIEF, retry_policy=POLICY)
    await tenant.client.deployments.start(id=made.id)
    ended = await tenant.ended(made.id)
    assert ended.status == "completed", ended.status_reason
    return made.id


def story_of(connection: Connection, deployment_id: str) -> dict[str, list[Any]]:
    """Everything that was decided and done, without the ids."""
    k, c, d = deployment_contacts.c, calls.c, contact_decisions.c
    of_people = select(k.phone, k.status, k.status_reason, k.attempt_times, k.decided_by)
    of_calls = select(c.to_number, c.attempt_number, c.created_at, c.outcome)
    of_rules = select(k.phone, d.decision, d.rule, d.until).join(deployment_contacts, k.id == d.contact_id)
    found = {
        "people": of_people.where(k.deployment_id == deployment_id),
        "calls": of_calls.where(c.deployment_id == deployment_id),
        "decisions": of_rules.where(k.deployment_id == deployment_id, d.deployment_id == deployment_id),
    }
    return {name: sorted(map(tuple, connection.execute(one).all()), key=repr) for name, one in found.items()}


@pytest.mark.service(workers=True, extra_dollars=1_000)
@pytest.mark.parametrize("engine", ["sqlite", "postgres"], indirect=True)
async def test_everybody_is_called_in_their_own_noon_although_many_are_deferred_at_once(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deferral, "AT_ONCE", 200)
    deployment_id = await campaign(tenant)
    found = await campaign_records(tenant.database, deployment_id)
    check_everything(found, POLICY, extra_dollars=1_000)
    assert len({call.to_number for call in found.calls}) == EAST + WEST - len(LISTED)
    story = await tenant.database.read(story_of, deployment_id)
    assert Counter(status for _, status, *_ in story["people"])["suppressed"] == len(LISTED)
    assert {phone for phone, _, reason, *_ in story["people"] if reason == "do_not_call"} == {
        phone(index, "212" if index < EAST else "415") for index in LISTED
    }


async def test_deferring_at_once_decides_the_same_as_round_by_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[dict[str, list[Any]]] = []
    pieces = list[deferral.Place]()
    piece = deferral.defer_due

    def counted(connection: Connection, *arguments: Any, **named: Any) -> deferral.Place | None:
        pieces.append(arguments[3])
        return piece(connection, *arguments, **named)

    monkeypatch.setattr("callwright.service.dialling.rounds.driver_writes.defer_due", counted)
    for at_once in (True, False):
        if not at_once:
            monkeypatch.setattr(runner, "LOOK_AHEAD", 10_000)  # no round reads as many
        folder = tmp_path / str(at_once)
        folder.mkdir()
        url = f"sqlite:///{folder / 'callwright.db'}"
        settings = ServiceSettings(data=folder, database_url=url, clock_begins_ms=NIGHT_MS)
        async with open_service(url, folder, settings=settings, extra_dollars=1_000) as tenant:
            found.append(await tenant.database.read(story_of, await campaign(tenant)))
        if at_once:
            assert len(pieces) > 2
            pieces.clear()
    assert not pieces
    assert found[0] == found[1]
