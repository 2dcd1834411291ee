"""A campaign whose pace grows after each start and resume."""

from datetime import datetime
from itertools import pairwise
from typing import Any

import pytest

from tests.support.campaigns import ONCE, draft, driver_of, lease, people, started
from tests.support.service import Tenant

FAST: dict[str, Any] = {"retry_policy": ONCE, "max_concurrency": 100, "calls_per_second": 21.0, "ramp_up_seconds": 20}


async def dials(tenant: Tenant, deployment_id: str) -> list[datetime]:
    return sorted([call.created_at async for call in tenant.client.calls.list(deployment_id=deployment_id)])


@pytest.mark.requirement("STOP-08")
async def test_the_pace_grows_from_one_call_a_second(tenant: Tenant) -> None:
    made = await started(tenant, people(60, sim_outcome="busy"), **FAST)
    assert made.ramp_up_seconds == 20
    await lease(tenant, made.id, "wrk_test")
    await driver_of(tenant).drive(made.id)
    moments = await dials(tenant, made.id)
    gaps = [(after - before).total_seconds() for before, after in pairwise(moments)]
    assert gaps[0] in (0.0, 1.0, 2.0)  # moments are shown to the second
    seconds = [(moment - moments[0]).total_seconds() for moment in moments]
    assert sum(at <= 5 for at in seconds) < sum(5 < at <= 11 for at in seconds)
    assert 8 <= seconds[-1] <= 14


async def test_a_resume_begins_slowly_again(tenant: Tenant) -> None:
    made = await started(tenant, people(220, sim_outcome="busy"), **FAST)
    await lease(tenant, made.id, "wrk_test")
    await driver_of(tenant, rounds=1).drive(made.id)
    before = await dials(tenant, made.id)
    await tenant.client.deployments.pause(id=made.id)
    await tenant.client.deployments.resume(id=made.id)
    await driver_of(tenant).drive(made.id)
    after = [moment for moment in await dials(tenant, made.id) if moment > before[-1]]
    assert len(after) > 50
    assert sum((moment - after[0]).total_seconds() < 3 for moment in after) <= 12


async def test_a_preview_allows_for_the_time_of_growing(tenant: Tenant) -> None:
    made = await draft(tenant, people(200), max_concurrency=1_000, calls_per_second=20.0)
    before = (await tenant.client.deployments.preview(id=made.id)).estimated_minutes
    await tenant.client.deployments.update(id=made.id, ramp_up_seconds=600)
    after = (await tenant.client.deployments.preview(id=made.id)).estimated_minutes
    assert (before, after) == (0.2, 1.4)
