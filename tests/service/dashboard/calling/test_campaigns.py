"""Campaigns in the dashboard: the plan that was seen is what starts, and what changes one says so first."""

import re

import pytest

from callwright.service.dashboard.pages.calling import campaign_forms
from tests.support.campaigns import draft, make_audience, people, phone, run, started
from tests.support.dashboard import ORIGIN, hidden_of, logged_in, text_of
from tests.support.service import Tenant

pytestmark = pytest.mark.service(workers=True)


@pytest.mark.requirement("DASH-11")
async def test_a_campaign_starts_with_the_plan_that_was_shown(tenant: Tenant) -> None:
    made = await draft(tenant, people(3))
    async with logged_in(tenant) as visit:
        plan = text_of(await visit.page(f"/campaigns/{made.id}/start"))
        assert "People who are called 3" in plan
        assert phone(0) not in plan
        assert "Call 3 people" in plan
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


@pytest.mark.requirement("DASH-67")
@pytest.mark.service(workers=False)
async def test_a_draft_is_changed_copied_and_deleted(tenant: Tenant) -> None:
    made = await draft(tenant, people(3), name="December")
    page = f"/campaigns/{made.id}"
    async with logged_in(tenant) as visit:
        hours = {"hours": "own", "days": "mon", "hours_from": "10:00", "hours_to": "12:30"}
        changed = {"name": "January", "budget_cap": "12.50", "max_attempts": "2", **hours}
        answer = await visit.send(f"{page}/edit", **{**chosen(await visit.page(f"{page}/edit")), **changed})
        assert answer.status_code == 303, text_of(answer.text)
        now = await tenant.client.deployments.get(id=made.id)
        assert (now.name, now.budget_cap and str(now.budget_cap.amount)) == ("January", "12.500000")
        assert now.retry_policy is not None
        assert made.retry_policy is not None
        assert now.retry_policy == made.retry_policy.model_copy(update={"max_attempts": 2})
        assert now.calling_hours is not None
        assert [(one.days, one.start, one.end) for one in now.calling_hours.windows] == [(["mon"], "10:00", "12:30")]
        again = await visit.page(f"{page}/edit")
        assert ('value="12.500000"' in again, 'value="10:00"' in again) == (True, True)
        copied = await visit.send(f"{page}/copy", name="February")
        copy_id = copied.headers["location"].split("/")[2]
        assert (await tenant.client.deployments.get(id=copy_id)).calling_hours == now.calling_hours
        assert "has called nobody" in await visit.page(f"{page}/delete")
        assert (await visit.send(f"{page}/delete")).headers["location"] == "/campaigns"
        await visit.page(page, status=404)


@pytest.mark.requirement("DASH-67")
@pytest.mark.service(workers=False)
async def test_a_campaign_that_runs_keeps_what_was_promised_and_a_change_of_somebody_else_is_told(
    tenant: Tenant,
) -> None:
    made = await started(tenant, people(3))
    path = f"/campaigns/{made.id}/edit"
    async with logged_in(tenant) as visit:
        html = await visit.page(path)
        hidden = hidden_of(html)
        assert html.count(" disabled") > 5
        await tenant.client.deployments.update(id=made.id, name="Theirs")
        fields = {**hidden, "name": "Mine", "budget_cap": "9"}
        refused = await visit.http.post(path, data=fields, headers={"Origin": ORIGIN})
        assert (refused.status_code, "Somebody has changed this" in refused.text) == (409, True)
        assert 'value="Mine"' in refused.text
        assert (await tenant.client.deployments.get(id=made.id)).name == "Theirs"
        fields = {**hidden_of(refused.text), "name": "Mine", "budget_cap": "9"}
        assert (await visit.http.post(path, data=fields, headers={"Origin": ORIGIN})).status_code == 303
    now = await tenant.client.deployments.get(id=made.id)
    assert (now.name, now.agent_id, now.audience_id) == ("Mine", made.agent_id, made.audience_id)
    assert (now.phone_number_ids, now.calling_hours) == (made.phone_number_ids, made.calling_hours)


@pytest.mark.requirement("DASH-67")
@pytest.mark.service(workers=False)
async def test_saving_a_draft_keeps_an_agent_a_list_and_a_number_that_the_choices_do_not_hold(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(campaign_forms, "MOST_CHOICES", 1)
    made = await draft(tenant, people(2), name="December")
    await draft(tenant, people(2, first=2), name="Newer")
    path = f"/campaigns/{made.id}/edit"
    async with logged_in(tenant) as visit:
        answer = await visit.send(path, **{**chosen(await visit.page(path)), "name": "Later"})
        assert answer.status_code == 303, text_of(answer.text)
    now = await tenant.client.deployments.get(id=made.id)
    assert (now.name, now.agent_id, now.audience_id) == ("Later", made.agent_id, made.audience_id)
    assert now.phone_number_ids == made.phone_number_ids


@pytest.mark.service(workers=False)
async def test_hours_that_the_form_cannot_show_stay_as_they_are(tenant: Tenant) -> None:
    windows = [{"days": ["mon"], "start": "09:00", "end": "10:00"}, {"days": ["tue"], "start": "11:00", "end": "12:00"}]
    made = await draft(tenant, people(2), calling_hours={"windows": windows})
    path = f"/campaigns/{made.id}/edit"
    async with logged_in(tenant) as visit:
        html = await visit.page(path)
        assert 'value="kept" checked' in html
        assert (await visit.send(path, **{**chosen(html), "name": "Later"})).status_code == 303
    now = await tenant.client.deployments.get(id=made.id)
    assert (now.name, now.calling_hours) == ("Later", made.calling_hours)


@pytest.mark.requirement("DASH-68")
@pytest.mark.service(workers=False)
async def test_a_viewer_is_told_before_typing_and_sees_no_number_in_a_plan(tenant: Tenant) -> None:
    made = await draft(tenant, people(3))
    async with logged_in(tenant, role="viewer") as viewer:
        for path in ("/campaigns/new", *(f"/campaigns/{made.id}/{one}" for one in ("edit", "copy", "delete"))):
            assert "Ask a member or an owner of" in text_of(await viewer.page(path, status=403)), path
        plan = await viewer.page(f"/campaigns/{made.id}/start")
        assert phone(0) not in plan
        assert "Start: these people are called" not in plan
        assert "Change…" not in await viewer.page(f"/campaigns/{made.id}")


@pytest.mark.requirement("DASH-15")
async def test_a_campaign_and_its_calls_are_shown_after_their_agent_and_list_are_deleted(tenant: Tenant) -> None:
    made = await run(tenant, people(1, sim_outcome="answered"))
    await tenant.client.agents.delete(id=made.agent_id)
    await tenant.client.audiences.delete(id=str(made.audience_id))
    (call,) = [call async for call in tenant.client.calls.list(deployment_id=made.id)]
    async with logged_in(tenant) as visit:
        assert "agent deleted since · audience deleted since" in text_of(await visit.page(f"/campaigns/{made.id}"))
        assert "deleted since" in await visit.page(f"/calls/{call.id}")


def chosen(html: str) -> dict[str, str]:
    """What a browser sends of lists and boxes as the form shows them."""
    lists = re.findall(r'<select name="([a-z_]+)"[^>]*>(.*?)</select>', html, re.DOTALL)
    found = {name: re.findall(r'value="([^"]*)" selected', options) for name, options in lists}
    boxes = re.findall(r'name="(phone_number_ids|hours)" value="([^"]*)" checked', html)
    return {**{name: values[0] for name, values in found.items() if values}, **dict(boxes)}
