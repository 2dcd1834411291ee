"""Paging, sorting and filtering, on the lists that have most to page."""

import base64

import pytest
from sqlalchemy import update

from callwright.contract.declaration.filters import filter_of
from callwright.contract.surface import OPERATIONS
from callwright.service.tables.schema import agents
from tests.support import resources
from tests.support.http.raw_requests import AsyncClient, refused
from tests.support.resources import refusal, row
from tests.support.service import Tenant
from tests.support.webhooks.sent_events import subscribe

LISTS = [operation for operation in OPERATIONS.values() if operation.shape == "many"]
NAMES = ("Zoë", "zoe", "Ärger", "anton", "Anton", "Émile", "emile", "ß", "ss", "李", "1", "_", "a b", "a-b", "🙂")
"""Names that databases with a language of their own would order in many ways."""


async def many_agents(tenant: Tenant, count: int) -> list[str]:
    """Ids of so many agents, all made at the same moment."""
    made = [(await resources.agent(tenant, f"A{index:03d}")).id for index in range(count)]
    same = update(agents).values(created_at=1_800_000_000_000)
    await tenant.database.write(lambda connection: connection.execute(same).rowcount)
    return made


@pytest.mark.requirement("PAGE-12", "PAGE-13")
@pytest.mark.parametrize("sort", [None, "created_at", "-name", "name", "created_at,-name", "-created_at,updated_at"])
async def test_a_walk_is_complete_and_without_repeats_while_others_insert(tenant: Tenant, sort: str | None) -> None:
    made = await many_agents(tenant, 12)
    seen: list[str] = []
    listing = (
        tenant.client.agents.list(per_page=5) if sort is None else tenant.client.agents.list(per_page=5, sort=sort)
    )
    async for page in listing.pages():
        assert page.pagination.total == 12
        assert page.pagination.page == 1 + len(seen) // 5
        seen.extend(entry.id for entry in page.data)
        for name in ("A000x", "ZZZ", "000"):
            await resources.agent(tenant, f"{name}{len(seen)}")
        if len(seen) > 40:
            break
    assert len(seen) == len(set(seen))
    assert set(made) <= set(seen)


@pytest.mark.requirement("PAGE-20")
async def test_a_walk_goes_on_behind_an_entry_that_was_deleted(tenant: Tenant) -> None:
    made = await many_agents(tenant, 6)
    first = await tenant.client.agents.list(per_page=2, sort="name")
    assert first.pagination.next_cursor is not None
    await tenant.client.agents.delete(id=made[1])
    await tenant.client.agents.delete(id=made[2])
    rest = await tenant.client.agents.list(per_page=5, sort="name", cursor=first.pagination.next_cursor)
    assert [entry.id for entry in rest.data] == made[3:]
    assert not rest.pagination.has_more


@pytest.mark.requirement("PAGE-02", "PAGE-07", "PAGE-10", "PAGE-18")
async def test_pages_and_cursors_give_the_same_entries(tenant: Tenant) -> None:
    made = await many_agents(tenant, 11)
    find = tenant.client.agents.list
    pages = [await find(page=number, per_page=5, sort="name") for number in (1, 2, 3, 4)]
    assert [entry.id for page in pages for entry in page.data] == made
    assert [page.pagination.has_more for page in pages] == [True, True, False, False]
    assert [len(page.data) for page in pages] == [5, 5, 1, 0]
    assert {page.pagination.total for page in pages} == {11}
    assert [page.pagination.page for page in pages] == [1, 2, 3, 4]
    assert [page.pagination.next_cursor is None for page in pages] == [False, False, True, True]
    assert pages[1].pagination.next_cursor is not None
    third = await find(cursor=pages[1].pagination.next_cursor, per_page=200, sort="name")
    assert [entry.id for entry in third.data] == made[10:]
    assert third.pagination.page == 3
    exact = await find(per_page=11)
    assert (exact.pagination.has_more, exact.pagination.next_cursor) == (False, None)
    assert (await find()).pagination.per_page == 50


