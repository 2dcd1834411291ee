"""A host that cannot ask: the person answers on the dashboard's page, and the next call of the tool is held to that."""

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest

from callwright.client.client import Client
from callwright.client.errors import NotOffered, ServiceTimeout
from callwright.client.transport import ASGITransport
from callwright.contract.declaration.field_types import Spend
from callwright.contract.declaration.operation import Operation
from callwright.contract.deployments.deployments import Deployment
from callwright.service.app import running
from callwright.service.platform.clock.clock import MINUTE
from callwright.tools.runtime.tool_context import Caller
from tests.journeys.hosts import Era, Host, Person, ScriptedClock, host
from tests.journeys.intercepted_caller import InterceptedCaller
from tests.support.campaigns import draft, people
from tests.support.clock_set_by_test import Wall
from tests.support.dashboard import Visit, logged_in, text_of
from tests.support.mcp.over_http import serving
from tests.support.service import BASE_URL, Tenant, open_service

pytestmark = pytest.mark.service(workers=False)
PAGE = re.compile(r"http://service(/confirmations/cnf_\w+)")


@dataclass(frozen=True)
class Asking:
    """A host that cannot ask, and a campaign that it wants to start."""

    tenant: Tenant
    host: Host
    campaign: Deployment
    start: dict[str, Any]

    async def asked(self) -> tuple[str, str]:
        """Calls the tool until it refuses; gives its words and the address of the page."""
        said = await self.host.refused("start_deployment", **self.start)
        found = PAGE.search(said)
        assert found is not None, said
        return said, found[1]

    async def status(self) -> str:
        return (await self.tenant.client.deployments.get(id=self.campaign.id)).status


async def planned(tenant: Tenant, connected: Host, name: str) -> Asking:
    campaign = await draft(tenant, people(3), name)
    plan = await connected.data("preview_deployment", deployment_id=campaign.id)
    return Asking(tenant, connected, campaign, {"deployment_id": campaign.id, "plan_id": plan["plan_id"]})


@asynccontextmanager
async def asking(
    tenant: Tenant, folder: Path, era: Era, *, caller: Caller | None = None, name: str = "Check-ups", **options: Any
) -> AsyncGenerator[Asking]:
    async with host(tenant, folder, "memory", era, Person(None), caller=caller, **options) as connected:
        yield await planned(tenant, connected, name)


async def answer(visit: Visit, page: str, word: str) -> str:
    """Answers on the page; gives what it shows then."""
    sent = await visit.send(page, answer=word)
    assert (sent.status_code, sent.headers["location"]) == (303, page), text_of(sent.text)
    return text_of(await visit.page(page))


@pytest.mark.requirement("DASH-37")
async def test_a_yes_on_the_page_starts_the_campaign_with_the_same_call_and_once(
    tenant: Tenant, era: Era, tmp_path: Path
) -> None:
    async with asking(tenant, tmp_path, era) as found, logged_in(tenant) as visit:
        said, page = await found.asked()
        sentence = said.split("«")[1].split(" (Asked at")[0]
        assert "call start_deployment again with the same arguments" in said
        shown = text_of(await visit.page("/confirmations"))
        assert sentence.split(" First words")[0] in shown
        assert "People 3" in shown
        assert "the key “tests”" in shown
        waits, same_page = await found.asked()
        assert page == same_page
        assert "nothing was done yet" in waits
        assert await found.status() == "draft"
        assert "Now tell the assistant to go on" in await answer(visit, page, "yes")
        await found.host.data("start_deployment", **found.start)
        assert "has taken it" in text_of(await visit.page(page))
        assert await found.status() == "active"
        audited = (await tenant.client.audit_log.list(action="confirmation.answered")).data
        assert [entry.subject_id for entry in audited] == [page.rpartition("/")[2]]


@pytest.mark.requirement("DASH-38")
async def test_a_no_is_told_to_the_model_and_nothing_is_done(tenant: Tenant, era: Era, tmp_path: Path) -> None:
    async with asking(tenant, tmp_path, era) as found, logged_in(tenant) as visit:
        said, page = await found.asked()
        assert "No it is" in await answer(visit, page, "no")
        sentence = said.split("«")[1].split("»")[0]
        put_back = await found.host.refused("start_deployment", **found.start, person_agreed_to=sentence)
        assert "has said no" in put_back  # whoever answers on the page has the last word
        told = await found.host.refused("start_deployment", **found.start)
        assert "has said no on the page" in told
        assert "do not try the same again" in told
        _, another = await found.asked()
        assert another != page
        assert await found.status() == "draft"


