"""What a person has said yes to is what happens, whatever somebody else does while they are being asked.

Two connections: the person's host, and the typed client, which changes things meanwhile. On both protocols, in memory,
over stdio and over HTTP.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import anyio
import pytest

from callwright.client import Client as TypedClient
from callwright.client.transport import ASGITransport
from callwright.contract.declaration.field_types import Spend
from callwright.contract.deployments.deployments import Deployment
from callwright.contract.deployments.dialling import RetryPolicy
from callwright.service.app import Application, pipeline_of
from callwright.service.platform.clock.clock import MINUTE
from tests.journeys.hosts import WAYS, Era, Host, Person, ScriptedClock, host
from tests.support.campaigns import audience_of, draft, make_agent, make_audience, people, rent
from tests.support.clock_set_by_test import MovableClock
from tests.support.service import BASE_URL, Tenant
from tests.support.tools.results import text_of

each_way = pytest.mark.parametrize("way", WAYS)
LARGE, ATTEMPTS = 200, 10


@dataclass(frozen=True)
class HostSession:
    """A service, a host with a person, and the time the tools live by."""

    tenant: Tenant
    host: Host
    clock: ScriptedClock

    @property
    def person(self) -> Person:
        return self.host.person

    async def calls(self) -> int:
        return (await self.tenant.client.calls.list(per_page=1)).pagination.total


@pytest.fixture
def found(tenant: Tenant, found: Host, clock: ScriptedClock) -> HostSession:
    """The host in front of the service."""
    return HostSession(tenant, found, clock)


@dataclass(frozen=True)
class Attack:
    """A campaign that can be made large and small."""

    tenant: Tenant
    campaign: Deployment
    large: str
    small: str

    async def grow(self) -> None:
        """200 people, 10 attempts, 90.00."""
        await self.tenant.client.deployments.update(
            id=self.campaign.id,
            audience_id=self.large,
            retry_policy=RetryPolicy(max_attempts=ATTEMPTS),
            budget_cap=Spend(amount="90.00"),
        )

    async def shrink(self) -> None:
        """1 person, 1 attempt, 0.10."""
        await self.tenant.client.deployments.update(
            id=self.campaign.id,
            audience_id=self.small,
            retry_policy=RetryPolicy(max_attempts=1),
            budget_cap=Spend(amount="0.10"),
        )


async def attack_on(tenant: Tenant) -> Attack:
    campaign = await draft(tenant, people(LARGE, sim_outcome="busy"))
    small = await make_audience(tenant, people(1, first=500), "One person")
    return Attack(tenant, campaign, audience_of(campaign), small.id)


@each_way
async def test_a_yes_to_one_person_never_starts_the_two_hundred_of_an_earlier_plan(found: HostSession) -> None:
    attack = await attack_on(found.tenant)
    await attack.grow()
    plan = await found.host.data("preview_deployment", deployment_id=attack.campaign.id)
    assert f"Call {LARGE} people" in plan["summary"]
    await attack.shrink()
    found.person.before_answer = attack.grow
    said = await found.host.refused("start_deployment", deployment_id=attack.campaign.id, plan_id=plan["plan_id"])
    assert "changed" in said
    assert "preview_deployment" in said
    assert found.person.asked == []  # a stale plan is refused before anybody is asked about other figures
    assert (await found.tenant.client.deployments.get(id=attack.campaign.id)).status == "draft"


@each_way
async def test_what_grows_while_the_question_stands_is_not_started(found: HostSession) -> None:
    attack = await attack_on(found.tenant)
    await attack.shrink()
    plan = await found.host.data("preview_deployment", deployment_id=attack.campaign.id)
    found.person.before_answer = attack.grow
    said = await found.host.refused("start_deployment", deployment_id=attack.campaign.id, plan_id=plan["plan_id"])
    assert "changed" in said
    assert "preview_deployment" in said
    assert [message.splitlines()[0] for message in found.person.asked] == [plan["summary"]]
    assert (await found.tenant.client.deployments.get(id=attack.campaign.id)).status == "draft"


@each_way
async def test_what_is_as_it_was_at_the_answer_is_started_as_it_was_shown(found: HostSession) -> None:
    attack = await attack_on(found.tenant)
    await attack.shrink()
    plan = await found.host.data("preview_deployment", deployment_id=attack.campaign.id)

    async def to_and_fro() -> None:
        await attack.grow()
        await attack.shrink()

    found.person.before_answer = to_and_fro
    await found.host.data("start_deployment", deployment_id=attack.campaign.id, plan_id=plan["plan_id"])
    started = await found.tenant.client.deployments.get(id=attack.campaign.id)
    assert (started.status, started.stats.contacts, started.plan_id) == ("active", 1, plan["plan_id"])
    assert len(found.person.asked) == 1


@each_way
async def test_a_campaign_that_was_made_larger_while_the_question_stood_does_not_go_on(found: HostSession) -> None:
    attack = await attack_on(found.tenant)
    await attack.shrink()
    await found.tenant.client.deployments.start(id=attack.campaign.id)
    await found.tenant.client.deployments.pause(id=attack.campaign.id)
    plan = await found.host.data("preview_deployment", deployment_id=attack.campaign.id)

    async def more_people() -> None:
        await found.tenant.client.audiences.add_rows(id=attack.small, rows=people(LARGE, first=600))

    found.person.before_answer = more_people
    said = await found.host.refused("resume_deployment", deployment_id=attack.campaign.id, plan_id=plan["plan_id"])
    assert "changed" in said
    paused = await found.tenant.client.deployments.get(id=attack.campaign.id)
    assert (paused.status, paused.stats.contacts, len(found.person.asked)) == ("paused", LARGE + 1, 1)
    found.person.asked.clear()
    said = await found.host.refused("resume_deployment", deployment_id=attack.campaign.id, plan_id=plan["plan_id"])
    assert "audience" in said
    assert found.person.asked == []


@each_way
@pytest.mark.parametrize("answer", [None])
async def test_the_sentence_of_another_moment_starts_nothing_where_nobody_can_be_asked(found: HostSession) -> None:
    attack = await attack_on(found.tenant)
    await attack.shrink()
    plan = await found.host.data("preview_deployment", deployment_id=attack.campaign.id)
    start = {"id": attack.campaign.id, "plan_id": plan["plan_id"]}
    refused = await found.host.refused("start_deployment", **start)
    assert plan["summary"] in refused
    sentence = refused.split("«")[1].split("»")[0]
    await attack.grow()
    said = await found.host.refused("start_deployment", **start, person_agreed_to=sentence)
    assert "changed" in said
    large = await found.host.data("preview_deployment", deployment_id=attack.campaign.id)
    other = {**start, "plan_id": large["plan_id"]}
    said = await found.host.refused("start_deployment", **other, person_agreed_to=sentence)
    assert "not what would happen" in said
    assert (await found.tenant.client.deployments.get(id=attack.campaign.id)).status == "draft"
    await attack.shrink()
    await found.host.data("start_deployment", **start, person_agreed_to=sentence)
    assert (await found.tenant.client.deployments.get(id=attack.campaign.id)).stats.contacts == 1


MINUTES = 60.0


@pytest.mark.parametrize("way", ["memory", "http"])
@pytest.mark.parametrize(("after_s", "starts"), [(9.9 * MINUTES, True), (10 * MINUTES, False), (60 * MINUTES, False)])
async def test_an_answer_counts_for_ten_minutes(after_s: float, starts: bool, found: HostSession) -> None:
    campaign = await draft(found.tenant, people(1, sim_outcome="busy"))
    plan = await found.host.data("preview_deployment", deployment_id=campaign.id)

    async def time_passes() -> None:
        found.clock.pass_by(after_s)
        await anyio.lowlevel.checkpoint()

    found.person.before_answer = time_passes
    result = await found.host.call("start_deployment", deployment_id=campaign.id, plan_id=plan["plan_id"])
    status = (await found.tenant.client.deployments.get(id=campaign.id)).status
    assert (result.is_error, status) == (not starts, "active" if starts else "draft"), text_of(result)
    if not starts:
        assert "not answered within 10 minutes" in text_of(result)
        assert "Call again" in text_of(result)


@each_way
async def test_a_change_is_not_made_to_a_campaign_that_has_become_something_else(found: HostSession) -> None:
    campaign = await draft(found.tenant, people(2, sim_outcome="busy"), "Small", calls_per_second=1.0)
    await found.tenant.client.deployments.start(id=campaign.id)

    async def renamed() -> None:
        await found.tenant.client.deployments.update(id=campaign.id, name="Large")

    found.person.before_answer = renamed
    said = await found.host.refused("update_deployment", deployment_id=campaign.id, calls_per_second=50.0)
    assert "changed" in said
    assert '"Large"' in said
    assert '"Small"' in found.person.asked[0]
    assert (await found.tenant.client.deployments.get(id=campaign.id)).calls_per_second == 1.0


@each_way
async def test_a_number_that_somebody_else_has_rented_meanwhile_costs_nothing(found: HostSession) -> None:
    free = await found.host.data("search_available_numbers", country="US", per_page=1)
    number = free["data"][0]["number"]

    async def taken() -> None:
        await found.tenant.client.phone_numbers.rent(country="US", number=number)

    found.person.before_answer = taken
    said = await found.host.refused("rent_phone_number", country="US", number=number)
    assert "search_available_numbers" in said
    assert len(found.person.asked) == 1
    assert (await found.tenant.client.phone_numbers.list()).pagination.total == 1


@each_way
async def test_another_agent_under_the_name_that_was_read_answers_nobody(found: HostSession) -> None:
    agent, number = await make_agent(found.tenant, "Anna"), await rent(found.tenant)

    async def renamed() -> None:
        await found.tenant.client.agents.update(id=agent.id, name="Eve")
        await make_agent(found.tenant, "Anna")

    found.person.before_answer = renamed
    # The agent by its name: at the answer the name is another agent's.
    said = await found.host.refused(
        "create_inbound_deployment", name="Desk", agent_id="Anna", phone_number_id=number.id
    )
    assert "changed" in said
    assert '"Anna"' in found.person.asked[0] or "Anna" in found.person.asked[0]
    assert (await found.tenant.client.phone_numbers.get(id=number.id)).inbound_deployment_id is None


@each_way
async def test_people_join_no_campaign_that_starts_while_the_question_stands(found: HostSession) -> None:
    first = await draft(found.tenant, people(1, sim_outcome="busy"), "First")
    audience = audience_of(first)
    second = await draft(found.tenant, [], "Second", audience_id=audience)
    await found.tenant.client.deployments.start(id=first.id)

    async def another_starts() -> None:
        await found.tenant.client.deployments.start(id=second.id)

    found.person.before_answer = another_starts
    said = await found.host.refused("add_audience_rows", audience_id=audience, rows=people(3, first=50))
    assert "changed" in said
    assert '"Second"' in said
    assert (await found.tenant.client.audiences.get(id=audience)).row_count == 1


async def test_an_answer_after_ten_minutes_over_stdio_starts_nothing(era: Era, tmp_path: Path, tenant: Tenant) -> None:
    async with host(tenant, tmp_path, "stdio", era, Person("accept"), late=True) as found:
        campaign = await draft(tenant, people(1, sim_outcome="busy"))
        plan = await found.data("preview_deployment", deployment_id=campaign.id)
        said = await found.refused("start_deployment", deployment_id=campaign.id, plan_id=plan["plan_id"])
        assert "not answered within 10 minutes" in said
        assert (await tenant.client.deployments.get(id=campaign.id)).status == "draft"


async def test_a_plan_that_expires_while_the_question_stands_starts_nothing(
    era: Era, tmp_path: Path, tenant: Tenant
) -> None:
    clock = MovableClock(tenant.service.services.clock.now_ms())
    services = replace(tenant.service.services, clock=clock)
    transport = ASGITransport(app=Application(services, pipeline_of(services)))
    async with TypedClient(BASE_URL, tenant.api_key, transport=transport) as client:
        moved = replace(tenant, client=client)
        person = Person("accept")
        async with host(moved, tmp_path, "memory", era, person, clock=ScriptedClock()) as found:
            campaign = await draft(moved, people(1, sim_outcome="busy"))
            plan = await found.data("preview_deployment", deployment_id=campaign.id)
            clock.move(10 * MINUTE)

            async def six_minutes_pass() -> None:
                clock.move(6 * MINUTE)

            person.before_answer = six_minutes_pass
            said = await found.refused("start_deployment", deployment_id=campaign.id, plan_id=plan["plan_id"])
            assert "15 minutes" in said
            assert "preview_deployment" in said
            assert len(person.asked) == 1
            assert (await client.deployments.get(id=campaign.id)).status == "draft"
            person.asked.clear()
            await found.refused("start_deployment", deployment_id=campaign.id, plan_id=plan["plan_id"])
            assert person.asked == []
