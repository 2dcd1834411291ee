"""The person's yes, through the official client and the real service: what is dialled is what they agreed to.

The setting `always` asks on the simulated network as it would where telephones ring.
"""

import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, cast

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR, CallToolResult, ElicitRequestFormParams, ElicitResult, ErrorData

from callwright.contract.declaration.field_types import Spend
from callwright.contract.deployments.deployments import Deployment, StartDeployment, start_deployment
from callwright.contract.deployments.dialling import RetryPolicy
from callwright.server.mcp.app import build
from callwright.server.mcp.session import ServerSession, SystemClock
from callwright.tools.runtime.tool_context import Caller, ConfirmMode
from tests.support.campaigns import audience_of, draft, make_agent, people, rent
from tests.support.fixtures import held
from tests.support.garbage import largest_garbage, uncollected
from tests.support.service import Tenant
from tests.support.tools.results import text_of

Era = Literal["legacy", "auto"]
pytestmark = pytest.mark.service(workers=True)
PEOPLE = 3
ONCE = RetryPolicy(max_attempts=1)


@dataclass
class Person:
    """Somebody in front of a host that can ask. `answer` is what they do; None stands for a host that cannot ask."""

    answer: Literal["accept", "refuse", "decline", "cancel", "break off"] | None
    asked: list[str] = field(default_factory=list[str])

    async def __call__(self, context: Any, params: Any) -> ElicitResult | ErrorData:
        assert isinstance(params, ElicitRequestFormParams)
        self.asked.append(params.message)
        if self.answer in ("accept", "refuse"):
            return ElicitResult(action="accept", content={"agree": self.answer == "accept"})
        if self.answer == "break off":
            return ErrorData(code=INTERNAL_ERROR, message="the window was closed")
        return ElicitResult(action=cast("Any", self.answer))


@dataclass(frozen=True)
class HostSession:
    """A campaign that is ready, and an assistant with a person behind it."""

    tenant: Tenant
    client: Client
    person: Person
    campaign: Deployment

    async def call(self, tool: str, **arguments: Any) -> CallToolResult:
        with anyio.fail_after(30):
            return await self.client.call_tool(tool, arguments)

    async def plan(self) -> dict[str, Any]:
        found = await self.call("preview_deployment", deployment_id=self.campaign.id)
        return cast("dict[str, Any]", found.structured_content)

    async def dialled(self) -> int:
        """The calls there are, once the campaign rests."""
        await self.tenant.ended(self.campaign.id)
        return (await self.tenant.client.calls.list(per_page=200)).pagination.total


@pytest.fixture
async def found(tenant: Tenant, era: Era, answer: Any, confirm: ConfirmMode) -> AsyncGenerator[HostSession]:
    """A client of the tools, whose person is asked about a campaign."""

    @asynccontextmanager
    async def connect() -> AsyncGenerator[Caller]:
        yield tenant.client

    ids = iter(range(1_000_000))
    session = ServerSession(
        connect, ids=lambda: f"id{next(ids):030}", clock=SystemClock(), base_url=None, confirm=confirm
    )
    person = Person(answer)
    campaign = await draft(tenant, people(PEOPLE, sim_outcome="busy"), retry_policy=ONCE)
    asks = None if answer is None else person
    async with held(Client(build(session.opened), mode=era, elicitation_callback=asks)) as client:
        yield HostSession(tenant, client, person, campaign)


async def test_what_the_person_accepts_is_dialled_and_they_saw_the_plan(found: HostSession) -> None:
    plan = await found.plan()
    started = await found.call("start_deployment", deployment_id=found.campaign.id, plan_id=plan["plan_id"])
    assert not started.is_error, text_of(started)
    assert await found.dialled() == PEOPLE
    assert [message.splitlines()[0] for message in found.person.asked] == [plan["summary"]]
    assert "Hello Person 0" in found.person.asked[0]
    again = await found.call("start_deployment", deployment_id=found.campaign.id, plan_id=plan["plan_id"])
    assert not again.is_error, text_of(again)
    assert await found.dialled() == PEOPLE
    assert len(found.person.asked) == 1