async def joined(found: Asking) -> tuple[str, dict[str, Any]]:
    """An audience that takes the same person twice and that a campaign calls, and somebody to add."""
    audience = await found.tenant.client.audiences.create(name="Doubles", dedupe="none", rows=people(1, first=70))
    campaign = await draft(found.tenant, [], "Joining", audience_id=audience.id)
    await found.tenant.client.deployments.start(id=campaign.id)
    await found.tenant.client.deployments.pause(id=campaign.id)
    return audience.id, {"audience_id": audience.id, "rows": people(1, first=50)}


@pytest.mark.requirement("DASH-39")
async def test_one_yes_adds_a_person_once_and_the_next_call_asks_anew(tenant: Tenant, era: Era, tmp_path: Path) -> None:
    async with asking(tenant, tmp_path, era) as found, logged_in(tenant) as visit:
        audience, adding = await joined(found)
        said = await found.host.refused("add_audience_rows", **adding)
        page = str(PAGE.findall(said)[0])
        others = {**adding, "rows": people(1, first=60)}
        await answer(visit, page, "yes")
        assert PAGE.findall(await found.host.refused("add_audience_rows", **others)) != [page]
        await found.host.data("add_audience_rows", **adding)
        again = await found.host.refused("add_audience_rows", **adding)
        assert PAGE.findall(again) != [page]
        sentence = said.split("«")[1].split("»")[0]
        put_back = await found.host.refused("add_audience_rows", **adding, person_agreed_to=sentence)
        assert "has been used already" in put_back  # the same question, answered on the page before
        assert (await tenant.client.audiences.get(id=audience)).row_count == 2


@pytest.mark.requirement("DASH-39")
async def test_a_sentence_that_comes_back_withdraws_the_question(tenant: Tenant, era: Era, tmp_path: Path) -> None:
    async with asking(tenant, tmp_path, era) as found, logged_in(tenant) as visit:
        audience, adding = await joined(found)
        said = await found.host.refused("add_audience_rows", **adding)
        page, sentence = str(PAGE.findall(said)[0]), said.split("«")[1].split("»")[0]
        await found.host.data("add_audience_rows", **adding, person_agreed_to=sentence)
        assert "agreed in the conversation" in text_of(await visit.page(page))
        late = await visit.http.post(
            page,
            data={"form_token": await visit.token(), "answer": "yes"},
            headers={"Origin": "http://service"},
        )
        assert late.status_code == 409
        await found.host.refused("add_audience_rows", **adding)
        assert (await tenant.client.audiences.get(id=audience)).row_count == 2


@pytest.mark.requirement("DASH-39")
@pytest.mark.parametrize(("answer_after", "call_after", "counts"), [(9, 9, True), (11, 0, False), (1, 11, False)])
async def test_a_question_waits_ten_minutes_and_its_yes_counts_for_ten(
    database_url: str, tmp_path: Path, answer_after: int, call_after: int, counts: bool
) -> None:
    wall = Wall()
    async with open_service(database_url, tmp_path / "service", workers=False, clock=wall.clock()) as tenant:
        async with asking(tenant, tmp_path, "auto") as found, logged_in(tenant) as visit:
            audience, adding = await joined(found)
            page = str(PAGE.findall(await found.host.refused("add_audience_rows", **adding))[0])
            wall.ahead_ms += answer_after * MINUTE
            token = await visit.token()
            sent = await visit.http.post(
                page, data={"form_token": token, "answer": "yes"}, headers={"Origin": "http://service"}
            )
            assert sent.status_code == (409 if answer_after > 10 else 303)
            if answer_after > 10:
                assert "Nobody answered in time" in text_of(sent.text)
            wall.ahead_ms += call_after * MINUTE
            result = await found.host.call("add_audience_rows", **adding)
            assert result.is_error is not counts
            if not counts:
                assert "10 minutes ago" in str(result.content)
            assert (await tenant.client.audiences.get(id=audience)).row_count == (2 if counts else 1)


