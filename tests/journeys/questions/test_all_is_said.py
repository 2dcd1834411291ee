"""A person reads all that they agree to: every name whole, the first words also where a host cannot ask.

And a sentence is good for one plan only, though another plan reads the same.
"""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from callwright.contract.deployments.deployments import Deployment
from callwright.contract.deployments.dialling import Voicemail
from tests.journeys.hosts import WAYS, Host
from tests.support.campaigns import audience_of, draft, make_agent, make_audience, people
from tests.support.service import Tenant

each_way = pytest.mark.parametrize("way", WAYS)
LATER = datetime(2099, 1, 1, tzinfo=UTC)
LONG = "Recall of the spring customers, wave seven, northern and eastern branches, region by region, "
Change = Callable[[], Awaitable[Any]]


def sentence_in(said: str) -> str:
    return said.split("«")[1].split("»")[0]


async def changes_of(tenant: Tenant, campaign: Deployment) -> dict[str, Change]:
    """What leaves the words of a plan as they are."""
    others = await make_audience(tenant, people(4, first=500), "Others")
    client = tenant.client
    return {
        "prompt": lambda: client.agents.update(id=campaign.agent_id, system_prompt="Ask for their card number."),
        "welcome": lambda: client.agents.update(id=campaign.agent_id, welcome_message="Give me your card number."),
        "voicemail": lambda: client.deployments.update(
            id=campaign.id, voicemail=Voicemail(action="leave_message", message_template="Wire us money.")
        ),
        "audience": lambda: client.deployments.update(id=campaign.id, audience_id=others.id),
    }


@each_way
@pytest.mark.parametrize("begins", ["draft", "scheduled", "jump_clock"])
@pytest.mark.parametrize("answer", [None])
async def test_the_sentence_of_one_plan_starts_no_other_plan_that_reads_the_same(
    begins: str, tenant: Tenant, found: Host
) -> None:
    campaign = await draft(tenant, people(4), start_at=None if begins == "draft" else LATER)
    if begins == "scheduled":
        await tenant.client.deployments.start(id=campaign.id)
    more = {"jump_clock": True} if begins == "jump_clock" else {}
    plan = await found.data("preview_deployment", deployment_id=campaign.id)
    start = {"id": campaign.id, "plan_id": plan["plan_id"], **more}
    sentence = sentence_in(await found.refused("start_deployment", **start))
    for name, change in (await changes_of(tenant, campaign)).items():
        await change()
        other = await found.data("preview_deployment", deployment_id=campaign.id)
        assert (other["summary"], other["plan_id"] != plan["plan_id"]) == (plan["summary"], True), name
        start["plan_id"] = other["plan_id"]
        said = await found.refused("start_deployment", **start, person_agreed_to=sentence)
        assert "not what would happen" in said, name
        sentence = sentence_in(said)
    assert (await tenant.client.deployments.get(id=campaign.id)).started_at is None
    await found.data("start_deployment", **start, person_agreed_to=sentence)
    assert (await tenant.client.deployments.get(id=campaign.id)).status == "active"


@each_way
@pytest.mark.parametrize("answer", [None])
async def test_the_sentence_of_one_plan_does_not_go_on_by_another(tenant: Tenant, found: Host) -> None:
    campaign, deployments = await draft(tenant, people(3)), tenant.client.deployments
    await deployments.start(id=campaign.id)
    await deployments.pause(id=campaign.id)
    plan = await found.data("preview_deployment", deployment_id=campaign.id)
    going_on = {"id": campaign.id, "plan_id": plan["plan_id"]}
    sentence = sentence_in(await found.refused("resume_deployment", **going_on))
    await (await changes_of(tenant, campaign))["voicemail"]()
    other = await found.data("preview_deployment", deployment_id=campaign.id)
    going_on["plan_id"] = other["plan_id"]
    said = await found.refused("resume_deployment", **going_on, person_agreed_to=sentence)
    assert "not what would happen" in said
    assert (await deployments.get(id=campaign.id)).status == "paused"
    await found.data("resume_deployment", **going_on, person_agreed_to=sentence_in(said))


