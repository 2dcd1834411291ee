"""Whoever asks not to be called again is called by no campaign of the organization."""

from math import inf
from pathlib import Path
from shlex import quote
from typing import Any

import anyio
import pytest
from sqlalchemy import Connection, Row, insert, select, update

from callwright.client.errors import Conflict
from callwright.contract.deployments.dialling import RetryPolicy
from callwright.contract.deployments.previews import Preview
from callwright.service.dialling.eligibility import do_not_call as numbers
from callwright.service.platform.clock.clock import DAY
from callwright.service.rules.do_not_call.entries import NumberToList
from callwright.service.settings import ServiceSettings
from callwright.service.tables.ledger import wallet_of
from callwright.service.tables.schema import audit_log, calls, do_not_call, organizations
from tests.support.campaign_invariants import campaign_records, check_counters, check_dialled_once
from tests.support.campaigns import (
    Forgetful,
    Interrupted,
    audience_of,
    draft,
    driver_of,
    ended_by_workers,
    expire_leases,
    lease,
    make_agent,
    make_audience,
    people,
    phone,
    run,
    started,
)
from tests.support.deployments.plans import make_real
from tests.support.held_writes import write_held_open
from tests.support.service import Tenant, open_service

OPTS_OUT: dict[str, Any] = {"sim_outcome": "answered", "sim_intent": "opt_out"}
AGREES: dict[str, Any] = {"sim_outcome": "answered", "sim_intent": "yes"}


def mixed(*, opted: int, agreed: int) -> list[dict[str, Any]]:
    """People who opt out when they are called, then people who do not."""
    return people(opted, **OPTS_OUT) + people(agreed, first=opted, **AGREES)


def left_out(preview: Preview) -> dict[str, int]:
    return {group.reason: group.count for group in preview.blocked}


async def called(tenant: Tenant, deployment_id: str) -> set[str]:
    """The numbers a deployment has called."""
    found = await campaign_records(tenant.database, deployment_id)
    return {call.to_number for call in found.calls}


async def entries(tenant: Tenant) -> list[Row[Any]]:
    """The list of the organization, by number."""
    rows = select(do_not_call).where(do_not_call.c.org_id == tenant.org_id).order_by(do_not_call.c.number)
    return list(await tenant.database.read(lambda connection: connection.execute(rows).all()))


async def organization(tenant: Tenant) -> str:
    """The name of the organization in use."""
    named = select(organizations.c.name).where(organizations.c.id == tenant.org_id)
    return await tenant.database.read(lambda connection: connection.execute(named).scalar_one())


async def rename(tenant: Tenant, name: str) -> None:
    renamed = update(organizations).where(organizations.c.id == tenant.org_id).values(name=name)
    await tenant.database.write(lambda connection: connection.execute(renamed).rowcount)


async def put_on_list(tenant: Tenant, *numbers_: str, **values: Any) -> None:
    given = {"org_id": tenant.org_id, "simulated": True, "reason": "opted_out", "created_at": 1, **values}
    rows = [{"id": tenant.services.ids.new("dnc"), "number": number, **given} for number in numbers_]
    await tenant.database.write(lambda connection: connection.execute(insert(do_not_call), rows).rowcount)