@pytest.mark.requirement("DASH-40")
async def test_what_changes_between_the_yes_and_the_call_is_asked_anew_and_nobody_is_dialled(
    tenant: Tenant, era: Era, tmp_path: Path
) -> None:
    async with asking(tenant, tmp_path, era) as found, logged_in(tenant) as visit:
        _, page = await found.asked()
        await answer(visit, page, "yes")
        await tenant.client.deployments.update(id=found.campaign.id, budget_cap=Spend(amount="90.00"))
        said = await found.host.refused("start_deployment", **found.start)
        assert "preview_deployment" in said
        plan = await found.host.data("preview_deployment", deployment_id=found.campaign.id)
        now = {**found.start, "plan_id": plan["plan_id"]}
        anew = await found.host.refused("start_deployment", **now)
        assert PAGE.findall(anew) != [page]
        assert await found.status() == "draft"


@pytest.mark.requirement("DASH-40")
async def test_a_yes_to_a_change_is_not_used_once_somebody_has_changed_the_same_thing(
    tenant: Tenant, era: Era, tmp_path: Path
) -> None:
    async with asking(tenant, tmp_path, era) as found, logged_in(tenant) as visit:
        campaign = await draft(tenant, people(1, first=80), "Changing", budget_cap=Spend(amount="0.05"))
        await tenant.client.deployments.start(id=campaign.id)
        change = {"deployment_id": campaign.id, "budget_cap": {"amount": "50.00"}}
        page = str(PAGE.findall(await found.host.refused("update_deployment", **change))[0])
        await answer(visit, page, "yes")
        await tenant.client.deployments.update(id=campaign.id, budget_cap=Spend(amount="0.06"))
        assert PAGE.findall(await found.host.refused("update_deployment", **change)) != [page]
        page = str(PAGE.findall(await found.host.refused("update_deployment", **change))[0])
        await answer(visit, page, "yes")
        await found.host.data("update_deployment", **change)
        await tenant.client.deployments.update(id=campaign.id, budget_cap=Spend(amount="0.06"))
        await found.host.refused("update_deployment", **change)
        cap = (await tenant.client.deployments.get(id=campaign.id)).budget_cap
        assert cap is not None
        assert float(cap.amount) == 0.06


@pytest.mark.requirement("DASH-39")
async def test_a_yes_counts_for_the_key_that_asked_and_no_other(tenant: Tenant, era: Era) -> None:
    second = await tenant.new_key("second")
    async with serving(tenant, confirm="always") as served, logged_in(tenant) as visit:
        async with served.assistant(era=era) as one, served.assistant(second.secret, era=era) as other:
            campaign = await draft(tenant, people(2))
            plan = await tenant.client.deployments.preview(id=campaign.id)
            start = {"deployment_id": campaign.id, "plan_id": plan.plan_id}
            page = str(re.findall(r"/confirmations/cnf_\w+", await one.refused("start_deployment", **start))[0])
            await answer(visit, page, "yes")
            elsewhere = await other.refused("start_deployment", **start)
            assert page not in elsewhere
            assert (await tenant.client.deployments.get(id=campaign.id)).status == "draft"
            await one.use("start_deployment", **start)
            assert (await tenant.client.deployments.get(id=campaign.id)).status == "active"


@pytest.mark.requirement("DASH-37")
async def test_a_yes_outlives_the_service_and_the_program_of_the_assistant(
    tenant: Tenant, era: Era, tmp_path: Path
) -> None:
    async with asking(tenant, tmp_path, era) as found, logged_in(tenant) as visit:
        _, page = await found.asked()
        await answer(visit, page, "yes")
        campaign, start = found.campaign, found.start
    async with running(tenant.services.settings, workers=False) as service:
        async with Client(BASE_URL, tenant.api_key, transport=ASGITransport(app=service.asgi)) as client:
            again = Tenant(service, tenant.org_id, tenant.api_key, client)
            async with host(again, tmp_path, "memory", era, Person(None)) as connected:
                await connected.data("start_deployment", **start)
                assert (await client.deployments.get(id=campaign.id)).plan_id == start["plan_id"]


class LosesTheAnswer(InterceptedCaller):
    """The way to the service, on which the answer to the first request that adds people is lost."""

    async def ask_lenient(self, operation: Operation[Any, Any, Any], asked: Any, /, **options: Any) -> Any:
        found = await super().ask_lenient(operation, asked, **options)
        if operation.name == "add_audience_rows" and self.operation != "lost":
            self.operation = "lost"
            raise ServiceTimeout("the answer was lost", request_sent=True, repeatable=True)
        return found


