"""Contacts that are few among many are found by the counters of their campaign and by indexes of what is rare."""

import json
from collections import Counter
from random import Random
from typing import Any

import pytest
from sqlalchemy import Connection, Row, select, update

from callwright.service.tables.contacts_by_counters import COUNTERS
from callwright.service.tables.schema import deployment_contacts, deployments
from tests.support.calls.stored_calls import put_call
from tests.support.campaigns import draft, people
from tests.support.database.statements import recorded
from tests.support.service import Tenant

_K = deployment_contacts.c
_STATES = (*["completed"] * 12, *["exhausted"] * 6, "pending", "held", "suppressed", "retry_waiting", "in_flight")
_OUTCOMES = (*["answered"] * 12, *["no_answer"] * 6, "voicemail", "failed", "transferred", None)
_DISPOSITIONS = (*["goal_met"] * 12, *[None] * 6, "do_not_call", "wrong_number")
_PEOPLE = 90


async def _campaign(tenant: Tenant) -> tuple[str, list[Row[Any]]]:
    """A campaign whose contacts are in all kinds of states, as its counters say; and its contacts in order."""
    made = await draft(tenant, people(_PEOPLE))
    await tenant.client.deployments.start(id=made.id)

    def scatter(connection: Connection) -> list[Row[Any]]:
        chance, own = Random(8), select(deployment_contacts).where(_K.deployment_id == made.id)
        for contact in connection.execute(own).all():
            now = {
                "status": chance.choice(_STATES),
                "last_outcome": chance.choice(_OUTCOMES),
                "last_disposition": chance.choice(_DISPOSITIONS),
            }
            connection.execute(update(deployment_contacts).where(_K.id == contact.id).values(now))
        rows = list(connection.execute(own.order_by(_K.position)).all())
        counters = {
            counter: json.dumps(Counter(value for row in rows if (value := getattr(row, column)) is not None))
            for column, counter in COUNTERS.items()
        }
        counters["attempts"] = str(len(rows))
        connection.execute(update(deployments).where(deployments.c.id == made.id).values(counters))
        return rows

    rows = await tenant.database.write(scatter)
    for row in rows:
        await put_call(tenant, deployment_id=made.id, contact_id=row.id, to_number=row.phone)
    return made.id, rows


@pytest.mark.requirement("FILTER-18")
async def test_pages_of_rare_contacts_have_each_of_them_once(tenant: Tenant) -> None:
    campaign, rows = await _campaign(tenant)
    cases: list[dict[str, Any]] = [{"status": [state]} for state in {*_STATES, "skipped", "expired"}]
    cases += [{"last_outcome": [outcome]} for outcome in {*_OUTCOMES, "busy"} if outcome]
    cases += [{"last_disposition": [said]} for said in {*_DISPOSITIONS, "interested"} if said]
    cases += [
        {"status": ["held", "suppressed"]},
        {"status": ["pending", "retry_waiting"]},
        {"status": ["pending", "held"]},
        {"status": ["completed"], "last_outcome": ["failed"]},
        {"last_outcome": ["transferred"], "last_disposition": ["do_not_call", "goal_met"]},
        {"status": ["held"], "last_outcome": ["busy"]},
    ]
    for asked in cases:
        matching = [row for row in rows if all(getattr(row, name) in values for name, values in asked.items())]
        for sort in ("position", "-position"):
            expected = [row.id for row in (matching if sort == "position" else matching[::-1])]
            find = tenant.client.deployments.list_contacts
            walked = [one.id async for one in find(id=campaign, sort=sort, per_page=7, **asked)]
            assert walked == expected, (asked, sort)
            page = await find(id=campaign, sort=sort, per_page=2, **asked)
            assert page.pagination.total == len(expected), (asked, sort)


@pytest.mark.requirement("FILTER-18")
@pytest.mark.parametrize(
    ("asked", "index"),
    [
        ({"status": ["held", "suppressed"]}, "ix_deployment_contacts_states"),
        ({"status": ["retry_waiting"]}, "ix_deployment_contacts_due"),
        ({"last_outcome": ["failed"]}, "ix_deployment_contacts_outcomes"),
        ({"last_disposition": ["wrong_number"]}, "ix_deployment_contacts_dispositions"),
    ],
)
async def test_an_index_leads_to_rare_contacts(tenant: Tenant, asked: dict[str, Any], index: str) -> None:
    campaign, _ = await _campaign(tenant)
    with recorded() as statements:
        assert (await tenant.client.deployments.list_contacts(id=campaign, **asked)).data
    (read,) = [each for each in statements if "attempt_times" in each.text]
    plan = await tenant.database.read(read.plan)
    assert index in plan


@pytest.mark.requirement("FILTER-18")
async def test_a_state_that_no_contact_has_is_not_looked_for(tenant: Tenant) -> None:
    campaign, _ = await _campaign(tenant)
    with recorded() as statements:
        page = await tenant.client.deployments.list_contacts(id=campaign, status=["expired"])
    assert (page.data, page.pagination.total) == ([], 0)
    (read,) = [each for each in statements if "attempt_times" in each.text]
    assert "0 = 1" in read.text or "false" in read.text
