import pytest

from callwright.contract.deployments.dialling import RetryPolicy
from tests.support.campaign_invariants import campaign_records, check_everything
from tests.support.campaigns import ONCE, people, run
from tests.support.service import Tenant

pytestmark = pytest.mark.service(workers=True)

ANY_REASON = RetryPolicy(
    max_attempts=4,
    interval_minutes=[60, 300],
    retry_on=["no_answer", "busy", "failed", "voicemail", "rejected", "short_call"],
    max_attempts_per_day=2,
)


@pytest.mark.requirement("SERV-02", "STATE-12", "STATE-28")
async def test_a_campaign_of_unsteered_people_keeps_every_rule(tenant: Tenant) -> None:
    ended = await run(tenant, people(120))
    assert (ended.status, ended.status_reason) == ("completed", "audience_exhausted")
    found = await campaign_records(tenant.database, ended.id)
    assert len(found.contacts) == 120
    assert {contact.status for contact in found.contacts} <= {"completed", "exhausted", "suppressed"}
    check_everything(found, RetryPolicy())


async def test_a_policy_that_retries_everything_is_kept_too(tenant: Tenant) -> None:
    ended = await run(tenant, people(80), retry_policy=ANY_REASON, max_concurrency=7, calls_per_second=0.5)
    found = await campaign_records(tenant.database, ended.id)
    assert max(contact.attempts for contact in found.contacts) == 4
    check_everything(found, ANY_REASON, lines=7, calls_per_second=0.5)


@pytest.mark.requirement("STATE-28")
async def test_one_line_makes_one_call_after_the_other(tenant: Tenant) -> None:
    ended = await run(tenant, people(12, sim_outcome="answered"), max_concurrency=1, retry_policy=ONCE)
    found = await campaign_records(tenant.database, ended.id)
    check_everything(found, ONCE, lines=1)
    assert ended.stats.completed == 12


async def test_the_pace_alone_spaces_calls_when_there_are_lines_enough(tenant: Tenant) -> None:
    ended = await run(
        tenant, people(40, sim_outcome="busy"), max_concurrency=50, calls_per_second=2.0, retry_policy=ONCE
    )
    found = await campaign_records(tenant.database, ended.id)
    check_everything(found, ONCE, lines=50, calls_per_second=2.0)
    moments = [call.created_at for call in found.calls]
    assert moments == [moments[0] + 500 * index for index in range(40)]


async def test_the_counters_callers_see_are_those_of_the_records(tenant: Tenant) -> None:
    outcomes = ["answered", "busy", "no_answer", "voicemail", "unreachable", "rejected", "invalid_number"]
    rows = [row for index, outcome in enumerate(outcomes) for row in people(2, first=index * 2, sim_outcome=outcome)]
    ended = await run(tenant, rows, retry_policy=ONCE)
    stats = ended.stats
    assert stats.outcomes == dict.fromkeys(outcomes, 2)
    assert (stats.contacts, stats.attempts, stats.answered, stats.voicemail) == (14, 14, 2, 2)
    assert (stats.completed, stats.exhausted, stats.pending, stats.in_flight) == (2, 12, 0, 0)
    listed = [call async for call in tenant.client.calls.list(deployment_id=ended.id)]
    assert len(listed) == 14
    contacts = [contact async for contact in tenant.client.deployments.list_contacts(id=ended.id)]
    assert {contact.last_call_id for contact in contacts} == {call.id for call in listed}
    found = await campaign_records(tenant.database, ended.id)
    assert stats.spend.amount == f"{found.deployment.spend_micros / 1e6:.6f}"


async def test_another_organization_sees_none_of_it(tenant: Tenant, other: Tenant) -> None:
    await run(tenant, people(3))
    assert (await other.client.calls.list()).pagination.total == 0
    assert (await other.client.deployments.list()).pagination.total == 0
    assert (await other.client.wallet.get()).balance.amount == "100.000000"