async def test_the_person_reads_the_very_words_that_are_spoken_first(found: HostSession) -> None:
    agent = await make_agent(found.tenant, "Plain", welcome_message="Hi {{first_name}}. Is now a good time?")
    rows = people(3, sim_outcome="answered", sim_intent="yes")
    made = await draft(found.tenant, rows, "Plain words", agent_id=agent.id, retry_policy=ONCE, max_concurrency=1)
    shown = await found.call("preview_deployment", deployment_id=made.id)
    plan = cast("dict[str, Any]", shown.structured_content)
    started = await found.call("start_deployment", deployment_id=made.id, plan_id=plan["plan_id"])
    assert not started.is_error, text_of(started)
    await found.tenant.ended(made.id)
    first = (await found.tenant.client.calls.list(deployment_id=made.id, sort="created_at")).data[0]
    spoken = (await found.tenant.client.calls.get_transcript(call_uuid=first.id)).turns[0].text
    assert spoken not in ("", "Hi Person 0. Is now a good time?")  # the disclosure is in it
    assert found.person.asked[0].splitlines()[1] == f'First words: "{spoken}"'
    assert plan["greeting"] == spoken
    assert spoken in text_of(shown)


@pytest.mark.parametrize("answer", ["decline", "cancel", "refuse"])
async def test_what_the_person_does_not_accept_dials_nobody(found: HostSession) -> None:
    plan = await found.plan()
    refused = await found.call("start_deployment", deployment_id=found.campaign.id, plan_id=plan["plan_id"])
    assert refused.is_error
    assert "did not agree" in text_of(refused)
    assert await found.dialled() == 0
    assert (await found.tenant.client.deployments.get(id=found.campaign.id)).status == "draft"


@pytest.mark.parametrize("answer", ["break off"])
async def test_a_question_that_fails_leaves_no_message_to_the_garbage_collector(found: HostSession) -> None:
    large = {"extra": ["x"] * 20_000}
    start = {"id": found.campaign.id, "plan_id": (await found.plan())["plan_id"]}
    with uncollected():
        with suppress(MCPError):
            await found.client.call_tool("start_deployment", start, meta=cast("Any", large))
        assert largest_garbage() < sys.getsizeof(large["extra"])
    assert len(found.person.asked) == 1


@pytest.mark.parametrize("answer", [None])
async def test_where_nobody_can_be_asked_the_words_of_the_plan_are_needed(found: HostSession) -> None:
    plan = await found.plan()
    start = {"id": found.campaign.id, "plan_id": plan["plan_id"]}
    unsaid = await found.call("start_deployment", **start)
    assert unsaid.is_error
    assert plan["summary"] in text_of(unsaid)
    other = await found.call("start_deployment", **start, person_agreed_to="Call 2 people.")
    assert other.is_error
    assert "not what would happen" in text_of(other)
    assert await found.dialled() == 0
    unmarked = await found.call("start_deployment", **start, person_agreed_to=plan["summary"])
    assert "not what would happen" in text_of(unmarked)
    sentence = text_of(unmarked).split("«")[1].split("»")[0]
    said = await found.call("start_deployment", **start, person_agreed_to=sentence)
    assert not said.is_error, text_of(said)
    assert await found.dialled() == PEOPLE


async def test_without_a_plan_nobody_is_asked_and_nobody_dialled(found: HostSession) -> None:
    refused = await found.call("start_deployment", deployment_id=found.campaign.id)
    assert refused.is_error
    assert "preview_deployment" in text_of(refused)
    eager = await found.call(
        "create_deployment",
        name="At once",
        agent_id=found.campaign.agent_id,
        audience_id=found.campaign.audience_id,
        phone_number_ids=found.campaign.phone_number_ids,
        auto_start=True,
    )
    assert eager.is_error
    assert "auto_start" in text_of(eager)
    assert (await found.dialled(), found.person.asked) == (0, [])


async def _more_people(tenant: Tenant, campaign: Deployment) -> None:
    await tenant.client.audiences.add_rows(id=audience_of(campaign), rows=people(1, first=50))


async def _another_prompt(tenant: Tenant, campaign: Deployment) -> None:
    await tenant.client.agents.update(id=campaign.agent_id, welcome_message="Hello {{first_name}}, buy this now.")


async def _another_number(tenant: Tenant, campaign: Deployment) -> None:
    await tenant.client.deployments.update(id=campaign.id, phone_number_ids=[(await rent(tenant)).id])


async def _another_window(tenant: Tenant, campaign: Deployment) -> None:
    await tenant.client.deployments.update(id=campaign.id, end_at=datetime(2099, 1, 1, tzinfo=UTC))


