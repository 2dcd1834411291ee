"""What was confirmed is what is done, even if somebody changes it after the last look and before the request arrives.

The change is made at exactly that moment: a caller before the typed client makes it when the request of the operation
comes by. In both protocols, with a host that asks its person and with one that cannot.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from mcp.types import CallToolResult

from callwright.contract.declaration.field_types import Spend
from callwright.contract.deployments.deployments import Deployment
from callwright.contract.phone_numbers import PhoneNumber
from tests.journeys.hosts import Era, Host, Person, host
from tests.journeys.intercepted_caller import Change, InterceptedCaller
from tests.support.campaigns import audience_of, draft, make_agent, people, rent
from tests.support.prices import change_prices
from tests.support.service import Tenant
from tests.support.tools.results import text_of

asked_or_told = pytest.mark.parametrize("answer", ["accept", None])
FILE = "phone_number,first_name\n+14155550150,Ann\n+14155550151,Bob\n"


@dataclass(frozen=True)
class HostSession:
    """A service, an assistant with a person before it, and what happens on the way between."""

    tenant: Tenant
    host: Host
    caller: InterceptedCaller

    @property
    def asked(self) -> list[str]:
        return self.host.person.asked

    async def agreed(self, tool: str, /, **arguments: Any) -> CallToolResult:
        """Calls a tool; where the host cannot ask, once more with the sentence that the first answer holds."""
        result = await self.host.call(tool, **arguments)
        if self.host.person.answer is None and result.is_error and "«" in text_of(result):
            said = text_of(result).split("«")[1].split("»")[0]
            result = await self.host.call(tool, **arguments, person_agreed_to=said)
        return result

    async def too_late(self, tool: str, /, **arguments: Any) -> str:
        """Calls a tool that does nothing, because something changed; gives its words."""
        assert self.caller.operation
        result = await self.agreed(tool, **arguments)
        assert result.is_error, text_of(result)
        assert not self.caller.operation, "the request never came by"
        said = text_of(result)
        assert "nothing was" in said.lower()
        assert "again" in said
        return said


@pytest.fixture
def caller(tenant: Tenant) -> InterceptedCaller:
    return InterceptedCaller(tenant.client)


@pytest.fixture
def found(tenant: Tenant, found: Host, caller: InterceptedCaller) -> HostSession:
    """The host in front of the service."""
    return HostSession(tenant, found, caller)


async def campaign_of(found: HostSession, **fields: Any) -> Deployment:
    return await draft(found.tenant, people(2, sim_outcome="busy"), **fields)


@asked_or_told
async def test_a_running_campaign_that_became_something_else_is_not_changed(found: HostSession) -> None:
    campaign = await campaign_of(found, calls_per_second=1.0)
    deployments = found.tenant.client.deployments
    await deployments.start(id=campaign.id)
    found.caller.before(
        "update_deployment", lambda: deployments.update(id=campaign.id, budget_cap=Spend(amount="900.00"))
    )
    said = await found.too_late("update_deployment", deployment_id=campaign.id, calls_per_second=50.0)
    assert campaign.id in said
    assert (await deployments.get(id=campaign.id)).calls_per_second == 1.0
    done = await found.agreed("update_deployment", deployment_id=campaign.id, calls_per_second=50.0)
    assert not done.is_error, text_of(done)


@asked_or_told
async def test_a_draft_that_began_to_dial_meanwhile_is_not_made_faster_unasked(found: HostSession) -> None:
    campaign = await campaign_of(found, calls_per_second=1.0)
    deployments = found.tenant.client.deployments
    found.caller.before("update_deployment", lambda: deployments.start(id=campaign.id))
    await found.too_late("update_deployment", deployment_id=campaign.id, calls_per_second=50.0)
    running = await deployments.get(id=campaign.id)
    assert (running.status, running.calls_per_second, found.asked) == ("active", 1.0, [])


@pytest.mark.parametrize("answer", ["decline"])
async def test_a_name_and_notes_are_changed_whatever_else_changes(found: HostSession) -> None:
    campaign = await campaign_of(found)
    deployments = found.tenant.client.deployments
    found.caller.before("update_deployment", lambda: deployments.start(id=campaign.id))
    await found.host.data("update_deployment", deployment_id=campaign.id, name="Renamed")
    assert (await deployments.get(id=campaign.id)).name == "Renamed"


AGENT_CHANGES: dict[str, dict[str, Any]] = {
    "prompt": {"system_prompt": "Sell gold to everybody."},
    "voice": {"voice_id": "en-GB-olivia"},
    "greeting": {"welcome_message": "Buy gold."},
    "language": {"language": "en-GB"},
}


async def parts_of_a_desk(found: HostSession) -> tuple[str, PhoneNumber, dict[str, Any]]:
    agent, number = await make_agent(found.tenant, "Anna"), await rent(found.tenant)
    return agent.id, number, {"name": "Desk", "agent_id": agent.id, "phone_number_id": number.id}


@asked_or_told
@pytest.mark.parametrize("changed", AGENT_CHANGES)
async def test_an_agent_with_other_words_than_at_the_last_look_answers_nobody(changed: str, found: HostSession) -> None:
    agent_id, number, desk = await parts_of_a_desk(found)
    agents = found.tenant.client.agents
    found.caller.before("create_inbound_deployment", lambda: agents.update(id=agent_id, **AGENT_CHANGES[changed]))
    assert agent_id in await found.too_late("create_inbound_deployment", **desk)
    assert (await found.tenant.client.phone_numbers.get(id=number.id)).inbound_deployment_id is None


async def test_a_prompt_that_changes_while_the_person_reads_the_agents_name_answers_nobody(found: HostSession) -> None:
    agent_id, number, desk = await parts_of_a_desk(found)
    agents = found.tenant.client.agents

    async def rewritten() -> None:
        await agents.update(id=agent_id, system_prompt="Sell gold to everybody.")

    found.host.person.before_answer = rewritten
    said = await found.host.refused("create_inbound_deployment", **desk)
    assert "changed" in said
    assert (await found.tenant.client.phone_numbers.get(id=number.id)).inbound_deployment_id is None


@pytest.mark.parametrize("answer", [None])
async def test_the_sentence_of_an_agent_with_another_prompt_is_no_yes_where_nobody_can_be_asked(
    found: HostSession,
) -> None:
    agent_id, number, desk = await parts_of_a_desk(found)
    said = (await found.host.refused("create_inbound_deployment", **desk)).split("«")[1].split("»")[0]
    await found.tenant.client.agents.update(id=agent_id, system_prompt="Sell gold to everybody.")
    refused = await found.host.refused("create_inbound_deployment", **desk, person_agreed_to=said)
    assert "not what would happen" in refused
    assert (await found.tenant.client.phone_numbers.get(id=number.id)).inbound_deployment_id is None
    now = refused.split("«")[1].split("»")[0]
    await found.host.data("create_inbound_deployment", **desk, person_agreed_to=now)


async def paused_desk(found: HostSession) -> tuple[str, str]:
    agent_id, _, desk = await parts_of_a_desk(found)
    made = await found.tenant.client.deployments.create_inbound(**desk)
    await found.tenant.client.deployments.pause(id=made.id)
    return agent_id, made.id


@asked_or_told
@pytest.mark.parametrize("changed", ["agent", "settings"])
async def test_an_inbound_deployment_that_was_changed_does_not_go_on(changed: str, found: HostSession) -> None:
    agent_id, desk = await paused_desk(found)
    client = found.tenant.client
    changes: dict[str, Change] = {
        "agent": lambda: client.agents.update(id=agent_id, system_prompt="Sell gold to everybody."),
        "settings": lambda: client.deployments.update(id=desk, max_concurrency=500),
    }
    found.caller.before("resume_deployment", changes[changed])
    await found.too_late("resume_deployment", deployment_id=desk)
    assert (await client.deployments.get(id=desk)).status == "paused"
    done = await found.agreed("resume_deployment", deployment_id=desk)
    assert not done.is_error, text_of(done)
    assert (await client.deployments.get(id=desk)).status == "active"


@asked_or_told
async def test_a_deployment_that_was_paused_after_the_look_does_not_go_on_unasked(found: HostSession) -> None:
    _, desk = await paused_desk(found)
    deployments = found.tenant.client.deployments
    await deployments.resume(id=desk)
    found.caller.before("resume_deployment", lambda: deployments.pause(id=desk))
    await found.too_late("resume_deployment", deployment_id=desk)
    assert ((await deployments.get(id=desk)).status, found.asked) == ("paused", [])


@asked_or_told
@pytest.mark.parametrize("changed", ["price", "taken"])
async def test_a_number_that_is_dearer_or_gone_is_not_rented(
    changed: str, monkeypatch: pytest.MonkeyPatch, found: HostSession
) -> None:
    free = await found.host.data("search_available_numbers", country="US", per_page=1)
    number, numbers = free["data"][0]["number"], found.tenant.client.phone_numbers

    async def dearer() -> None:
        change_prices(monkeypatch, local=1_160_000)

    found.caller.before(
        "rent_phone_number", dearer if changed == "price" else lambda: numbers.rent(country="US", number=number)
    )
    if changed == "price":
        assert "1.16" in await found.too_late("rent_phone_number", country="US", number=number)
    else:
        refused = await found.agreed("rent_phone_number", country="US", number=number)
        assert "search_available_numbers" in text_of(refused)
    assert (await numbers.list()).pagination.total == (0 if changed == "price" else 1)


@pytest.mark.parametrize("answer", ["decline"])
async def test_a_renewal_is_asked_about_with_its_price_and_done_after_the_yes(found: HostSession) -> None:
    number = await found.tenant.client.phone_numbers.rent(country="US", auto_renew=False)
    said = await found.host.refused("update_phone_number", phone_number_id=number.id, auto_renew=True)
    assert "did not agree" in said
    assert found.asked == [f"Pay 1.15 USD a month for {number.number} every month until it is released."]
    assert not (await found.tenant.client.phone_numbers.get(id=number.id)).auto_renew
    found.host.person.answer = "accept"
    assert (await found.host.data("update_phone_number", phone_number_id=number.id, auto_renew=True))["auto_renew"]
    assert not (await found.host.data("update_phone_number", phone_number_id=number.id, auto_renew=False))["auto_renew"]
    assert len(found.asked) == 2


@asked_or_told
async def test_a_number_that_somebody_answers_by_now_is_not_renewed(found: HostSession) -> None:
    client = found.tenant.client
    number = await client.phone_numbers.rent(country="US", auto_renew=False)
    agent = await make_agent(found.tenant, "Anna")
    found.caller.before(
        "update_phone_number",
        lambda: client.deployments.create_inbound(name="Desk", agent_id=agent.id, phone_number_id=number.id),
    )
    assert number.id in await found.too_late("update_phone_number", phone_number_id=number.id, auto_renew=True)
    assert not (await client.phone_numbers.get(id=number.id)).auto_renew


@asked_or_told
async def test_a_renewal_that_somebody_has_ended_after_the_look_is_not_begun_unasked(found: HostSession) -> None:
    numbers = found.tenant.client.phone_numbers
    number = await numbers.rent(country="US")
    found.caller.before("update_phone_number", lambda: numbers.update(id=number.id, auto_renew=False))
    await found.too_late("update_phone_number", phone_number_id=number.id, auto_renew=True)
    assert (found.asked, (await numbers.get(id=number.id)).auto_renew) == ([], False)


JOINING: dict[str, dict[str, Any]] = {
    "add_audience_rows": {"rows": people(3, first=50)},
    "import_audience": {"csv": FILE, "wait_seconds": 0},
}


@asked_or_told
@pytest.mark.parametrize("tool", JOINING)
@pytest.mark.parametrize("running", [True, False])
async def test_people_join_no_campaign_that_starts_after_the_last_look(
    running: bool, tool: str, found: HostSession
) -> None:
    """Where one runs already, and where none did, so that nobody had to be asked."""
    client = found.tenant.client
    first = await campaign_of(found, name="First")
    audience = audience_of(first)
    second = await draft(found.tenant, [], "Second", audience_id=audience)
    if running:
        await client.deployments.start(id=first.id)
    found.caller.before(tool, lambda: client.deployments.start(id=second.id))
    assert audience in await found.too_late(tool, id=audience, **JOINING[tool])
    seen = await client.audiences.get(id=audience)
    assert (seen.row_count, seen.last_import_id) == (2, None)
    done = await found.agreed(tool, id=audience, **JOINING[tool])
    assert not done.is_error, text_of(done)


async def test_a_file_on_the_disk_joins_no_campaign_that_starts_after_the_last_look(
    era: Era, tenant: Tenant, caller: InterceptedCaller, tmp_path: Path
) -> None:
    files = tmp_path / "files"
    files.mkdir()
    (files / "people.csv").write_text(FILE, encoding="utf-8")
    async with host(tenant, tmp_path, "memory", era, Person("accept"), caller=caller, files=files) as connected:
        found = HostSession(tenant, connected, caller)
        client = found.tenant.client
        campaign = await campaign_of(found)
        audience = audience_of(campaign)
        found.caller.before("import_audience", lambda: client.deployments.start(id=campaign.id))
        await found.too_late("import_audience", audience_id=audience, path="people.csv", wait_seconds=0)
        assert (await client.audiences.get(id=audience)).last_import_id is None
        assert found.asked == []
        await found.host.data("import_audience", audience_id=audience, path="people.csv", wait_seconds=0)
        assert "Add 2 people" in found.asked[0]


async def test_people_join_a_campaign_that_went_on_calling_meanwhile(found: HostSession) -> None:
    """Rows, imports, calls and money of a campaign change all the time; none of that is what the person agreed to."""
    client = found.tenant.client
    campaign = await campaign_of(found)
    audience = audience_of(campaign)
    await client.deployments.start(id=campaign.id)

    async def more_people() -> None:
        await client.audiences.add_rows(id=audience, rows=people(1, first=90))
        await client.audiences.import_csv(id=audience, csv=FILE)

    found.caller.before("add_audience_rows", more_people)
    assert (await found.host.data("add_audience_rows", audience_id=audience, rows=people(3, first=50)))["added"] == 3


@pytest.mark.parametrize("answer", [None])
@pytest.mark.parametrize("era", ["auto"])
@pytest.mark.parametrize("confirm", ["never"])
async def test_where_the_host_asks_by_itself_nothing_is_held(found: HostSession) -> None:
    campaign = await campaign_of(found)
    deployments = found.tenant.client.deployments
    found.caller.before("update_deployment", lambda: deployments.start(id=campaign.id))
    await found.host.data("update_deployment", deployment_id=campaign.id, calls_per_second=5.0)
