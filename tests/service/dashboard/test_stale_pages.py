"""Pages that were left open: what they ask for later is done as it was shown, or refused with words."""

from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from callwright.client.transport import httpx
from callwright.service.app import running
from callwright.service.platform.clock.clock import DAY
from callwright.service.settings import ServiceSettings
from tests.support.campaigns import calls_of, draft, people, run, started
from tests.support.clock_set_by_test import Process
from tests.support.dashboard import ORIGIN, Visit, hidden_of, logged_in, login_code, text_of
from tests.support.service import Tenant, open_service
from tests.support.talks import answering


@pytest.mark.requirement("DASH-64")
@pytest.mark.service(workers=True)
@pytest.mark.parametrize("action", ["pause", "cancel"])
async def test_what_has_ended_meanwhile_is_told_to_who_would_change_it(tenant: Tenant, action: str) -> None:
    made = await run(tenant, people(2))
    async with logged_in(tenant) as visit:
        fields = {"form_token": await visit.token(), "once": "0" * 24}
        answer = await visit.http.post(f"/campaigns/{made.id}/{action}", data=fields, headers={"Origin": ORIGIN})
        assert answer.status_code in (409, 422)
        assert "completed" in text_of(answer.text)
        assert 'href="/campaigns' in answer.text
    assert (await tenant.client.deployments.get(id=made.id)).status == "completed"


@pytest.mark.requirement("DASH-64")
@pytest.mark.service(workers=True)
async def test_of_two_people_who_start_a_campaign_at_once_one_starts_it(tenant: Tenant) -> None:
    made = await draft(tenant, people(3, sim_outcome="answered"))
    path = f"/campaigns/{made.id}/start"
    async with logged_in(tenant) as first, logged_in(tenant) as second:
        forms = [(visit, hidden_of(await visit.page(path))) for visit in (first, second)]
        codes: list[int] = []

        async def send(visit: Visit, hidden: dict[str, str]) -> None:
            answer = await visit.http.post(path, data=hidden, headers={"Origin": ORIGIN})
            codes.append(answer.status_code)

        async with anyio.create_task_group() as tasks:
            for visit, hidden in forms:
                tasks.start_soon(send, visit, hidden)
    assert set(codes) <= {303, 409, 422}  # who is second sees the campaign run, or that it does
    await tenant.ended(made.id)
    assert sum(call.attempt_number == 1 for call in await calls_of(tenant, made.id)) == 3


@pytest.mark.requirement("DASH-64")
@pytest.mark.service(workers=False)
async def test_a_page_that_was_left_open_for_a_day_leads_to_the_login_and_does_nothing(
    tenant: Tenant, process: Process
) -> None:
    made = await started(tenant, people(2))
    code = await login_code(tenant)
    assert (await process.http.post("/login", data={"code": code})).status_code == 303
    path = f"/campaigns/{made.id}/pause"
    hidden = hidden_of((await process.http.get(path)).text)
    process.clock.move(DAY)
    answer = await process.http.post(path, data=hidden)
    assert (answer.status_code, answer.headers["location"]) == (303, "/login")
    assert (await tenant.client.deployments.get(id=made.id)).status == "active"


async def board_with(word: str, http: httpx.AsyncClient, path: str) -> str:
    """What a live page gets until a word is in it."""
    said = ""
    with anyio.fail_after(20):
        async with http.stream("GET", path) as stream:
            async for piece in stream.aiter_text():
                said += piece
                if word in said:
                    return said
    raise AssertionError(said)


@pytest.mark.requirement("DASH-64")
async def test_a_live_page_goes_on_after_the_service_was_started_again(database_url: str, tmp_path: Path) -> None:
    async with open_service(database_url, tmp_path, workers=False) as tenant, answering(tenant) as root:
        made = await started(tenant, people(2))
        code = await login_code(tenant)
        async with httpx.AsyncClient(base_url=root) as http:
            assert (await http.post("/login", data={"code": code})).status_code == 303
            cookies = dict(http.cookies)
            assert await board_with("active", http, f"/campaigns/{made.id}/live")
            hidden = hidden_of((await http.get(f"/campaigns/{made.id}/pause")).text)
    settings = ServiceSettings(data=tmp_path, database_url=database_url)
    async with running(settings, workers=False) as service, answering(replace(tenant, service=service)) as root:
        async with httpx.AsyncClient(base_url=root, cookies=cookies) as http:
            assert await board_with("active", http, f"/campaigns/{made.id}/live")
            assert (await http.post(f"/campaigns/{made.id}/pause", data=hidden)).status_code == 303
            assert await board_with("paused", http, f"/campaigns/{made.id}/live")
