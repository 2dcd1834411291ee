"""Campaigns in the dashboard: the plan that was seen is what starts, and what changes one says so first."""

import re

import pytest

from tests.support.campaigns import draft, make_audience, people, phone, run, started
from tests.support.dashboard import ORIGIN, logged_in, text_of
from tests.support.service import Tenant

pytestmark = pytest.mark.service(workers=True)


@pytest.mark.requirement("DASH-11")
async def test_a_campaign_starts_with_the_plan_that_was_shown(tenant: Tenant) -> None:
    made = await draft(tenant, people(3))
    async with logged_in(tenant) as visit:
        plan = text_of(await visit.page(f"/campaigns/{made.id}/start"))
        assert "People who are called 3" in plan
        answer = await visit.send(f"/campaigns/{made.id}/start")
        assert answer.headers["location"] == f"/campaigns/{made.id}"
        await tenant.ended(made.id)
        page = text_of(await visit.page(f"/campaigns/{made.id}"))
    assert "3 of 3 contacts done" in page
    assert phone(0) not in page


@pytest.mark.requirement("DASH-11")
async def test_a_plan_that_has_changed_since_it_was_shown_does_not_start(tenant: Tenant) -> None:
    made = await draft(tenant, people(3))
    async with logged_in(tenant) as visit:
        html = await visit.page(f"/campaigns/{made.id}/start")
        await tenant.client.audiences.add_rows(id=str(made.audience_id), rows=people(1, first=3))
        hidden = dict(re.findall(r'name="([a-z_]+)" value="([^"]*)"', html))
        answer = await visit.http.post(f"/campaigns/{made.id}/start", data=hidden, headers={"Origin": ORIGIN})
    assert answer.status_code in (409, 422)
    assert "Not started" in answer.text
    assert "People who are called 4" in text_of(answer.text)
    assert (await tenant.client.deployments.get(id=made.id)).status == "draft"


@pytest.mark.service(workers=False)
@pytest.mark.parametrize(("action", "status"), [("pause", "paused"), ("cancel", "cancelled")])
async def test_what_changes_a_campaign_says_so_first(tenant: Tenant, action: str, status: str) -> None:
    made = await started(tenant, people(3))
    async with logged_in(tenant) as visit:
        assert "Calls under way go on" in await visit.page(f"/campaigns/{made.id}/{action}")
        assert (await tenant.client.deployments.get(id=made.id)).status == "active"
        assert (await visit.send(f"/campaigns/{made.id}/{action}")).status_code == 303
        assert (await tenant.client.deployments.get(id=made.id)).status == status
        stale = await visit.http.post(
            f"/campaigns/{made.id}/resume" if status == "cancelled" else f"/campaigns/{made.id}/pause",
            data={"form_token": await visit.token()},
            headers={"Origin": ORIGIN},
        )
        assert stale.status_code in (303, 409, 422)
        assert "Traceback" not in stale.text


@pytest.mark.requirement("DASH-12")
async def test_what_people_and_programs_write_is_shown_and_never_run(tenant: Tenant) -> None:
    nasty = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{ 7 * 7 }}"
    audience = await make_audience(tenant, [{"phone": phone(0), "name": nasty, "first_name": nasty}], name=nasty[:90])
    made = await run(tenant, [], audience_id=audience.id, name=nasty[:90])
    (call,) = [call async for call in tenant.client.calls.list(deployment_id=made.id)][:1]
    async with logged_in(tenant) as visit:
        for path in (
            "/campaigns",
            "/calls",
            f"/campaigns/{made.id}",
            f"/calls/{call.id}",
            f"/search?q={nasty[:60]}",
            f"/calls?contact_name={nasty[:60]}",
            "/campaigns/new",
        ):
            answer = await visit.http.get(path)
            assert answer.status_code in (200, 400), path
            assert "<script>alert" not in answer.text
            assert "<img src=x" not in answer.text
            assert "&gt;49" not in answer.text
            assert "unsafe" not in answer.headers["content-security-policy"]


async def test_another_organization_has_no_such_page(tenant: Tenant) -> None:
    made = await draft(tenant, people(1), name="Autumn recall")
    async with tenant.another_organization() as other, logged_in(other) as visit:
        for path in ("", "/start", "/pause", "/live", "/export"):
            answer = await visit.http.get(f"/campaigns/{made.id}{path}")
            assert answer.status_code == 404 or "event: ended" in answer.text
        assert made.name not in await visit.page("/campaigns")


@pytest.mark.requirement("DASH-13")
async def test_a_live_page_follows_a_campaign_to_its_end(tenant: Tenant) -> None:
    made = await started(tenant, people(3))
    async with logged_in(tenant) as visit, visit.http.stream("GET", f"/campaigns/{made.id}/live") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        said = "".join([part async for part in stream.aiter_text()])
    assert said.rstrip().endswith("event: ended\ndata: done")
    assert '3</strong> <span class="quiet">of 3 contacts done' in said