@pytest.mark.requirement("RES-19")
@pytest.mark.service(workers=True)
async def test_an_opt_out_holds_in_every_later_campaign_and_the_preview_says_how_many_it_left_out(
    tenant: Tenant,
) -> None:
    first = await run(tenant, mixed(opted=3, agreed=4), "first")
    assert (first.stats.suppressed, first.stats.dispositions["do_not_call"]) == (3, 3)
    listed = await entries(tenant)
    assert [(one.number, one.simulated, one.reason) for one in listed] == [
        (phone(index), True, "opted_out") for index in range(3)
    ]
    found = await campaign_records(tenant.database, first.id)
    assert {one.source_call_id for one in listed} == {c.id for c in found.calls if c.disposition == "do_not_call"}

    later = await draft(tenant, mixed(opted=3, agreed=6), "later")
    seen = await tenant.client.deployments.preview(id=later.id)
    assert (seen.eligible, left_out(seen)) == (6, {"do_not_call": 3})
    assert ", leaving out 3 people on the do-not-call list, up to 3 attempts each" in seen.summary
    name = await organization(tenant)
    assert any(f"`callwright do-not-call clear --simulated --org {quote(name)}`" in s for s in seen.warnings)
    await rename(tenant, "default")
    as_default = (await tenant.client.deployments.preview(id=later.id)).warnings
    assert any("`callwright do-not-call clear --simulated`" in said for said in as_default)
    await rename(tenant, name)
    await tenant.client.deployments.start(id=later.id, plan_id=seen.plan_id)
    ended = await tenant.ended(later.id)
    assert (ended.stats.contacts, ended.stats.suppressed, ended.stats.completed) == (9, 3, 6)
    assert await called(tenant, later.id) == {phone(index) for index in range(3, 9)}
    shown = await tenant.client.deployments.list_contacts(id=later.id, status=["suppressed"])
    assert [(one.phone_number, one.status_reason, one.attempts) for one in shown.data] == [
        (phone(index), "do_not_call", 0) for index in range(3)
    ]
    check_counters(await campaign_records(tenant.database, later.id))


@pytest.mark.requirement("RES-34")
@pytest.mark.service(workers=True)
async def test_whoever_opts_out_after_the_preview_is_left_out_and_the_plan_holds_for_the_others(tenant: Tenant) -> None:
    later = await draft(tenant, people(3, **AGREES), "later")
    seen = await tenant.client.deployments.preview(id=later.id)
    assert seen.eligible == 3
    await run(tenant, people(1, **OPTS_OUT), "meanwhile")
    again = await tenant.client.deployments.preview(id=later.id, plan_id=seen.plan_id)
    assert (again.plan_id, again.eligible, left_out(again)) == (seen.plan_id, 2, {"do_not_call": 1})
    started = await tenant.client.deployments.start(id=later.id, plan_id=seen.plan_id)
    assert started.plan_id == seen.plan_id
    ended = await tenant.ended(later.id)
    assert (ended.stats.attempts, ended.stats.suppressed) == (2, 1)
    assert await called(tenant, later.id) == {phone(1), phone(2)}


@pytest.mark.requirement("RES-34")
@pytest.mark.service(workers=True)
async def test_a_list_that_is_cleared_after_the_preview_makes_its_plan_stale(tenant: Tenant) -> None:
    await run(tenant, mixed(opted=2, agreed=1), "first")
    later = await draft(tenant, mixed(opted=2, agreed=1), "later")
    seen = await tenant.client.deployments.preview(id=later.id)
    assert await tenant.database.write(numbers.clear_simulated, tenant.org_id) == 2
    with pytest.raises(Conflict) as caught:
        await tenant.client.deployments.start(id=later.id, plan_id=seen.plan_id)
    assert (caught.value.code, caught.value.details) == ("plan_stale", {"changed": ["do_not_call"]})
    assert caught.value.message == "the do-not-call list has changed since the preview"
    again = await tenant.client.deployments.preview(id=later.id)
    await tenant.client.deployments.start(id=later.id, plan_id=again.plan_id)
    assert (again.eligible, (await tenant.ended(later.id)).stats.attempts) == (3, 3)


@pytest.mark.parametrize("scale", [inf, 2_000.0])
async def test_an_opt_out_holds_at_once_in_a_campaign_that_runs(
    scale: float, database_url: str, tmp_path: Path
) -> None:
    settings = ServiceSettings(data=tmp_path, database_url=database_url, sim_time_scale=scale)
    async with open_service(database_url, tmp_path, workers=False, settings=settings) as tenant:
        other = await started(tenant, people(4, **AGREES), "other")
        own = await started(tenant, people(2, **OPTS_OUT), "own")
        await lease(tenant, own.id, "wrk_test")
        await driver_of(tenant).drive(own.id)
        await tenant.client.deployments.pause(id=other.id)
        seen = await tenant.client.deployments.preview(id=other.id)
        assert (seen.eligible, left_out(seen)) == (2, {"do_not_call": 2})
        await tenant.client.deployments.resume(id=other.id, plan_id=seen.plan_id)
        ended = await ended_by_workers(tenant, other.id)
        assert (ended.stats.suppressed, ended.stats.completed) == (2, 2)
        assert await called(tenant, other.id) == {phone(2), phone(3)}
        check_counters(await campaign_records(tenant.database, other.id))


