"""One yes is good for one thing: the same answer, or where a host cannot ask the same sentence, does nothing more.

On the newer protocol the client speaks by itself, so that it can carry the same sealed state and the same answer as
often as it likes, as a program between the person and the server may.
"""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from mcp.types import CallToolResult, ElicitResult, InputRequiredResult

from callwright.client.errors import ServiceTimeout
from callwright.contract.declaration.field_types import Spend
from callwright.contract.declaration.operation import Operation
from callwright.service.handlers import phone_numbers
from callwright.service.platform.clock.clock import DAY
from tests.journeys.hosts import Era, Host, Person, ScriptedClock, host
from tests.journeys.intercepted_caller import InterceptedCaller
from tests.support.campaigns import draft, people, rent
from tests.support.fixtures import held
from tests.support.mcp.over_http import serving
from tests.support.service import Tenant
from tests.support.tools.results import text_of

LATER = datetime(2099, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Replayer:
    """A client that keeps a yes and gives it again."""

    tenant: Tenant
    host: Host

    async def asked(self, tool: str, arguments: dict[str, Any]) -> str:
        """Calls a tool until the question; gives the sealed state."""
        result = await self.host.client.session.call_tool(tool, arguments, allow_input_required=True)
        assert isinstance(result, InputRequiredResult)
        assert result.request_state is not None
        return result.request_state

    async def answered(self, tool: str, arguments: dict[str, Any], state: str, agree: Any = True) -> CallToolResult:
        """Gives an answer to the question of that state."""
        answer = ElicitResult(action="accept", content={"agree": agree})
        result = await self.host.client.session.call_tool(
            tool, arguments, input_responses={"agreement": answer}, request_state=state, allow_input_required=True
        )
        return cast("CallToolResult", result)


@pytest.fixture
async def replayer(tenant: Tenant, tmp_path: Path) -> AsyncGenerator[Replayer]:
    """A host whose answers can be given again, with a folder from which tools may read."""
    files = tmp_path / "files"
    files.mkdir()
    async with held(host(tenant, tmp_path, "memory", "auto", Person("accept"), files=files)) as connected:
        yield Replayer(tenant, connected)


async def calling_audience(tenant: Tenant, **fields: Any) -> tuple[str, str]:
    """A campaign that calls whoever joins its audience, which takes the same person twice."""
    audience = await tenant.client.audiences.create(name="Doubles", dedupe="none", rows=people(1))
    campaign = await draft(tenant, [], audience_id=audience.id, start_at=LATER, **fields)
    await tenant.client.deployments.start(id=campaign.id)
    return audience.id, campaign.id


async def test_one_yes_adds_a_person_once_and_the_same_answer_again_gets_the_first_result(replayer: Replayer) -> None:
    audience, _ = await calling_audience(replayer.tenant)
    adding = {"id": audience, "rows": people(1, first=50)}
    state = await replayer.asked("add_audience_rows", adding)
    said = [await replayer.answered("add_audience_rows", adding, state) for _ in range(4)]
    assert not any(one.is_error for one in said), text_of(said[0])
    assert all(one.structured_content == said[0].structured_content for one in said)
    assert (await replayer.tenant.client.audiences.get(id=audience)).row_count == 2
    again = await replayer.asked("add_audience_rows", adding)  # another question, another yes
    await replayer.answered("add_audience_rows", adding, again)
    assert (await replayer.tenant.client.audiences.get(id=audience)).row_count == 3


async def test_one_yes_imports_a_file_once_by_its_path_and_as_text(replayer: Replayer, tmp_path: Path) -> None:
    text = "phone_number,first_name\n+14155550150,Ann\n+14155550151,Bob\n"
    (tmp_path / "files" / "people.csv").write_text(text, encoding="utf-8")
    audience, _ = await calling_audience(replayer.tenant)
    for how in ({"path": "people.csv"}, {"csv": text}):
        importing = {"id": audience, "wait_seconds": 0, **how}
        state = await replayer.asked("import_audience", importing)
        said = [await replayer.answered("import_audience", importing, state) for _ in range(3)]
        assert not any(one.is_error for one in said), text_of(said[0])
        assert len({cast("dict[str, Any]", one.structured_content)["id"] for one in said}) == 1


async def test_one_yes_changes_a_campaign_once(replayer: Replayer) -> None:
    _, campaign = await calling_audience(replayer.tenant, budget_cap=Spend(amount="0.05"))
    deployments = replayer.tenant.client.deployments
    change = {"id": campaign, "budget_cap": {"amount": "50.00"}}
    state = await replayer.asked("update_deployment", change)
    assert not (await replayer.answered("update_deployment", change, state)).is_error
    await deployments.update(id=campaign, budget_cap=Spend(amount="0.05"))
    again = await replayer.answered("update_deployment", change, state)
    assert again.is_error
    assert "nothing was done" in text_of(again)
    cap = (await deployments.get(id=campaign)).budget_cap
    assert cap is not None
    assert float(cap.amount) == 0.05


@pytest.mark.parametrize("agree", ["yes", "true", 1, "on", False])
async def test_only_true_is_a_yes(agree: Any, replayer: Replayer) -> None:
    audience, _ = await calling_audience(replayer.tenant)
    adding = {"id": audience, "rows": people(1, first=50)}
    state = await replayer.asked("add_audience_rows", adding)
    said = await replayer.answered("add_audience_rows", adding, state, agree)
    assert said.is_error
    assert "did not agree" in text_of(said)
    assert (await replayer.tenant.client.audiences.get(id=audience)).row_count == 1


@dataclass(frozen=True)
class Teller:
    """A host that cannot ask, and what it has been told to show."""

    tenant: Tenant
    host: Host
    clock: ScriptedClock

    async def sentence(self, tool: str, /, **arguments: Any) -> str:
        return (await self.host.refused(tool, **arguments)).split("«")[1].split("»")[0]

    async def rows(self, audience: str) -> int | None:
        return (await self.tenant.client.audiences.get(id=audience)).row_count


@pytest.fixture
async def teller(tenant: Tenant, era: Era, clock: ScriptedClock, tmp_path: Path) -> AsyncGenerator[Teller]:
    async with held(host(tenant, tmp_path, "memory", era, Person(None), clock=clock)) as connected:
        yield Teller(tenant, connected, clock)


async def joining(found: Teller) -> tuple[str, dict[str, Any]]:
    """An audience that takes the same person twice and that a campaign calls, and somebody to add."""
    audience, _ = await calling_audience(found.tenant)
    return audience, {"id": audience, "rows": people(1, first=50)}


async def test_one_sentence_adds_a_person_once_and_the_next_one_is_another_sentence(teller: Teller) -> None:
    audience, adding = await joining(teller)
    sentence = await teller.sentence("add_audience_rows", **adding)
    await teller.host.data("add_audience_rows", **adding, person_agreed_to=sentence)
    said = await teller.host.refused("add_audience_rows", **adding, person_agreed_to=sentence)
    assert "has been used already" in said
    assert "Show them this sentence" in said
    assert await teller.rows(audience) == 2
    another = said.split("«")[1].split("»")[0]
    assert another != sentence
    await teller.host.data("add_audience_rows", **adding, person_agreed_to=another)
    assert await teller.rows(audience) == 3


async def test_one_sentence_rents_once_though_the_number_is_free_again(
    teller: Teller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(phone_numbers, "RESTS_MS", -DAY)  # as if a day had passed
    free = await teller.host.data("search_available_numbers", country="US", per_page=1)
    renting = {"country": "US", "number": free["data"][0]["number"]}
    sentence = await teller.sentence("rent_phone_number", **renting)
    rented = await teller.host.data("rent_phone_number", **renting, person_agreed_to=sentence)
    await teller.tenant.client.phone_numbers.release(id=rented["id"])
    assert "has been used" in await teller.host.refused("rent_phone_number", **renting, person_agreed_to=sentence)
    assert [one.status for one in (await teller.tenant.client.phone_numbers.list()).data] == ["released"]


async def test_one_sentence_lets_an_agent_answer_once(teller: Teller) -> None:
    campaign = await draft(teller.tenant, people(1))
    desk = {"name": "Desk", "agent_id": campaign.agent_id, "phone_number_id": (await rent(teller.tenant)).id}
    sentence = await teller.sentence("create_inbound_deployment", **desk)
    made = await teller.host.data("create_inbound_deployment", **desk, person_agreed_to=sentence)
    await teller.tenant.client.deployments.cancel(id=made["id"])
    said = await teller.host.refused("create_inbound_deployment", **desk, person_agreed_to=sentence)
    assert "has been used" in said


async def test_one_sentence_starts_once_and_goes_on_with_nothing(teller: Teller) -> None:
    deployments = teller.tenant.client.deployments
    campaign = await draft(teller.tenant, people(2, sim_outcome="busy"))
    await deployments.start(id=campaign.id)
    sentences: list[str] = []
    for _ in range(2):
        await deployments.pause(id=campaign.id)
        plan = await teller.host.data("preview_deployment", deployment_id=campaign.id)
        going_on = {"id": campaign.id, "plan_id": plan["plan_id"]}
        for used in sentences:  # the plan reads the same as before
            said = await teller.host.refused("resume_deployment", **going_on, person_agreed_to=used)
            assert "has been used" in said
            assert plan["summary"] in said
        sentences.append(await teller.sentence("resume_deployment", **going_on))
        await teller.host.data("resume_deployment", **going_on, person_agreed_to=sentences[-1])
        assert (await deployments.get(id=campaign.id)).status == "active"


async def test_one_sentence_changes_a_campaign_once(teller: Teller) -> None:
    _, campaign = await calling_audience(teller.tenant, budget_cap=Spend(amount="0.05"))
    deployments = teller.tenant.client.deployments
    change = {"id": campaign, "budget_cap": {"amount": "50.00"}}
    sentence = await teller.sentence("update_deployment", **change)
    await teller.host.data("update_deployment", **change, person_agreed_to=sentence)
    await deployments.update(id=campaign, budget_cap=Spend(amount="0.05"))
    assert "has been used" in await teller.host.refused("update_deployment", **change, person_agreed_to=sentence)
    cap = (await deployments.get(id=campaign)).budget_cap
    assert cap is not None
    assert float(cap.amount) == 0.05


async def test_a_sentence_is_good_for_the_very_arguments_it_was_told_for(teller: Teller) -> None:
    audience, adding = await joining(teller)
    sentence = await teller.sentence("add_audience_rows", **adding)
    others = {"id": audience, "rows": people(1, first=60)}
    said = await teller.host.refused("add_audience_rows", **others, person_agreed_to=sentence)
    assert "not what would happen" in said
    assert sentence.split(" (Asked")[0] in said  # it reads the same: one person
    forged = f"{sentence[:-6]}0000.)"
    assert "not what would happen" in await teller.host.refused("add_audience_rows", **adding, person_agreed_to=forged)
    assert await teller.rows(audience) == 1


@pytest.mark.parametrize(("after_s", "counts"), [(598.0, True), (600.0, False)])
async def test_a_sentence_counts_for_ten_minutes(after_s: float, counts: bool, teller: Teller) -> None:
    audience, adding = await joining(teller)
    sentence = await teller.sentence("add_audience_rows", **adding)
    teller.clock.pass_by(after_s)
    result = await teller.host.call("add_audience_rows", **adding, person_agreed_to=sentence)
    assert result.is_error is not counts, text_of(result)
    assert await teller.rows(audience) == (2 if counts else 1)
    if not counts:
        assert "10 minutes ago" in text_of(result)
        assert "Show them this sentence" in text_of(result)


class LosesAnAnswer(InterceptedCaller):
    """The way to the service, on which the answer to the first request that adds people is lost."""

    async def ask_lenient(self, operation: Operation[Any, Any, Any], asked: Any, /, **options: Any) -> Any:
        found = await super().ask_lenient(operation, asked, **options)
        if operation.name == "add_audience_rows" and self.operation != "lost":
            self.operation = "lost"
            raise ServiceTimeout("the answer was lost", request_sent=True, repeatable=True)
        return found


async def test_the_same_call_after_a_lost_answer_gets_that_answer_and_adds_nobody_twice(
    era: Era, tenant: Tenant, clock: ScriptedClock, tmp_path: Path
) -> None:
    caller = LosesAnAnswer(tenant.client)
    async with host(tenant, tmp_path, "memory", era, Person(None), clock=clock, caller=caller) as connected:
        found = Teller(tenant, connected, clock)
        audience, adding = await joining(found)
        sentence = await found.sentence("add_audience_rows", **adding)
        await found.host.refused("add_audience_rows", **adding, person_agreed_to=sentence)
        assert await found.rows(audience) == 2
        assert (await found.host.data("add_audience_rows", **adding, person_agreed_to=sentence))["added"] == 1
        assert await found.rows(audience) == 2
        assert "has been used" in await found.host.refused("add_audience_rows", **adding, person_agreed_to=sentence)


@pytest.mark.parametrize("era", ["auto"])
async def test_two_calls_with_one_sentence_at_a_time_add_a_person_once(teller: Teller) -> None:
    audience, adding = await joining(teller)
    sentence = await teller.sentence("add_audience_rows", **adding)
    results: list[CallToolResult] = []

    async def add() -> None:
        results.append(await teller.host.call("add_audience_rows", **adding, person_agreed_to=sentence))

    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(add)
    assert sorted(bool(one.is_error) for one in results) == [False, True, True]
    assert await teller.rows(audience) == 2


async def test_a_sentence_is_known_to_another_process_and_does_nothing_more_there(era: Era, tenant: Tenant) -> None:
    async with serving(tenant, confirm="always") as one, serving(tenant, confirm="always") as other:
        async with one.assistant(era=era) as first, other.assistant(era=era) as second:
            audience, _ = await calling_audience(tenant)
            adding = {"id": audience, "rows": people(1, first=50)}
            sentence = (await first.refused("add_audience_rows", **adding)).split("«")[1].split("»")[0]
            added = await second.use("add_audience_rows", **adding, person_agreed_to=sentence)
            again = await first.use("add_audience_rows", **adding, person_agreed_to=sentence)
            assert added == again
            assert (await tenant.client.audiences.get(id=audience)).row_count == 2
