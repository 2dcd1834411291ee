"""A person is put on the do-not-call list from where they are looked at."""

import pytest

from tests.support.campaigns import people, phone, run
from tests.support.dashboard import logged_in, text_of
from tests.support.service import Tenant

pytestmark = pytest.mark.service(workers=True)


@pytest.mark.requirement("DASH-77")
@pytest.mark.parametrize("looked_at", ["call", "contact"])
async def test_a_person_is_put_on_the_list_without_their_number_being_shown_or_typed(
    tenant: Tenant, looked_at: str
) -> None:
    made = await run(tenant, people(1, sim_outcome="answered"))
    (call,) = [call async for call in tenant.client.calls.list(deployment_id=made.id)]
    path = f"/calls/{call.id}" if looked_at == "call" else f"/campaigns/{made.id}/contacts/{call.contact_id}"
    async with logged_in(tenant) as visit:
        person = await visit.page(f"{path}/person")
        assert f'href="{path}/do-not-call"' in person
        asks = await visit.page(f"{path}/do-not-call")
        assert phone(0) not in asks
        answer = await visit.send(f"{path}/do-not-call", note="asked on the phone")
        assert (answer.status_code, answer.headers["location"]) == (303, f"{path}/person")
        after = await visit.page(f"{path}/person")
    assert "on it since" in text_of(after)
    assert f'href="{path}/do-not-call"' not in after
    (entry,) = [entry async for entry in tenant.client.do_not_call.list()]
    assert (entry.number, entry.note, entry.reason) == (phone(0), "asked on the phone", "requested")
    assert entry.simulated == call.simulated


@pytest.mark.requirement("DASH-77")
async def test_a_viewer_is_not_offered_the_list_and_puts_nobody_on_it(tenant: Tenant) -> None:
    made = await run(tenant, people(1, sim_outcome="answered"))
    (call,) = [call async for call in tenant.client.calls.list(deployment_id=made.id)]
    async with logged_in(tenant, role="viewer") as viewer:
        path = f"/campaigns/{made.id}/contacts/{call.contact_id}"
        assert "do-not-call" not in (await viewer.page(path)).split("<main")[1]
        await viewer.page(f"{path}/do-not-call", status=403)
    assert [entry async for entry in tenant.client.do_not_call.list()] == []


async def test_a_number_without_a_plus_is_read_in_the_country_of_the_form_and_a_fault_names_its_field(
    tenant: Tenant,
) -> None:
    async with logged_in(tenant) as visit:
        path = "/do-not-call/add"
        wrong = await visit.send(path, number="(202) 555-0141", default_country="")
        assert (wrong.status_code, "choose the country of numbers without +" in text_of(wrong.text)) == (422, True)
        assert "default_country" not in text_of(wrong.text)
        assert (await visit.send(path, number="(202) 555-0141", default_country="US")).status_code == 303
    assert [entry.number async for entry in tenant.client.do_not_call.list()] == ["+12025550141"]