@pytest.mark.service(workers=True, settings={"sim_time_scale": 5_000.0})
async def test_somebody_who_waits_for_a_retry_elsewhere_is_not_called_again(tenant: Tenant) -> None:
    policy = RetryPolicy(max_attempts=2, interval_minutes=[240], retry_on=["no_answer"])
    waits = await started(tenant, people(1, sim_outcome="no_answer"), "waits", retry_policy=policy)
    await waiting(tenant, waits.id, people_=1)
    await run(tenant, people(1, **OPTS_OUT), "asked")
    ended = await tenant.ended(waits.id)
    assert (ended.stats.attempts, ended.stats.suppressed) == (1, 1)
    check_counters(await campaign_records(tenant.database, waits.id))


async def waiting(tenant: Tenant, deployment_id: str, *, people_: int, within_s: float = 30.0) -> None:
    """Returns once so many people of a deployment wait for a retry."""
    with anyio.fail_after(within_s):
        while True:
            if (await tenant.client.deployments.get(id=deployment_id)).stats.retry_waiting >= people_:
                return
            await anyio.sleep(0.005)


@pytest.mark.service(workers=True)
async def test_a_number_that_is_there_twice_is_not_called_again_in_the_same_campaign(tenant: Tenant) -> None:
    audience = await make_audience(tenant, people(1, **OPTS_OUT) * 5 + people(2, first=1, **AGREES), dedupe="none")
    ended = await run(tenant, [], audience_id=audience.id)
    assert (ended.stats.contacts, ended.stats.suppressed, ended.stats.completed) == (7, 5, 2)
    found = await campaign_records(tenant.database, ended.id)
    assert sorted(call.to_number for call in found.calls) == [phone(0), phone(1), phone(2)]
    check_counters(found)


async def test_rows_that_join_a_running_campaign_are_left_out_too(tenant: Tenant) -> None:
    await put_on_list(tenant, phone(3), phone(4))
    made = await started(tenant, people(2, **AGREES))
    await tenant.client.audiences.add_rows(id=audience_of(made), rows=people(4, first=2, **AGREES))
    joined = await tenant.client.deployments.get(id=made.id)
    assert (joined.stats.contacts, joined.stats.pending, joined.stats.suppressed) == (6, 4, 2)
    await ended_by_workers(tenant, made.id)
    assert await called(tenant, made.id) == {phone(index) for index in (0, 1, 2, 5)}


ARGENTINE = ("+5491123456789", "+541123456789")
"""One line with the digit that stands before mobile numbers from abroad, and without it."""
NEIGHBOUR = "+5491123456780"


@pytest.mark.requirement("RES-19")
@pytest.mark.parametrize(("asked", "given"), [ARGENTINE, ARGENTINE[::-1]])
async def test_an_opt_out_holds_for_the_other_notation_of_the_same_line(asked: str, given: str, tenant: Tenant) -> None:
    (agrees,), (opts_out,) = people(1, **AGREES), people(1, **OPTS_OUT)
    rows = [{**agrees, "phone_number": number} for number in (given, NEIGHBOUR)]
    running = await started(tenant, rows, "running")
    own = await started(tenant, [{**opts_out, "phone_number": asked}], "own")
    await lease(tenant, own.id, "wrk_test")
    await driver_of(tenant).drive(own.id)
    assert [entry.number for entry in await entries(tenant)] == [asked]
    later = await draft(tenant, rows, "later")
    seen = await tenant.client.deployments.preview(id=later.id)
    assert (seen.eligible, left_out(seen)) == (1, {"do_not_call": 1})
    await ended_by_workers(tenant, running.id)
    assert await called(tenant, running.id) == {NEIGHBOUR}


