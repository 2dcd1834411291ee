"""Statistics by what is not counted: the hour and the weekday of the callee, and the own number."""

from collections import Counter

import pytest

from callwright.client.errors import InvalidRequest
from callwright.service.handlers.calls import read_groups
from callwright.service.platform.clock.clock import DAY, moment
from callwright.service.platform.json_text import json_text
from tests.support.calls.stored_calls import DIALLED_MS, put_call
from tests.support.campaigns import people, run
from tests.support.service import Tenant


@pytest.mark.requirement("DASH-54")
@pytest.mark.service(workers=True)
async def test_calls_count_by_the_hour_and_the_weekday_of_who_was_called(tenant: Tenant) -> None:
    made = await run(tenant, people(6))
    evidence = [one async for one in tenant.client.deployments.list_evidence(id=made.id)]
    shown = [(one.local_time or "").split() for one in evidence]
    found = await tenant.client.calls.stats(deployment_id=[made.id], group_by=["callee_weekday", "callee_hour"])
    expected = Counter((weekday, time[:2]) for weekday, _, time, _ in shown)
    assert {(one.key["callee_weekday"], one.key["callee_hour"]): one.calls for one in found.groups} == expected
    assert found.calls == len(evidence) > 5
    counted = await tenant.client.calls.stats(deployment_id=[made.id], group_by=["outcome"])
    assert (counted.answered, counted.goal_met, counted.cost) == (found.answered, found.goal_met, found.cost)


@pytest.mark.requirement("DASH-54")
async def test_calls_count_by_own_number_beside_what_is_counted(tenant: Tenant) -> None:
    rented = await tenant.client.phone_numbers.rent(country="US")
    for at, (outcome, own) in enumerate((("answered", rented.id), ("busy", rented.id), ("answered", None))):
        await put_call(
            tenant,
            outcome=outcome,
            phone_number_id=own,
            created_at=DIALLED_MS + at * DAY,
            evidence=json_text({"local_time": "soon"}),
        )
    found = await tenant.client.calls.stats(group_by=["phone_number_id", "day", "callee_hour"])
    days = [f"{moment(DIALLED_MS + at * DAY):%Y-%m-%d}" for at in range(3)]
    assert sorted((one.key.get("phone_number_id", ""), one.key["day"], one.answered) for one in found.groups) == [
        ("", days[2], 1),
        (rented.id, days[0], 1),
        (rented.id, days[1], 0),
    ]
    assert {one.names.get("phone_number_id") for one in found.groups} == {None, rented.number}
    assert all("callee_hour" not in one.key for one in found.groups)


@pytest.mark.requirement("DASH-54")
async def test_more_calls_than_are_read_are_refused_with_what_to_do(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_groups, "MOST_READ", 2)
    for at in range(3):
        await put_call(tenant, created_at=DIALLED_MS + at * DAY)
    with pytest.raises(InvalidRequest, match="the filters leave 3: send created_from") as refused:
        await tenant.client.calls.stats(group_by=["phone_number_id"])
    assert (refused.value.status, refused.value.code) == (400, "invalid_field")
    fewer = await tenant.client.calls.stats(group_by=["phone_number_id"], created_from=moment(DIALLED_MS + DAY))
    assert fewer.calls == 2