@pytest.mark.requirement("DASH-37")
async def test_the_same_call_after_a_lost_answer_uses_the_same_yes_and_adds_nobody_twice(
    tenant: Tenant, era: Era, tmp_path: Path
) -> None:
    clock = ScriptedClock(now=tenant.services.clock.now_ms() / 1_000)
    losing = LosesTheAnswer(tenant.client)
    async with asking(tenant, tmp_path, era, caller=losing, clock=clock) as found, logged_in(tenant) as visit:
        audience, adding = await joined(found)
        page = str(PAGE.findall(await found.host.refused("add_audience_rows", **adding))[0])
        await answer(visit, page, "yes")
        await found.host.refused("add_audience_rows", **adding)
        assert (await found.host.data("add_audience_rows", **adding))["added"] == 1
        assert (await tenant.client.audiences.get(id=audience)).row_count == 2
        assert PAGE.findall(await found.host.refused("add_audience_rows", **adding)) != [page]


@pytest.mark.requirement("DASH-39")
@pytest.mark.parametrize("era", ["auto"])
async def test_two_calls_after_one_yes_at_a_time_add_a_person_once(tenant: Tenant, era: Era, tmp_path: Path) -> None:
    async with asking(tenant, tmp_path, era) as found, logged_in(tenant) as visit:
        audience, adding = await joined(found)
        page = str(PAGE.findall(await found.host.refused("add_audience_rows", **adding))[0])
        await answer(visit, page, "yes")
        failed: list[bool] = []

        async def add() -> None:
            failed.append(bool((await found.host.call("add_audience_rows", **adding)).is_error))

        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(add)
        assert sorted(failed) == [False, True, True]
        assert (await tenant.client.audiences.get(id=audience)).row_count == 2


@pytest.mark.requirement("DASH-37")
async def test_where_the_page_is_the_only_way_no_sentence_counts(tenant: Tenant, era: Era, tmp_path: Path) -> None:
    async with asking(tenant, tmp_path, era, confirm_by="page") as found, logged_in(tenant) as visit:
        said, page = await found.asked()
        assert "person_agreed_to" not in said
        sentence = said.split("«")[1].split("»")[0]
        put_back = await found.host.refused("start_deployment", **found.start, person_agreed_to=sentence)
        assert "counts for nothing here" in put_back
        assert await found.status() == "draft"
        await answer(visit, page, "yes")
        await found.host.data("start_deployment", **found.start)
        assert await found.status() == "active"


class WithoutThePage(InterceptedCaller):
    """An older service, which keeps no questions."""

    async def ask(self, operation: Operation[Any, Any, Any], asked: Any, /, **options: Any) -> Any:
        if operation.name == "ask_confirmation":
            raise NotOffered(operation.name, status=404, base_url=BASE_URL, tried=("POST /confirmations",))
        return await super().ask(operation, asked, **options)


@pytest.mark.requirement("DASH-37")
async def test_with_a_service_that_keeps_no_questions_the_sentence_alone_counts(
    tenant: Tenant, era: Era, tmp_path: Path
) -> None:
    older = WithoutThePage(tenant.client)
    async with asking(tenant, tmp_path, era, caller=older) as found:
        said = await found.host.refused("start_deployment", **found.start)
        assert "/confirmations" not in said
        sentence = said.split("«")[1].split("»")[0]
        await found.host.data("start_deployment", **found.start, person_agreed_to=sentence)
        assert await found.status() == "active"
    async with asking(tenant, tmp_path, era, caller=older, name="Again", confirm_by="page") as found:
        assert "CALLWRIGHT_CONFIRM_BY=page" in await found.host.refused("start_deployment", **found.start)
        assert await found.status() == "draft"


@pytest.mark.requirement("DASH-37")
async def test_where_nobody_is_asked_nothing_is_kept(tenant: Tenant, era: Era, tmp_path: Path) -> None:
    async with asking(tenant, tmp_path, era, confirm="real") as found, logged_in(tenant) as visit:
        await found.host.data("start_deployment", **found.start)
        assert await found.status() == "active"
        assert "Nothing waits" in text_of(await visit.page("/confirmations"))