@pytest.mark.service(workers=True)
async def test_an_opt_out_outlives_its_audience(tenant: Tenant) -> None:
    first = await run(tenant, people(1, **OPTS_OUT), "first")
    await tenant.client.audiences.delete(id=audience_of(first))
    later = await run(tenant, people(2, **AGREES), "later")
    assert await called(tenant, later.id) == {phone(1)}


@pytest.mark.service(workers=True)
async def test_a_simulated_campaign_obeys_both_lists_and_a_real_one_the_real_list_alone(tenant: Tenant) -> None:
    await put_on_list(tenant, phone(0), source_call_id="cal_x")
    await put_on_list(tenant, phone(1), simulated=False)
    simulated = await draft(tenant, people(3), "simulated")
    real = await draft(tenant, people(3), "real")
    await make_real(tenant, real.id)
    for made, listed in ((simulated, 2), (real, 1)):
        seen = await tenant.client.deployments.preview(id=made.id)
        assert (seen.eligible, left_out(seen)) == (3 - listed, {"do_not_call": listed})
    await tenant.client.deployments.start(id=simulated.id)
    await tenant.ended(simulated.id)
    assert await called(tenant, simulated.id) == {phone(2)}
    assert await tenant.database.write(numbers.clear_simulated, tenant.org_id) == 1
    assert (await tenant.client.deployments.preview(id=simulated.id)).blocked[0].count == 2
    assert [entry.number for entry in await entries(tenant)] == [phone(1)]


@pytest.mark.parametrize(
    "values",
    [{"simulated": False, "reason": "litigator"}, {"reason": "regulator"}, {"simulated": False}],
)
async def test_emptying_the_list_is_advised_only_where_all_left_out_opted_out_on_simulated_calls(
    values: dict[str, Any], tenant: Tenant
) -> None:
    await put_on_list(tenant, phone(0), source_call_id="cal_x")
    made = await draft(tenant, people(3))
    assert any("clear --simulated" in said for said in (await tenant.client.deployments.preview(id=made.id)).warnings)
    await put_on_list(tenant, phone(1), **values)
    warnings = (await tenant.client.deployments.preview(id=made.id)).warnings
    assert any("are on the do-not-call list; list_do_not_call says" in said for said in warnings)
    assert not any("clear" in said or "asked" in said for said in warnings)


@pytest.mark.service(workers=True)
async def test_an_opt_out_holds_in_its_own_organization_alone(other: Tenant, tenant: Tenant) -> None:
    await run(tenant, people(1, **OPTS_OUT))
    ended = await run(other, people(1, **AGREES))
    assert ended.stats.completed == 1


async def test_an_entry_holds_until_it_expires(tenant: Tenant) -> None:
    now_ms = tenant.services.clock.now_ms()
    await put_on_list(tenant, phone(0), expires_at=now_ms - 1)
    await put_on_list(tenant, phone(1), expires_at=now_ms + DAY)
    made = await draft(tenant, people(3))
    seen = await tenant.client.deployments.preview(id=made.id)
    assert (seen.eligible, left_out(seen)) == (2, {"do_not_call": 1})


@pytest.mark.service(workers=True)
async def test_who_opts_out_for_good_stays_on_the_list_when_an_entry_was_to_end(tenant: Tenant) -> None:
    now_ms = tenant.services.clock.now_ms()
    await put_on_list(tenant, phone(0), expires_at=now_ms - 1)
    await run(tenant, people(1, **OPTS_OUT))
    (entry,) = await entries(tenant)
    assert entry.expires_at is None
    assert entry.source_call_id is not None
    assert entry.created_at >= now_ms


