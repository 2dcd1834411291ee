"""One yes is good for one thing: the same answer, or where a host cannot ask the same sentence, does nothing more.

On the newer protocol the client speaks by itself, so that it can carry the same sealed state and the same answer as
often as it likes, as a program between the person and the server may.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from mcp.types import CallToolResult, ElicitResult, InputRequiredResult

from callwright.client.errors import ServiceTimeout
from callwright.contract.declaration.operation import Operation
from callwright.contract.declaration.words import Spend
from tests.journeys.hosts import ERAS, Era, Host, Person, ScriptedClock, host
from tests.journeys.intercepted_caller import InterceptedCaller
from tests.support.campaigns import draft, people, rent
from tests.support.mcp.over_http import serving
from tests.support.service import Tenant, open_service
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
            tool,
            arguments,
            input_responses={"agreement": answer},
            request_state=state,
            allow_input_required=True,
        )
        return cast("CallToolResult", result)


@asynccontextmanager
async def replayer(url: str, folder: Path, *, files: Path | None = None) -> AsyncGenerator[Replayer]:
    async with open_service(url, folder / "service", workers=False) as tenant:
        async with host(
            tenant, folder, "memory", "auto", Person("accept"), clock=ScriptedClock(), files=files
        ) as found:
            yield Replayer(tenant, found)


async def calling_audience(tenant: Tenant, **fields: Any) -> tuple[str, str]:
    """A campaign that calls whoever joins its audience, which takes the same person twice."""
    audience = await tenant.client.audiences.create(name="Doubles", dedupe="none", rows=people(1))
    campaign = await draft(tenant, [], audience_id=audience.id, start_at=LATER, **fields)
    await tenant.client.deployments.start(id=campaign.id)
    return audience.id, campaign.id


async def test_one_yes_adds_a_person_once_and_the_same_answer_again_gets_the_first_result(
    database_url: str, tmp_path: Path
) -> None:
    async with replayer(database_url, tmp_path) as found:
        audience, _ = await calling_audience(found.tenant)
        adding = {"id": audience, "rows": people(1, first=50)}
        state = await found.asked("add_audience_rows", adding)
        said = [await found.answered("add_audience_rows", adding, state) for _ in range(4)]
        assert not any(one.is_error for one in said), text_of(said[0])
        assert all(one.structured_content == said[0].structured_content for one in said)
        assert (await found.tenant.client.audiences.get(id=audience)).row_count == 2
        again = await found.asked("add_audience_rows", adding)  # another question, another yes
        await found.answered("add_audience_rows", adding, again)
        assert (await found.tenant.client.audiences.get(id=audience)).row_count == 3


async def test_one_yes_imports_a_file_once_by_its_path_and_as_text(database_url: str, tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    text = "phone_number,first_name\n+14155550150,Ann\n+14155550151,Bob\n"
    (files / "people.csv").write_text(text, encoding="utf-8")
    async with replayer(database_url, tmp_path, files=files) as found:
        audience, _ = await calling_audience(found.tenant)
        for how in ({"path": "people.csv"}, {"csv": text}):
            importing = {"id": audience, **how}
            state = await found.asked("import_audience", importing)
            said = [await found.answered("import_audience", importing, state) for _ in range(3)]
            assert not any(one.is_error for one in said), text_of(said[0])
            assert len({cast("dict[str, Any]", one.structured_content)["id"] for one in said}) == 1


async def test_one_yes_changes_a_campaign_once(database_url: str, tmp_path: Path) -> None:
    async with replayer(database_url, tmp_path) as found:
        _, campaign = await calling_audience(found.tenant, budget_cap=Spend(amount="0.05"))
        deployments = found.tenant.client.deployments
        change = {"id": campaign, "budget_cap": {"amount": "50.00"}}
        state = await found.asked("update_deployment", change)
        assert not (await found.answered("update_deployment", change, state)).is_error
        await deployments.update(id=campaign, budget_cap=Spend(amount="0.05"))
        again = await found.answered("update_deployment", change, state)
        assert again.is_error
        assert "nothing was done" in text_of(again)
        cap = (await deployments.get(id=campaign)).budget_cap
        assert cap is not None
        assert float(cap.amount) == 0.05


@pytest.mark.parametrize("agree", ["yes", "true", 1, "on", False])
async def test_only_true_is_a_yes(agree: Any, database_url: str, tmp_path: Path) -> None:
    async with replayer(database_url, tmp_path) as found:
        audience, _ = await calling_audience(found.tenant)
        adding = {"id": audience, "rows": people(1, first=50)}
        state = await found.asked("add_audience_rows", adding)
        said = await found.answered("add_audience_rows", adding, state, agree)
        assert said.is_error
        assert "did not agree" in text_of(said)
        assert (await found.tenant.client.audiences.get(id=audience)).row_count == 1


both_eras = pytest.mark.parametrize("era", ERAS)


@dataclass(frozen=True)
class Teller:
    """A host that cannot ask, and what it has been told to show."""

    tenant: Tenant
    host: Host
    clock: ScriptedClock

    async def sentence(self, tool: str, /, **arguments: Any) -> str:
        """The sentence that a refusal holds."""
        return (await self.host.refused(tool, **arguments)).split("«")[1].split("»")[0]

    async def rows(self, audience: str) -> int | None:
        return (await self.tenant.client.audiences.get(id=audience)).row_count


@asynccontextmanager
async def teller(
    url: str, folder: Path, era: Era, *, caller: type[InterceptedCaller] | None = None
) -> AsyncGenerator[Teller]:
    clock = ScriptedClock()
    async with open_service(url, folder / "service", workers=False) as tenant:
        way = None if caller is None else caller(tenant.client)
        async with host(tenant, folder, "memory", era, Person(None), clock=clock, caller=way) as found:
            yield Teller(tenant, found, clock)


async def joining(found: Teller) -> tuple[str, dict[str, Any]]:
    """An audience that takes the same person twice and that a campaign calls, and somebody to add."""
    audience, _ = await calling_audience(found.tenant)
    return audience, {"id": audience, "rows": people(1, first=50)}


@both_eras
async def test_one_sentence_adds_a_person_once_and_the_next_one_is_another_sentence(
    era: Era, database_url: str, tmp_path: Path
) -> None:
    async with teller(database_url, tmp_path, era) as found:
        audience, adding = await joining(found)
        sentence = await found.sentence("add_audience_rows", **adding)
        await found.host.data("add_audience_rows", **adding, person_agreed_to=sentence)
        said = await found.host.refused("add_audience_rows", **adding, person_agreed_to=sentence)
        assert "has been used already" in said
        assert "Show them this sentence" in said
        assert await found.rows(audience) == 2
        another = said.split("«")[1].split("»")[0]
        assert another != sentence
        await found.host.data("add_audience_rows", **adding, person_agreed_to=another)
        assert await found.rows(audience) == 3


@both_eras
async def test_one_sentence_rents_once_though_the_number_is_free_again(
    era: Era, database_url: str, tmp_path: Path
) -> None:
    async with teller(database_url, tmp_path, era) as found:
        free = await found.host.data("search_available_numbers", country="US", per_page=1)
        renting = {"country": "US", "number": free["data"][0]["number"]}
        sentence = await found.sentence("rent_phone_number", **renting)
        rented = await found.host.data("rent_phone_number", **renting, person_agreed_to=sentence)
        await found.tenant.client.phone_numbers.release(id=rented["id"])
        assert "has been used" in await found.host.refused("rent_phone_number", **renting, person_agreed_to=sentence)
        assert [one.status for one in (await found.tenant.client.phone_numbers.list()).data] == ["released"]


@both_eras
async def test_one_sentence_lets_an_agent_answer_once(era: Era, database_url: str, tmp_path: Path) -> None:
    async with teller(database_url, tmp_path, era) as found:
        campaign = await draft(found.tenant, people(1))
        desk = {"name": "Desk", "agent_id": campaign.agent_id, "phone_number_id": (await rent(found.tenant)).id}
        sentence = await found.sentence("create_inbound_deployment", **desk)
        made = await found.host.data("create_inbound_deployment", **desk, person_agreed_to=sentence)
        await found.tenant.client.deployments.cancel(id=made["id"])
        said = await found.host.refused("create_inbound_deployment", **desk, person_agreed_to=sentence)
        assert "has been used" in said


@both_eras
async def test_one_sentence_starts_once_and_goes_on_with_nothing(era: Era, database_url: str, tmp_path: Path) -> None:
    async with teller(database_url, tmp_path, era) as found:
        deployments = found.tenant.client.deployments
        campaign = await draft(found.tenant, people(2, sim_outcome="busy"))
        await deployments.start(id=campaign.id)
        sentences: list[str] = []
        for _ in range(2):
            await deployments.pause(id=campaign.id)
            plan = await found.host.data("preview_deployment", id=campaign.id)
            going_on = {"id": campaign.id, "plan_id": plan["plan_id"]}
            for used in sentences:  # the plan reads the same as before
                said = await found.host.refused("resume_deployment", **going_on, person_agreed_to=used)
                assert "has been used" in said
                assert plan["summary"] in said
            sentences.append(await found.sentence("resume_deployment", **going_on))
            await found.host.data("resume_deployment", **going_on, person_agreed_to=sentences[-1])
            assert (await deployments.get(id=campaign.id)).status == "active"


@both_eras
async def test_one_sentence_changes_a_campaign_once(era: Era, database_url: str, tmp_path: Path) -> None:
    async with teller(database_url, tmp_path, era) as found:
        _, campaign = await calling_audience(found.tenant, budget_cap=Spend(amount="0.05"))
        deployments = found.tenant.client.deployments
        change = {"id": campaign, "budget_cap": {"amount": "50.00"}}
        sentence = await found.sentence("update_deployment", **change)
        await found.host.data("update_deployment", **change, person_agreed_to=sentence)
        await deployments.update(id=campaign, budget_cap=Spend(amount="0.05"))
        assert "has been used" in await found.host.refused("update_deployment", **change, person_agreed_to=sentence)
        cap = (await deployments.get(id=campaign)).budget_cap
        assert cap is not None
        assert float(cap.amount) == 0.05


@both_eras
async def test_a_sentence_is_good_for_the_very_arguments_it_was_told_for(
    era: Era, database_url: str, tmp_path: Path
) -> None:
    async with teller(database_url, tmp_path, era) as found:
        audience, adding = await joining(found)
        sentence = await found.sentence("add_audience_rows", **adding)
        others = {"id": audience, "rows": people(1, first=60)}
        said = await found.host.refused("add_audience_rows", **others, person_agreed_to=sentence)
        assert "not what would happen" in said
        assert sentence.split(" (Asked")[0] in said  # it reads the same: one person
        forged = f"{sentence[:-6]}0000.)"
        assert "not what would happen" in await found.host.refused(
            "add_audience_rows", **adding, person_agreed_to=forged
        )
        assert await found.rows(audience) == 1


@both_eras
@pytest.mark.parametrize(("after_s", "counts"), [(598.0, True), (600.0, False)])
async def test_a_sentence_counts_for_ten_minutes(
    after_s: float, counts: bool, era: Era, database_url: str, tmp_path: Path
) -> None:
    async with teller(database_url, tmp_path, era) as found:
        audience, adding = await joining(found)
        sentence = await found.sentence("add_audience_rows", **adding)
        found.clock.pass_by(after_s)
        result = await found.host.call("add_audience_rows", **adding, person_agreed_to=sentence)
        assert result.is_error is not counts, text_of(result)
        assert await found.rows(audience) == (2 if counts else 1)
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


@both_eras
async def test_the_same_call_after_a_lost_answer_gets_that_answer_and_adds_nobody_twice(
    era: Era, database_url: str, tmp_path: Path
) -> None:
    async with teller(database_url, tmp_path, era, caller=LosesAnAnswer) as found:
        audience, adding = await joining(found)
        sentence = await found.sentence("add_audience_rows", **adding)
        await found.host.refused("add_audience_rows", **adding, person_agreed_to=sentence)
        assert await found.rows(audience) == 2
        assert (await found.host.data("add_audience_rows", **adding, person_agreed_to=sentence))["added"] == 1
        assert await found.rows(audience) == 2
        assert "has been used" in await found.host.refused("add_audience_rows", **adding, person_agreed_to=sentence)


async def test_two_calls_with_one_sentence_at_a_time_add_a_person_once(database_url: str, tmp_path: Path) -> None:
    async with teller(database_url, tmp_path, "auto") as found:
        audience, adding = await joining(found)
        sentence = await found.sentence("add_audience_rows", **adding)
        results: list[CallToolResult] = []

        async def add() -> None:
            results.append(await found.host.call("add_audience_rows", **adding, person_agreed_to=sentence))

        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(add)
        assert sorted(bool(one.is_error) for one in results) == [False, True, True]
        assert await found.rows(audience) == 2


@both_eras
async def test_a_sentence_is_known_to_another_process_and_does_nothing_more_there(
    era: Era, database_url: str, tmp_path: Path
) -> None:
    async with open_service(database_url, tmp_path / "service", workers=False) as tenant:
        async with serving(tenant, confirm="always") as one, serving(tenant, confirm="always") as other:
            async with one.assistant(era=era) as first, other.assistant(era=era) as second:
                audience, _ = await calling_audience(tenant)
                adding = {"id": audience, "rows": people(1, first=50)}
                sentence = (await first.refused("add_audience_rows", **adding)).split("«")[1].split("»")[0]
                added = await second.use("add_audience_rows", **adding, person_agreed_to=sentence)
                again = await first.use("add_audience_rows", **adding, person_agreed_to=sentence)
                assert added == again
                assert (await tenant.client.audiences.get(id=audience)).row_count == 2