async def _more_attempts(tenant: Tenant, campaign: Deployment) -> None:
    await tenant.client.deployments.update(id=campaign.id, retry_policy=RetryPolicy(max_attempts=5))


async def _another_cap(tenant: Tenant, campaign: Deployment) -> None:
    await tenant.client.deployments.update(id=campaign.id, budget_cap=Spend(amount="99.00"))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (_more_people, "audience"),
        (_another_prompt, "agent"),
        (_another_number, "number"),
        (_another_window, "time"),
        (_more_attempts, "retr"),
        (_another_cap, "budget"),
    ],
)
@pytest.mark.parametrize("era", ["auto"])
async def test_a_plan_of_which_a_part_has_changed_dials_nobody_and_names_the_part(
    change: Callable[[Tenant, Deployment], Any], named: str, found: HostSession
) -> None:
    plan = await found.plan()
    await change(found.tenant, found.campaign)
    stale = await found.call("start_deployment", deployment_id=found.campaign.id, plan_id=plan["plan_id"])
    assert stale.is_error
    assert named in text_of(stale).lower()
    assert "preview_deployment" in text_of(stale)
    assert await found.dialled() == 0


@pytest.mark.parametrize("answer", ["decline"])
async def test_renting_a_number_asks_with_its_price(found: HostSession) -> None:
    free = await found.call("search_available_numbers", country="US", per_page=1)
    number = cast("dict[str, Any]", free.structured_content)["data"][0]["number"]
    before = await found.tenant.client.wallet.get()
    any_number = await found.call("rent_phone_number", country="US")
    assert "search_available_numbers" in text_of(any_number)
    refused = await found.call("rent_phone_number", country="US", number=number)
    assert refused.is_error
    assert found.person.asked == [f"Rent {number} for 1.15 USD a month now and every month until it is released."]
    found.person.answer = "accept"
    rented = await found.call("rent_phone_number", country="US", number=number, auto_renew=False)
    assert not rented.is_error, text_of(rented)
    after = await found.tenant.client.wallet.get()
    assert float(before.balance.amount) - float(after.balance.amount) == pytest.approx(1.15)
    number_id = cast("dict[str, Any]", rented.structured_content)["id"]
    found.person.answer = "decline"
    renewed = await found.call("update_phone_number", phone_number_id=number_id, auto_renew=True)
    assert renewed.is_error
    assert "every month" in found.person.asked[-1]


@pytest.mark.parametrize("answer", ["decline"])
@pytest.mark.service(workers=False)
async def test_letting_callers_in_is_asked_about_with_the_agent_and_the_number(found: HostSession) -> None:
    agent, number = await make_agent(found.tenant, "Eve"), await rent(found.tenant)
    given = {"name": "Desk", "agent_id": agent.id, "phone_number_id": number.id}
    refused = await found.call("create_inbound_deployment", **given)
    assert "did not agree" in text_of(refused)
    assert f'Let the agent "Eve" answer everybody who calls {number.number}, at any hour, ' in found.person.asked[0]
    assert (await found.tenant.client.phone_numbers.get(id=number.id)).inbound_deployment_id is None
    found.person.answer = "accept"
    made = await found.call("create_inbound_deployment", **given)
    assert not made.is_error, text_of(made)
    deployment_id = cast("dict[str, Any]", made.structured_content)["id"]
    found.person.answer = "decline"
    assert (await found.call("update_deployment", deployment_id=deployment_id, max_concurrency=20)).is_error
    assert 'the active inbound deployment "Desk", which answers people: max_concurrency 20' in found.person.asked[2]
    for tool, asks in (("pause_deployment", 3), ("resume_deployment", 4), ("cancel_deployment", 4)):
        done = await found.call(tool, id=deployment_id)
        assert (done.is_error, len(found.person.asked)) == (tool == "resume_deployment", asks), text_of(done)
    assert found.person.asked[3] == found.person.asked[0]