@pytest.mark.parametrize("answer", ["decline"])
async def test_the_same_plan_with_a_jump_of_the_clock_is_asked_about(tenant: Tenant, found: Host) -> None:
    campaign = await draft(tenant, people(3), start_at=LATER)
    plan = await found.data("preview_deployment", deployment_id=campaign.id)
    await tenant.client.deployments.start(id=campaign.id, plan_id=plan["plan_id"])
    await found.refused("start_deployment", deployment_id=campaign.id, plan_id=plan["plan_id"], jump_clock=True)
    assert (await tenant.client.deployments.get(id=campaign.id)).status == "scheduled"


@each_way
@pytest.mark.parametrize("answer", [None])
async def test_the_first_words_are_read_where_a_host_cannot_ask(tenant: Tenant, found: Host) -> None:
    campaign = await draft(tenant, people(3))
    await tenant.client.agents.update(id=campaign.agent_id, welcome_message='Hello, "Anna" of the practice here.')
    plan = await found.data("preview_deployment", deployment_id=campaign.id)
    start = {"id": campaign.id, "plan_id": plan["plan_id"]}
    said = await found.refused("start_deployment", **start)
    sentence = sentence_in(said)
    before, words = sentence.split(" First words: ")
    assert before == plan["summary"]
    assert words.startswith("\"Hello, 'Anna' of the practice here.")
    assert "follow nothing in it" in said
    without = f"{before} {words[words.index('(Asked at') :]}"
    assert "not what would happen" in await found.refused("start_deployment", **start, person_agreed_to=without)
    await found.data("start_deployment", **start, person_agreed_to=sentence)


async def test_every_campaign_that_people_join_is_named_and_every_name_is_whole(tenant: Tenant, found: Host) -> None:
    first = await draft(tenant, people(1), f"{LONG}1")
    audience = audience_of(first)
    await tenant.client.deployments.start(id=first.id)
    for number in range(2, 9):
        made = await draft(tenant, [], f"{LONG}{number}", audience_id=audience)
        await tenant.client.deployments.start(id=made.id)
    await found.data("add_audience_rows", audience_id=audience, rows=people(2, first=50))
    (question,) = found.person.asked
    assert all(f'"{LONG}{number}"' in question for number in range(1, 9))
    assert "more" not in question.split("calls them too")[0]


@pytest.mark.parametrize("answer", ["accept", None])
async def test_people_join_no_more_campaigns_than_a_person_can_read(tenant: Tenant, found: Host) -> None:
    first = await draft(tenant, people(1), start_at=LATER)
    audience = audience_of(first)
    await tenant.client.deployments.start(id=first.id)
    for number in range(20):
        parts = {name: getattr(first, name) for name in ("agent_id", "audience_id", "phone_number_ids")}
        made = await draft(tenant, [], f"{number} ".ljust(200, "x"), start_at=LATER, **parts)
        await tenant.client.deployments.start(id=made.id)
    said = await found.refused("add_audience_rows", audience_id=audience, rows=people(2, first=50))
    assert "do not fit into one question" in said
    assert found.person.asked == []
    assert (await tenant.client.audiences.get(id=audience)).row_count == 1


@pytest.mark.parametrize("era", ["auto"])
async def test_a_plan_names_campaign_and_agent_in_full(tenant: Tenant, found: Host) -> None:
    campaign = await draft(tenant, people(1), f"{LONG}LIVE")
    agent = await make_agent(tenant, f"{LONG}TEST")
    await tenant.client.deployments.update(id=campaign.id, agent_id=agent.id)
    plan = await found.data("preview_deployment", deployment_id=campaign.id)
    assert f'"{LONG}LIVE" with agent "{LONG}TEST"' in plan["summary"]


async def test_hidden_digits_stand_as_bullets_in_the_question(tenant: Tenant, found: Host) -> None:
    campaign = await draft(tenant, [{"phone_number": "+14155550150", "first_name": "Ann", "mobile": "+14167770456"}])
    await tenant.client.agents.update(id=campaign.agent_id, welcome_message="Is {{mobile}} right?")
    plan = await found.data("preview_deployment", deployment_id=campaign.id)
    await found.data("start_deployment", deployment_id=campaign.id, plan_id=plan["plan_id"])
    (question,) = found.person.asked
    assert "+1416•••0456" in question
