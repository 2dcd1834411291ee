"""Showing a number: once, on the page that asks for it, and written down without the number."""

import re

import pytest

from callwright.contract.deployments.deployments import Deployment
from tests.support.calls.stored_calls import put_call
from tests.support.campaigns import people, phone, run
from tests.support.dashboard import ORIGIN, Visit, logged_in, text_of
from tests.support.service import Tenant

pytestmark = pytest.mark.service(workers=True)


async def _places(tenant: Tenant) -> tuple[Deployment, dict[str, tuple[str, str]]]:
    """Pages with a hidden number: by address, the number and what the audit log is about."""
    made = await run(tenant, people(2, sim_outcome="answered"))
    call = (await tenant.client.calls.list(deployment_id=made.id)).data[0]
    contact = (await tenant.client.deployments.list_contacts(id=made.id)).data[1]
    listed = await tenant.client.do_not_call.add(entries=[{"number": phone(99)}])  # pyright: ignore[reportArgumentType]
    entry = listed.entries[0].id
    return made, {
        f"/calls/{call.id}": (call.to, call.id),
        f"/campaigns/{made.id}/contacts/{contact.id}": (contact.phone_number, contact.id),
        f"/do-not-call/{entry}": (phone(99), entry),
    }


@pytest.mark.requirement("DASH-44", "DASH-45")
async def test_a_number_is_shown_once_where_a_member_asks_and_the_audit_log_says_who_without_it(
    tenant: Tenant,
) -> None:
    _, places = await _places(tenant)
    async with logged_in(tenant, role="member") as member:
        for page, (number, subject) in places.items():
            assert number not in await member.page(page)
            answer = await member.send(f"{page}/number", shown_at=page)
            assert (answer.status_code, answer.text.count(number)) == (200, 1), page
            assert number not in await member.page(page)
            (entry,) = [one async for one in tenant.client.audit_log.list(subject_id=subject, action="number.revealed")]
            assert entry.actor_id == entry.user_id
            assert number not in entry.model_dump_json()


@pytest.mark.requirement("DASH-44")
async def test_a_viewer_is_shown_no_number_and_no_button_for_it(tenant: Tenant) -> None:
    _, places = await _places(tenant)
    async with logged_in(tenant, role="viewer") as viewer:
        for page, (number, subject) in places.items():
            assert "Show the number" not in await viewer.page(page)
            fields = {"form_token": await viewer.token()}
            refused = await viewer.http.post(f"{page}/number", data=fields, headers={"Origin": ORIGIN})
            assert (refused.status_code, number in refused.text) == (403, False)
            assert [
                one async for one in tenant.client.audit_log.list(subject_id=subject, action="number.revealed")
            ] == []


@pytest.mark.requirement("DASH-44")
async def test_a_form_of_another_session_shows_no_number(tenant: Tenant) -> None:
    _, places = await _places(tenant)
    (page, (number, _)), *_ = places.items()
    async with logged_in(tenant) as visit:
        answer = await visit.http.post(f"{page}/number", data={"form_token": "0" * 64}, headers={"Origin": ORIGIN})
        assert (answer.status_code, number in answer.text) == (403, False)


@pytest.mark.requirement("DASH-45")
async def test_the_number_of_a_deleted_person_and_of_another_organization_is_not_there(tenant: Tenant) -> None:
    made, _ = await _places(tenant)
    call = (await tenant.client.calls.list(deployment_id=made.id)).data[0]
    await tenant.client.people.delete(number=call.to, confirm=True)
    async with logged_in(tenant) as visit:
        fields = {"form_token": await visit.token()}
        for call_id in (call.id, "cal_0000000000000000000000AA"):
            answer = await visit.http.post(f"/calls/{call_id}/number", data=fields, headers={"Origin": ORIGIN})
            assert (answer.status_code, call.to in answer.text) == (404, False)


@pytest.mark.requirement("DASH-49")
async def test_the_page_of_a_person_has_contacts_calls_consent_and_the_do_not_call_list(tenant: Tenant) -> None:
    made = await run(tenant, people(2, sim_outcome="answered"))
    call = (await tenant.client.calls.list(deployment_id=made.id)).data[0]
    async with logged_in(tenant) as visit:
        page = await visit.page(f"/calls/{call.id}/person")
        assert call.to not in page
        assert f"/campaigns/{made.id}/contacts/{call.contact_id}" in page
        assert f"/calls/{call.id}" in page
        assert "Do-not-call list not on it" in text_of(page)
        assert "Consent, as last called" in text_of(page)
        await tenant.client.calls.correct_disposition(call_uuid=call.id, disposition="do_not_call")
        assert "on it since" in text_of(await visit.page(f"/calls/{call.id}/person"))
        (entry,) = [one async for one in tenant.client.do_not_call.list(simulated=True)]
        assert f"/calls/{call.id}" in await visit.page(f"/do-not-call/{entry.id}/person")
    async with logged_in(tenant, role="viewer") as viewer:
        await viewer.page(f"/calls/{call.id}/person", status=403)


@pytest.mark.requirement("DASH-49")
async def test_a_contact_leads_to_its_calls_in_the_campaign_also_before_the_first_one(tenant: Tenant) -> None:
    made = await run(tenant, people(1, sim_outcome="answered"))
    call = (await tenant.client.calls.list(deployment_id=made.id)).data[0]
    async with logged_in(tenant) as visit:
        campaign = await visit.page(f"/campaigns/{made.id}")
        (history,) = re.findall(rf'href="(/campaigns/{made.id}/contacts/[^"]+)"', campaign)
        assert history.endswith(str(call.contact_id))
        page = await visit.page(history)
        assert (f'href="/calls/{call.id}"' in page, f'href="{history}/person"' in page) == (True, True)
        await visit.page(f"/campaigns/{made.id}/contacts/row_000000000000000000000000", status=404)


@pytest.mark.requirement("DASH-46")
async def test_a_disposition_is_corrected_on_the_page_of_its_call_and_both_are_shown(tenant: Tenant) -> None:
    call_id = await put_call(tenant, disposition="goal_met")
    async with logged_in(tenant) as visit:
        wrong = await visit.send(f"/calls/{call_id}/disposition", disposition="splendid", note="Kept words.")
        assert (wrong.status_code, "Kept words." in wrong.text) == (400, True)
        sent = await visit.send(
            f"/calls/{call_id}/disposition", disposition="wrong_person", note="It was her <b>son</b>."
        )
        assert (sent.status_code, sent.headers["location"]) == (303, f"/calls/{call_id}")
        page = await visit.page(f"/calls/{call_id}")
        assert "wrong person: corrected by Operator" in text_of(page)
        assert "The agent said goal met." in text_of(page)
        assert "It was her &lt;b&gt;son&lt;/b&gt;." in page
    async with logged_in(tenant, role="viewer") as viewer:
        assert "Correct…" not in await viewer.page(f"/calls/{call_id}")
        await _refused(viewer, call_id)


async def _refused(viewer: Visit, call_id: str) -> None:
    path, fields = f"/calls/{call_id}/disposition", {"disposition": "goal_met", "form_token": await viewer.token()}
    await viewer.page(path, status=403)
    answer = await viewer.http.post(path, data=fields, headers={"Origin": ORIGIN})
    assert (answer.status_code, "viewer" in answer.text) == (403, True)
