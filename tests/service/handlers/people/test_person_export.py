"""One person's data is given out: everything that is kept about the number, page by page."""

from typing import Any

import pytest

from callwright.contract.people import PersonExport
from tests.service.handlers.people.life import DIGITS, FIRST, LAST, NUMBER, OTHER_NAME, live, opt_out
from tests.support.calls.stored_calls import put_call, put_conversation
from tests.support.campaigns import make_audience, people, phone, started
from tests.support.http.raw_requests import AsyncClient, refused
from tests.support.resources import refusal
from tests.support.service import Tenant
from tests.support.webhooks.routing import GOOD, logged


@pytest.mark.service(workers=True)
@pytest.mark.requirement("PERSON-01")
async def test_an_export_holds_everything_of_a_whole_life_and_nothing_of_anybody_else(tenant: Tenant) -> None:
    life = await live(tenant)
    await opt_out(tenant)
    found = await tenant.client.people.export(number=NUMBER)
    assert found.counts.model_dump() == {"audience_rows": 3, "contacts": 2, "refused_rows": 2, "calls": 2}
    assert (found.numbers, found.next_cursor) == ([NUMBER], None)
    assert {row.audience_id for row in found.audience_rows} >= {life.audience_id}
    row = next(row for row in found.audience_rows if row.audience_id == life.audience_id)
    assert (row.phone_number, row.name, row.external_id) == (NUMBER, f"{FIRST} {LAST}", DIGITS)
    assert row.values == {"first_name": FIRST, "last_name": LAST, "crm": DIGITS}
    contact = next(contact for contact in found.contacts if contact.deployment_id == life.deployment_id)
    assert (contact.status, contact.name, contact.last_call_id) == ("completed", f"{FIRST} {LAST}", life.call_id)
    assert {one.code for one in found.refused_rows} == {"duplicate_in_file", "invalid_phone"}
    assert {one.import_id for one in found.refused_rows} == {life.import_id}
    spoken = next(one for one in found.calls if one.call.id == life.call_id)
    assert spoken.call == await tenant.client.calls.get(call_uuid=life.call_id)
    assert spoken.turns == (await tenant.client.calls.get_transcript(call_uuid=life.call_id)).turns
    assert spoken.call.recording.status == "available"
    assert spoken.call.recording_url is not None
    (entry,) = found.do_not_call
    assert (entry.number, entry.simulated, entry.reason) == (NUMBER, True, "opted_out")
    whole = found.model_dump_json()
    assert OTHER_NAME not in whole
    assert "sim.outcome" not in whole


@pytest.mark.requirement("PERSON-02", "ROUTE-12")
@pytest.mark.parametrize("per_page", [1, 2, 3, 5, 100])
async def test_pages_of_an_export_hold_each_entry_once_and_no_more_than_asked_for(
    per_page: int, tenant: Tenant
) -> None:
    await started(tenant, people(1))
    await make_audience(tenant, people(1), "Again")
    for _ in range(3):
        await put_conversation(tenant, ("contact", "Hello there."), to_number=phone(0))
    came_in = await put_call(tenant, call_type="inbound", from_number=phone(0), to_number="+12125550150")
    await logged(tenant, "num_1", GOOD, call_id=came_in, from_=phone(0))
    pages = await _pages(tenant, phone(0), per_page)
    assert all(_size(page) <= per_page for page in pages)
    ids = [one.call.id for page in pages for one in page.calls]
    assert len(ids) == len(set(ids)) == 4
    assert [len(page.next_cursor or "") > 0 for page in pages] == [True] * (len(pages) - 1) + [False]
    rows = [row.id for page in pages for row in page.audience_rows]
    assert len(rows) == len(set(rows)) == 2
    assert sum(len(page.contacts) for page in pages) == 1
    assert len(pages) == -(-7 // per_page)
    assert {page.counts.calls for page in pages} == {4}
    routed = {one.call.id: one.routing for page in pages for one in page.calls if one.routing is not None}
    assert [*routed] == [came_in]
    assert (routed[came_in].from_number, routed[came_in].response_excerpt) == (phone(0), "{}")


async def _pages(tenant: Tenant, number: str, per_page: int) -> list[PersonExport]:
    pages = [await tenant.client.people.export(number=number, per_page=per_page)]
    while (cursor := pages[-1].next_cursor) is not None:
        pages.append(await tenant.client.people.export(number=number, per_page=per_page, cursor=cursor))
    return pages


def _size(page: PersonExport) -> int:
    return sum(map(len, (page.audience_rows, page.contacts, page.refused_rows, page.calls)))


async def test_of_somebody_who_is_not_known_there_is_nothing(tenant: Tenant) -> None:
    found = await tenant.client.people.export(number=phone(0))
    assert set(found.counts.model_dump().values()) == {0}
    assert (_size(found), found.do_not_call, found.next_cursor) == (0, [], None)


async def test_a_written_number_means_the_same_person_as_its_plain_form(tenant: Tenant) -> None:
    await make_audience(tenant, people(1))
    written = await tenant.client.people.export(number="+1 (415) 550-0000")
    assert written == await tenant.client.people.export(number=phone(0))
    assert written.counts.audience_rows == 1


async def test_a_cursor_of_another_person_or_organization_is_refused(tenant: Tenant, other: Tenant) -> None:
    for one in (tenant, other):
        for index in range(2):
            await make_audience(one, people(2), f"List {index}")
    cursor = (await tenant.client.people.export(number=phone(0), per_page=1)).next_cursor
    async with refusal(400, "invalid_cursor", "cursor"):
        await tenant.client.people.export(number=phone(1), cursor=cursor)
    async with refusal(400, "invalid_cursor", "cursor"):
        await other.client.people.export(number=phone(0), cursor=cursor)


async def test_a_page_of_an_export_has_at_most_a_thousand_entries(http: AsyncClient) -> None:
    for per_page in (0, 1_001):
        answer = await http.post("/v1/people/export", json={"number": NUMBER, "per_page": per_page})
        refused(answer, 400, "invalid_field", "per_page")


async def test_an_export_is_not_stored_with_an_idempotency_key(tenant: Tenant, http: AsyncClient) -> None:
    headers: dict[str, Any] = {"Idempotency-Key": "once"}
    body = {"number": phone(0)}
    assert (await http.post("/v1/people/export", json=body, headers=headers)).json()["data"]["audience_rows"] == []
    await make_audience(tenant, people(1))
    again = await http.post("/v1/people/export", json=body, headers=headers)
    assert "idempotent-replayed" not in again.headers
    assert len(again.json()["data"]["audience_rows"]) == 1
