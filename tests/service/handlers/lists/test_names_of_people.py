"""People are found by the words of their names: on lists of calls, of conversations and of contacts."""

from collections.abc import Sequence
from typing import Any

import pytest

from callwright.service.platform.search_words import word_column
from tests.support import resources
from tests.support.calls.stored_calls import put_call, put_conversation
from tests.support.http.raw_requests import AsyncClient, refused
from tests.support.resources import row
from tests.support.service import Tenant

NAMES = (
    *("Ada Lovelace", "José Álvarez", "Zoë O'Neil", "Jörg Straßer", "Мария Иванова", "李 小龍", "राम कुमार"),
    *("100% Real", "under_score", "Xavier", "—"),
)
CASES = [
    ("ada", {"Ada Lovelace"}),
    ("LOVE", {"Ada Lovelace"}),
    ("love ada", {"Ada Lovelace"}),
    ("ada l", {"Ada Lovelace"}),
    ("lace", set[str]()),
    ("ada ivanova", set[str]()),
    ("jose alvarez", {"José Álvarez"}),
    ("José", {"José Álvarez"}),
    ("zoe", {"Zoë O'Neil"}),
    ("o'neil", {"Zoë O'Neil"}),
    ("strasser", {"Jörg Straßer"}),
    ("мар", {"Мария Иванова"}),
    ("ИВАНОВА", {"Мария Иванова"}),
    ("李", {"李 小龍"}),
    ("小", {"李 小龍"}),
    ("कुमार", {"राम कुमार"}),
    ("x", {"Xavier"}),
    ("xd", set[str]()),
    ("100", {"100% Real"}),
    ("%", set[str]()),
    ("_", set[str]()),
    ("a%", {"Ada Lovelace", "José Álvarez"}),
    ("under", {"under_score"}),
    ("score", {"under_score"}),
    ("u_der", set[str]()),
    ("ada' OR '1'='1", set[str]()),
    ("   ", set[str]()),
    ("?!", set[str]()),
]
"""What is asked for, and who is found."""


async def put_people(tenant: Tenant, names: Sequence[str] = NAMES) -> None:
    for index, name in enumerate(names):
        to_number = f"+1212555{100 + index:04d}"
        await put_call(tenant, contact_name=name, name_words=word_column(name), to_number=to_number)


async def test_calls_are_found_by_words_and_beginnings_of_words_in_any_script(tenant: Tenant) -> None:
    await put_people(tenant)
    await put_call(tenant, to_number="+12125550199")
    for asked, expected in CASES:
        page = await tenant.client.calls.list(contact_name=asked)
        assert {call.contact_name for call in page.data} == expected, asked
        assert page.pagination.total == len(expected), asked


async def test_contacts_are_found_by_words_and_beginnings_of_words_in_any_script(tenant: Tenant) -> None:
    rows = [{**row(index), "first_name": name} for index, name in enumerate(NAMES)]
    campaign = await resources.draft(tenant, "Names")
    await tenant.client.audiences.add_rows(id=campaign.audience.id, rows=rows[1:])
    await tenant.client.deployments.start(id=campaign.deployment.id)
    everybody = (await tenant.client.deployments.list_contacts(id=campaign.deployment.id, per_page=200)).data
    assert {one.name for one in everybody} == {"Person 0", *NAMES[1:]}
    for asked, expected in CASES:
        page = await tenant.client.deployments.list_contacts(id=campaign.deployment.id, name=asked)
        found = expected - {"Ada Lovelace"}
        assert {one.name for one in page.data} == found, asked
        assert page.pagination.total == len(found), asked


async def test_conversations_are_found_by_the_name_of_the_person(tenant: Tenant) -> None:
    said = ("contact", "Yes.")
    ada = await put_conversation(tenant, said, contact_name="Ada Lovelace", name_words=word_column("Ada Lovelace"))
    await put_conversation(tenant, said, contact_name="Bob", name_words=word_column("Bob"), to_number="+12125550101")
    found = await tenant.client.calls.read_conversations(contact_name="LOVELACE")
    assert [one.call_id for one in found.conversations] == [ada]
    counted = await tenant.client.calls.read_conversations(contact_name="love", view="distinct_turns")
    assert counted.calls == 1
    nobody = await tenant.client.calls.read_conversations(contact_name="?!")
    assert nobody.conversations == []


async def test_a_name_is_paged_by_cursor_each_call_once_and_the_cursor_holds_for_that_name_alone(
    tenant: Tenant, http: AsyncClient
) -> None:
    await put_people(tenant, [f"{first} {index}" for index in range(9) for first in ("Ada", "Bob")])
    page = await tenant.client.calls.list(contact_name="ada", per_page=4)
    cursor = page.pagination.next_cursor
    seen = [call.contact_name for call in page.data]
    assert page.pagination.total == 9
    while page.pagination.next_cursor is not None:
        page = await tenant.client.calls.list(contact_name="ada", per_page=4, cursor=page.pagination.next_cursor)
        seen += [call.contact_name for call in page.data]
    assert sorted(map(str, seen)) == [f"Ada {index}" for index in range(9)]
    other = await http.get("/v1/calls", params={"filter[contact_name]": "bob", "cursor": str(cursor)})
    refused(other, 400, "invalid_cursor", "cursor")


async def test_a_name_and_other_filters_hold_together(tenant: Tenant) -> None:
    words: dict[str, Any] = {"contact_name": "Ada", "name_words": word_column("Ada")}
    await put_call(tenant, **words, outcome="busy", to_number="+12125550101")
    answered = await put_call(tenant, **words, outcome="answered", to_number="+12125550102")
    await put_call(tenant, outcome="answered", to_number="+12125550103")
    page = await tenant.client.calls.list(contact_name="ada", outcome=["answered"])
    assert [call.id for call in page.data] == [answered]


async def test_nobody_finds_people_of_another_organization(tenant: Tenant, other: Tenant) -> None:
    await put_people(tenant)
    assert (await other.client.calls.list(contact_name="ada")).data == []


@pytest.mark.service(workers=True)
async def test_calls_of_a_campaign_keep_the_name_by_which_they_are_found(tenant: Tenant) -> None:
    campaign = await resources.draft(tenant, "Names")
    await tenant.client.deployments.start(id=campaign.deployment.id)
    await tenant.ended(campaign.deployment.id)
    found = await tenant.client.calls.list(contact_name="person")
    assert found.pagination.total >= 1
    assert {call.contact_name for call in found.data} == {"Person 0"}
    assert (await tenant.client.calls.list(contact_name="nobody")).data == []


async def test_a_name_that_is_too_long_is_refused_and_one_without_a_letter_finds_nobody(
    tenant: Tenant, http: AsyncClient
) -> None:
    await put_people(tenant)
    long = await http.get("/v1/calls", params={"filter[contact_name]": "x" * 256})
    refused(long, 400, "invalid_field", "filter[contact_name]")
    blank = await http.get("/v1/calls", params={"filter[contact_name]": " "})
    assert (blank.status_code, blank.json()["data"], blank.json()["pagination"]["total"]) == (200, [], 0)
