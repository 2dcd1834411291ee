"""The overview of an organization, over the typed client on both engines."""

from callwright.contract.overview import MOST_SHOWN
from tests.support import resources
from tests.support.campaigns import draft, people, started
from tests.support.resources import inbound, inbound_number
from tests.support.service import Tenant


async def test_an_organization_without_anything_has_money_and_limits_and_nothing_else(tenant: Tenant) -> None:
    found = await tenant.client.overview.get()
    assert (found.organization, found.network, found.calls_under_way) == ("tests", "simulated", 0)
    for part in (found.agents, found.audiences, found.phone_numbers, found.deployments):
        assert part.total == 0
    assert (found.agents.newest, found.audiences.newest, found.phone_numbers.newest) == ([], [], [])
    assert (found.deployments.running, found.deployments.shown) == (0, [])
    wallet = await tenant.client.wallet.get()
    assert (found.wallet.available, found.wallet.reserved) == (wallet.available, wallet.reserved)
    assert (found.wallet.play_money, found.wallet.low_balance) == (True, False)
    assert (found.limits.plan, found.limits.recording_retention_days) == ("enterprise", 90)


async def test_running_campaigns_come_first_then_the_newest_and_each_is_counted(tenant: Tenant) -> None:
    running = await started(tenant, people(3), "Running")
    drafts = [await draft(tenant, people(1, first=10 * index), f"Draft {index}") for index in range(1, 7)]
    found = (await tenant.client.overview.get()).deployments
    assert (found.total, found.running, len(found.shown)) == (7, 1, MOST_SHOWN)
    assert [one.id for one in found.shown] == [running.id, *(made.id for made in reversed(drafts[2:]))]
    first = found.shown[0]
    assert (first.name, first.status, first.call_type, first.contacts, first.ended) == (
        *("Running", "active", "outbound", 3, 0),
    )
    await tenant.client.deployments.pause(id=running.id)
    later = (await tenant.client.overview.get()).deployments
    assert later.running == 0
    assert running.id not in [one.id for one in later.shown]


async def test_the_newest_of_each_kind_are_shown_and_all_are_counted(tenant: Tenant) -> None:
    agents = [await resources.agent(tenant, f"Agent {index}") for index in range(MOST_SHOWN + 2)]
    lists = [await resources.audience(tenant, f"List {index}") for index in range(2)]
    found = await tenant.client.overview.get()
    assert found.agents.total == len(agents)
    assert [(one.id, one.name, one.language) for one in found.agents.newest] == [
        (made.id, made.name, "en-US") for made in reversed(agents[2:])
    ]
    assert [(one.id, one.name, one.people) for one in found.audiences.newest] == [
        (made.id, made.name, 1) for made in reversed(lists)
    ]


async def test_numbers_name_what_answers_them_and_released_ones_are_left_out(tenant: Tenant) -> None:
    bound = await inbound(tenant, "Reception")
    silent, gone = await resources.number(tenant), await resources.number(tenant)
    await tenant.client.phone_numbers.release(id=gone.id)
    found = (await tenant.client.overview.get()).phone_numbers
    assert found.total == 2
    assert {one.id: one.answered_by for one in found.newest} == {inbound_number(bound): bound.id, silent.id: None}
    assert {one.number for one in found.newest} >= {silent.number}


async def test_what_is_held_back_for_calls_is_not_available(tenant: Tenant) -> None:
    before = await tenant.client.overview.get()
    await tenant.client.phone_numbers.rent(country="US")
    after = await tenant.client.overview.get()
    assert float(after.wallet.available.amount) < float(before.wallet.available.amount)
    wallet = await tenant.client.wallet.get()
    assert (after.wallet.available, after.wallet.reserved) == (wallet.available, wallet.reserved)


async def test_another_organization_sees_nothing_of_it(tenant: Tenant, other: Tenant) -> None:
    await started(tenant, people(2), "Mine")
    found = await other.client.overview.get()
    assert (found.deployments.total, found.agents.total, found.audiences.total, found.phone_numbers.total) == (
        *(0, 0, 0, 0),
    )