@pytest.mark.service(workers=True, extra_dollars=100)
async def test_a_simulated_campaign_runs_again_exactly_once_its_opt_outs_are_cleared(tenant: Tenant) -> None:
    agent, audience = await make_agent(tenant), await make_audience(tenant, people(120))
    given = {"agent_id": agent.id, "audience_id": audience.id}

    async def what_happened(name: str) -> list[tuple[Any, ...]]:
        ended = await run(tenant, [], name, **given)
        found = await campaign_records(tenant.database, ended.id)
        begun = found.deployment.started_at
        return sorted(
            (c.to_number, c.attempt_number, c.outcome, c.duration_ms, c.created_at - begun) for c in found.calls
        )

    first = await what_happened("first")
    opted = {entry.number for entry in await entries(tenant)}
    assert opted
    assert {call[0] for call in await what_happened("second")} == {call[0] for call in first} - opted
    await put_on_list(tenant, phone(500), simulated=False)
    cleared = await tenant.database.write(numbers.clear_simulated, tenant.org_id)
    assert cleared == len(opted)
    assert [entry.number for entry in await entries(tenant)] == [phone(500)]
    assert await what_happened("third") == first


async def test_an_opt_out_is_written_with_its_call_or_not_at_all(tenant: Tenant) -> None:
    made = await started(tenant, people(3, **OPTS_OUT))
    await lease(tenant, made.id, "wrk_test")
    with pytest.raises(Interrupted):  # the calls were made, and their driver dies before it writes them down
        await driver_of(tenant, engine=Forgetful).drive(made.id)
    assert await entries(tenant) == []
    await expire_leases(tenant)
    await ended_by_workers(tenant, made.id)
    listed = await entries(tenant)
    assert [entry.number for entry in listed] == [phone(index) for index in range(3)]
    check_dialled_once(await campaign_records(tenant.database, made.id))
    entry_of = select(audit_log.c.subject).where(audit_log.c.action == "do_not_call.added")
    audited = await tenant.database.read(lambda connection: connection.execute(entry_of).scalars().all())
    assert sorted(audited) == sorted(entry.id for entry in listed)


async def test_an_opt_out_that_is_being_written_is_waited_for(tenant: Tenant) -> None:
    made = await started(tenant, people(2, **AGREES))
    services = tenant.services

    def ends(connection: Connection) -> None:
        """What the end of another campaign's call does: the wallet's lock, then the entry."""
        wallet_of(connection, tenant.org_id, lock=True)
        numbers.opt_out(
            connection, services.ids, tenant.org_id, {phone(0): "cal_x"}, simulated=True, now_ms=services.clock.now_ms()
        )

    async with write_held_open(services.database, ends) as tasks:
        await lease_later(tenant, made.id, tasks)
        await anyio.sleep(0.3)  # enough for a claim that does not wait
        open_ = select(calls.c.to_number).where(calls.c.deployment_id == made.id)
        assert await services.database.read(lambda connection: connection.execute(open_).scalars().all()) == []
    assert await called(tenant, made.id) == {phone(1)}


@pytest.mark.requirement("DNC-03")
async def test_a_claim_waits_for_an_entry_that_is_being_written(tenant: Tenant) -> None:
    """The entry takes the lock of the wallet, as a claim does: what is claimed afterwards sees it."""
    made = await started(tenant, people(2, **AGREES))
    services = tenant.services

    def adds(connection: Any) -> None:
        wanted = [NumberToList(phone(0), "requested")]
        numbers.list_numbers(
            connection,
            services.ids,
            tenant.org_id,
            wanted,
            simulated=True,
            now_ms=services.clock.now_ms(),
            key_id=None,
        )

    async with write_held_open(services.database, adds) as tasks:
        await lease_later(tenant, made.id, tasks)
    assert await called(tenant, made.id) == {phone(1)}


async def lease_later(tenant: Tenant, deployment_id: str, tasks: Any) -> None:
    """Begins to drive a deployment beside the test."""

    async def drive() -> None:
        await lease(tenant, deployment_id, "wrk_test")
        await driver_of(tenant).drive(deployment_id)

    tasks.start_soon(drive)