@pytest.mark.requirement("FILTER-12")
async def test_names_are_in_the_same_order_on_both_engines(tenant: Tenant) -> None:
    for name in NAMES:
        await resources.agent(tenant, name)
    by_code_point = sorted(NAMES)
    assert [entry.name async for entry in tenant.client.agents.list(sort="name", per_page=4)] == by_code_point
    assert [entry.name async for entry in tenant.client.agents.list(sort="-name", per_page=4)] == by_code_point[::-1]
    for name in NAMES:
        assert [entry.name async for entry in tenant.client.agents.list(name=name)] == [name]


@pytest.mark.requirement("FILTER-06", "FILTER-07")
async def test_several_sort_fields_count_in_their_order(tenant: Tenant) -> None:
    await many_agents(tenant, 4)
    older = update(agents).where(agents.c.name.in_(["A001", "A003"])).values(created_at=1_700_000_000_000)
    await tenant.database.write(lambda connection: connection.execute(older).rowcount)
    for sort, expected in (
        ("created_at,name", "1302"),
        ("created_at,-name", "3120"),
        ("-created_at,name", "0213"),
        ("-created_at,-name", "2031"),
        (" -created_at , name ", "0213"),
    ):
        order = [entry.name[-1] async for entry in tenant.client.agents.list(sort=sort, per_page=1)]
        assert "".join(order) == expected, sort


@pytest.mark.requirement("PAGE-06", "PAGE-14", "PAGE-15", "PAGE-17", "PAGE-18", "ERR-53")
async def test_a_cursor_that_was_not_given_out_for_this_list_is_refused(tenant: Tenant, http: AsyncClient) -> None:
    await many_agents(tenant, 5)
    first = await tenant.client.agents.list(per_page=2, sort="name")
    cursor = first.pagination.next_cursor
    assert cursor is not None
    raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    forged = [raw[:-1] + bytes([raw[-1] ^ 1]), bytes([raw[0] ^ 1]) + raw[1:], raw[:16], raw[16:], raw + b" "]
    bad = [base64.urlsafe_b64encode(each).decode() for each in forged]
    for each in (*bad, "x", "!!!!", "ü", "A" * 2_000, cursor[:-4], cursor + cursor):
        answer = await http.get("/v1/agents", params={"cursor": each, "sort": "name"})
        refused(answer, 400, "invalid_cursor", "cursor")
    refused(await http.get("/v1/agents", params={"cursor": ""}), 400, "invalid_field", "cursor")
    for changed in ({"sort": "-name"}, {"sort": "created_at"}, {"sort": "name", "filter[language]": "en-US"}, {}):
        answer = await http.get("/v1/agents", params={"cursor": cursor, **changed})
        refused(answer, 400, "invalid_cursor", "cursor")
    elsewhere = await http.get("/v1/audiences", params={"cursor": cursor, "sort": "name"})
    refused(elsewhere, 400, "invalid_cursor", "cursor")
    both = await http.get("/v1/agents", params={"cursor": cursor, "sort": "name", "page": "1"})
    refused(both, 400, "invalid_field", "page")
    again = await http.get("/v1/agents", params={"cursor": cursor, "sort": "name", "per_page": "3"})
    assert [entry["name"] for entry in again.json()["data"]] == ["A002", "A003", "A004"]


@pytest.mark.requirement("PAGE-15")
async def test_a_cursor_of_one_audiences_rows_is_not_one_of_anothers(tenant: Tenant) -> None:
    rows = [row(index) for index in range(3)]
    first, second = (await resources.audience(tenant, "1", rows=rows), await resources.audience(tenant, "2", rows=rows))
    cursor = (await tenant.client.audiences.list_rows(id=first.id, per_page=1)).pagination.next_cursor
    assert cursor is not None
    async with refusal(400, "invalid_cursor", "cursor"):
        await tenant.client.audiences.list_rows(id=second.id, per_page=1, cursor=cursor)