@pytest.mark.parametrize("answer", ["decline"])
@pytest.mark.service(workers=False)
async def test_stopping_is_never_asked_about_and_going_on_is(found: HostSession) -> None:
    # Nobody drives: simulated time would be at the start of "Later" at once.
    later = await draft(
        found.tenant, people(2, first=80), "Later", start_at=datetime(2099, 1, 1, tzinfo=UTC), retry_policy=ONCE
    )
    await found.tenant.client.deployments.start(id=later.id)
    faster = await found.call("update_deployment", deployment_id=later.id, calls_per_second=50.0)
    assert faster.is_error
    joined = await found.call("add_audience_rows", audience_id=later.audience_id, rows=people(1, first=90))
    assert joined.is_error
    assert len(found.person.asked) == 2
    assert '"Later"' in found.person.asked[0]
    assert "Add 1 person to" in found.person.asked[1]
    paused = await found.call("pause_deployment", deployment_id=later.id)
    assert not paused.is_error, text_of(paused)
    plan = cast("dict[str, Any]", (await found.call("preview_deployment", deployment_id=later.id)).structured_content)
    resumed = await found.call("resume_deployment", deployment_id=later.id, plan_id=plan["plan_id"])
    assert resumed.is_error
    cancelled = await found.call("cancel_deployment", deployment_id=later.id)
    assert not cancelled.is_error, text_of(cancelled)
    assert len(found.person.asked) == 3
    assert await found.dialled() == 0


@pytest.mark.parametrize("era", ["auto"])
@pytest.mark.service(workers=False)
async def test_starting_a_scheduled_campaign_again_begins_nothing_unless_the_person_agrees_to_begin_at_once(
    found: HostSession,
) -> None:
    start_at = datetime(2099, 1, 1, tzinfo=UTC)
    later = await draft(found.tenant, people(2, first=80), "Later", start_at=start_at, retry_policy=ONCE)
    await found.tenant.client.deployments.start(id=later.id)
    again = await found.call("start_deployment", deployment_id=later.id)
    assert "begins by itself at 2099-01-01 00:00Z: nothing more is needed" in text_of(again)
    told = text_of(await found.call("get_deployment", deployment_id=later.id))
    assert "it begins by itself at 2099-01-01 00:00Z." in told
    assert (await found.tenant.client.deployments.get(id=later.id)).status == "scheduled"
    assert found.person.asked == []
    plan = cast("dict[str, Any]", (await found.call("preview_deployment", deployment_id=later.id)).structured_content)
    begun = await found.call("start_deployment", deployment_id=later.id, plan_id=plan["plan_id"])
    assert not begun.is_error, text_of(begun)
    assert "BEGINNING AT ONCE instead of at 2099-01-01 00:00 UTC" in found.person.asked[0]
    assert (await found.tenant.client.deployments.get(id=later.id)).status == "active"


@pytest.mark.parametrize("confirm", ["real", "never"])
@pytest.mark.parametrize("answer", ["decline"])
@pytest.mark.parametrize("era", ["auto"])
async def test_on_the_simulated_network_nobody_is_asked_unless_it_is_wanted(
    confirm: ConfirmMode, found: HostSession
) -> None:
    started = await found.call("start_deployment", deployment_id=found.campaign.id)
    assert not started.is_error, text_of(started)
    assert (await found.dialled(), found.person.asked) == (PEOPLE, [])


@pytest.mark.parametrize("answer", [None])
@pytest.mark.parametrize("era", ["auto"])
@pytest.mark.parametrize("confirm", ["real"])
async def test_after_a_lost_answer_the_key_says_whether_it_dialled(found: HostSession) -> None:
    await found.tenant.client.ask(start_deployment, StartDeployment(id=found.campaign.id), idempotency_key="lost-1")
    seen = await found.call("get_deployment", idempotency_key="lost-1")
    assert cast("dict[str, Any]", seen.structured_content)["id"] == found.campaign.id
    never = await found.call("get_deployment", idempotency_key="lost-2")
    assert never.is_error
    assert "dialled nobody" in text_of(never)
    neither = await found.call("get_deployment")
    assert neither.is_error
    assert "id: required" in text_of(neither)


@pytest.mark.parametrize("era", ["auto"])
async def test_an_agent_of_another_name_is_never_taken_for_consent(found: HostSession) -> None:
    """The sentence is made of what the service says now, not of what the caller claims."""
    agent = await make_agent(found.tenant, "Eve")
    plan = await found.plan()
    await found.tenant.client.deployments.update(id=found.campaign.id, agent_id=agent.id)
    stale = await found.call("start_deployment", deployment_id=found.campaign.id, plan_id=plan["plan_id"])
    assert stale.is_error
    assert found.person.asked == []
    assert await found.dialled() == 0
