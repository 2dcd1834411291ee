"""Numbers whose calls people end at once rest while a campaign has others; a number at its cap says when it goes on."""

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest

from callwright.contract.phone_numbers import PhoneNumber
from tests.support.campaigns import ONCE, calls_of, people, progressed, rent, started
from tests.support.scripted_network import driven
from tests.support.service import Tenant

TALKS: dict[str, Any] = {"sim_outcome": "answered", "sim_intent": "yes"}


async def worn(tenant: Tenant, *, short: int) -> PhoneNumber:
    """A number after twenty answered calls, so many of which ended at once."""
    number = await rent(tenant)
    made = await started(tenant, people(20, **TALKS), "First", phone_number_ids=[number.id], retry_policy=ONCE)
    await driven(tenant, made.id, short=range(short))
    return await tenant.client.phone_numbers.get(id=number.id)


async def callers(tenant: Tenant, numbers: list[PhoneNumber]) -> Counter[str]:
    """How many calls of a next campaign come from which number."""
    ids = [number.id for number in numbers]
    made = await started(tenant, people(10, first=100, **TALKS), "Next", phone_number_ids=ids, retry_policy=ONCE)
    await driven(tenant, made.id)
    return Counter(call.from_number for call in await calls_of(tenant, made.id))


@pytest.mark.requirement("STOP-11")
async def test_a_number_whose_calls_are_ended_at_once_rests_while_another_may_call(tenant: Tenant) -> None:
    tired, other = await worn(tenant, short=9), await rent(tenant)
    assert (tired.health, other.health) == ("resting", "good")
    assert await callers(tenant, [tired, other]) == {other.number: 10}
    shown = {number.id: number.health for number in (await tenant.client.phone_numbers.list()).data}
    assert shown == {tired.id: "resting", other.id: "good"}


async def test_two_short_calls_in_five_leave_a_number_in_use(tenant: Tenant) -> None:
    number, other = await worn(tenant, short=8), await rent(tenant)
    assert number.health == "good"
    assert await callers(tenant, [number, other]) == {number.number: 5, other.number: 5}


async def test_a_resting_number_calls_where_there_is_no_other(tenant: Tenant) -> None:
    tired = await worn(tenant, short=20)
    assert await callers(tenant, [tired]) == {tired.number: 10}


@pytest.mark.service(workers=True, settings={"sim_time_scale": 1_000.0})
async def test_a_campaign_whose_number_is_at_its_cap_says_when_it_goes_on(tenant: Tenant) -> None:
    number = await rent(tenant)
    await tenant.client.phone_numbers.update(id=number.id, max_calls_per_day=2)
    made = await started(tenant, people(3, **TALKS), phone_number_ids=[number.id], retry_policy=ONCE)
    await progressed(tenant, made.id, attempts=2)
    first = min(call.created_at for call in await calls_of(tenant, made.id))
    waiting = await tenant.client.deployments.get(id=made.id)
    assert (waiting.status, waiting.next_dial_at) == ("active", first + timedelta(hours=24))
    assert waiting.waits_for == "phone_number.max_calls_per_day"