async def test_rows_and_contacts_come_in_the_order_of_the_file(tenant: Tenant) -> None:
    campaign = await resources.draft(tenant)
    added = [row(index) for index in range(60, 0, -1)]
    await tenant.client.audiences.add_rows(id=campaign.audience.id, rows=added)
    await tenant.client.deployments.start(id=campaign.deployment.id)
    numbers = [row()["phone_number"], *(entry["phone_number"] for entry in added)]
    rows = tenant.client.audiences.list_rows(id=campaign.audience.id, per_page=7)
    assert [entry.phone_number async for entry in rows] == numbers
    contacts = tenant.client.deployments.list_contacts(id=campaign.deployment.id, per_page=7)
    assert [entry.phone_number async for entry in contacts] == numbers
    last = await tenant.client.audiences.list_rows(id=campaign.audience.id, sort="-position", per_page=1)
    assert last.data[0].phone_number == numbers[-1]


ASKED = {"search_available_numbers": {"filter[country]": "US"}, "search_transcripts": {"query": "hello"}}
"""What a list needs to be asked."""


@pytest.mark.requirement("PAGE-03", "PAGE-08", "PAGE-09", "FILTER-08", "FILTER-09", "FILTER-10", "LIMIT-02")
@pytest.mark.parametrize("name", [operation.name for operation in LISTS])
async def test_every_list_refuses_bad_paging_sorting_and_filters_by_name(
    tenant: Tenant, http: AsyncClient, name: str
) -> None:
    operation = OPERATIONS[name]
    campaign = await resources.draft(tenant)
    waiting = await tenant.client.audiences.import_csv(id=campaign.audience.id, csv="phone\n1\n")
    tried = await tenant.client.webhooks.test(id=(await subscribe(tenant)).id)
    own = {
        "agents": campaign.agent.id,
        "deployments": campaign.deployment.id,
        "webhooks": tried.webhook_id,
        "events": tried.event_id,
        "phone_numbers": campaign.number.id,
    }.get(operation.noun, campaign.audience.id)
    path = "/v1" + operation.path.replace("{id}", own).replace("{import_id}", waiting.id)
    base = ASKED.get(name, {})
    for field, values in (
        (
            "per_page",
            ("0", "201", "-1", "x", "", "1.5", "99999999999999999999", "1_0", "+5", "5.0", " 5", "\u0665"),
        ),
        ("page", ("0", "-1", "x", "1000001")),
        ("sort", ("colour", "-colour", "created_at;", ",", "-", "id,,id", "--name", "x" * 201)),
        ("filter[colour]", ("red",)),
        ("colour", ("red",)),
    ):
        for value in values:
            refused(await http.get(path, params={**base, field: value}), 400, "invalid_field", field)
    for sort in operation.sorts:
        for text in (sort, f"-{sort}"):
            answer = await http.get(path, params={**base, "sort": text, "per_page": "200"})
            assert answer.status_code == 200, answer.text
    for filtered, field in operation.takes.model_fields.items():
        if filter_of(field) is None:
            continue
        wire = operation.wire_name(filtered)
        dated = filtered in ("created_from", "created_before")
        if dated:
            for value in ("1700000000", "2026-01-01", "now"):
                refused(await http.get(path, params={**base, wire: value}), 400, "invalid_field", wire)
        answer = await http.get(path, params={**base, wire: "2026-01-01T00:00:00Z" if dated else "zz"})
        if answer.status_code != 200:
            refused(answer, 400, "invalid_field", wire)
        elif not dated:
            assert answer.json()["data"] == []


@pytest.mark.requirement("PAGE-19")
async def test_a_page_far_down_points_to_the_cursor(tenant: Tenant) -> None:
    assert (await tenant.client.calls.list(page=51, per_page=200)).data == []
    async with refusal(400, "invalid_field", "page") as kept:
        await tenant.client.calls.list(page=52, per_page=200)
    assert "cursor" in kept[0].message
