"""Phone numbers over the typed client."""

from datetime import timedelta
from typing import Any

import pytest

from callwright.client import ServiceProblem
from callwright.contract.deployments.call_price import MICROS
from callwright.service import accounts
from callwright.service.tables.ledger import Movement, book
from tests.support import resources
from tests.support.http.raw_requests import AsyncClient, refused
from tests.support.resources import refusal
from tests.support.service import Tenant
from tests.support.tasks import all_at_once


@pytest.mark.requirement("SERV-04", "PATH-09", "PATH-25")
async def test_a_rented_number_is_charged_and_read_back_the_same(tenant: Tenant) -> None:
    numbers = tenant.client.phone_numbers
    offered = (await numbers.search_available(country="US", per_page=1)).data[0]
    made = await numbers.rent(country="US", number=offered.number)
    assert made.id.startswith("num_")
    assert (made.number, made.country, made.number_type) == (offered.number, "US", "local")
    assert (made.status, made.simulated, made.auto_renew, made.label) == ("active", True, True, "")
    assert (made.outbound_deployment_ids, made.released_at, made.metadata) == ([], None, {})
    assert made.monthly_cost == offered.monthly_cost
    assert made.renews_at == made.created_at + timedelta(days=30)
    assert await numbers.get(id=made.id) == made
    charge = (await tenant.client.wallet.list_transactions(type=["number_rental"])).data[0]
    assert charge.amount.amount == "-1.150000"
    assert charge.reference is not None
    assert (charge.reference.type, charge.reference.id) == ("phone_number", made.id)


@pytest.mark.requirement("SERV-04", "PATH-18", "PATH-25", "ERR-63")
async def test_a_rented_number_is_not_offered_to_anybody_until_it_is_released(tenant: Tenant, other: Tenant) -> None:
    made = await tenant.client.phone_numbers.rent(country="US", area_code="212")
    assert made.number.startswith("+1212")
    for each in (tenant, other):
        found = (await each.client.phone_numbers.search_available(country="US", per_page=200)).data
        assert made.number not in {entry.number for entry in found}
        async with refusal(409, "number_unavailable", "number"):
            await each.client.phone_numbers.rent(country="US", number=made.number)
    released = await tenant.client.phone_numbers.release(id=made.id)
    assert (released.status, released.renews_at) == ("released", None)
    assert released.released_at is not None
    assert await tenant.client.phone_numbers.release(id=made.id) == released
    assert (await other.client.phone_numbers.rent(country="US", number=made.number)).number == made.number
    assert (await tenant.client.phone_numbers.get(id=made.id)).status == "released"


@pytest.mark.requirement("ERR-63")
async def test_twenty_who_want_one_number_at_once_give_it_to_one(tenant: Tenant) -> None:
    outcomes: list[str] = []
    offered = (await tenant.client.phone_numbers.search_available(country="US", per_page=1)).data[0]

    async def rent() -> None:
        try:
            await tenant.client.phone_numbers.rent(country="US", number=offered.number)
        except ServiceProblem as problem:
            outcomes.append(problem.code)
        else:
            outcomes.append("rented")

    await all_at_once(20, rent, within_s=30)
    assert sorted(outcomes) == ["number_unavailable"] * 19 + ["rented"]
    assert (await tenant.client.wallet.get()).balance.amount == "98.850000"


async def test_many_who_want_any_number_at_once_get_different_ones(tenant: Tenant) -> None:
    rented: list[str] = []

    async def rent() -> None:
        rented.append((await tenant.client.phone_numbers.rent(country="US", area_code="212")).number)

    await all_at_once(15, rent, within_s=30)
    assert len(set(rented)) == 15


@pytest.mark.requirement("PATH-25")
@pytest.mark.parametrize(
    ("asked", "price"),
    [
        ({"country": "US", "number_type": "toll_free"}, "2.150000"),
        ({"country": "DE", "number_type": "mobile"}, "2.000000"),
        ({"country": "GB"}, "1.150000"),
        ({"country": "DE", "number_type": "national"}, "1.500000"),
        ({"country": "CA", "area_code": "416"}, "1.150000"),
        ({"country": "US", "contains": "0555"}, "1.150000"),
    ],
)
async def test_what_is_offered_fits_what_was_asked_and_can_be_rented(
    tenant: Tenant, asked: dict[str, Any], price: str
) -> None:
    found = await tenant.client.phone_numbers.search_available(**asked, per_page=200)
    numbers = [entry.number for entry in found.data]
    assert numbers == sorted(numbers)
    assert found.pagination.total == len(numbers) == len(set(numbers)) or found.pagination.has_more
    assert {entry.monthly_cost.amount for entry in found.data} <= {price}
    assert {entry.country for entry in found.data} <= {asked["country"]}
    if not numbers:
        async with refusal(409, "number_unavailable", "country"):
            await tenant.client.phone_numbers.rent(**asked)
        return
    for number in (numbers[0], numbers[-1]):
        kind = asked.get("number_type", "local")
        made = await tenant.client.phone_numbers.rent(country=asked["country"], number=number, number_type=kind)
        assert (made.number, made.monthly_cost.amount) == (number, price)


async def test_a_number_that_does_not_exist_is_unavailable(tenant: Tenant) -> None:
    rent = tenant.client.phone_numbers.rent
    for number in ("+12125559999", "+492115550100", "hello", "+", "+1202555" + "0100", "٠١٢"):
        async with refusal(409, "number_unavailable", "number"):
            await rent(country="US", number=number)
    async with refusal(409, "number_unavailable", "country"):
        await rent(country="ZZ")
    async with refusal(409, "number_unavailable", "country"):
        await rent(country="US", area_code="999")
    async with refusal(409, "number_unavailable", "country"):
        await rent(country="US", contains="98765")
    assert (await tenant.client.phone_numbers.search_available(country="ZZ")).data == []
    assert (await tenant.client.wallet.get()).balance.amount == "100.000000"


async def test_bad_fields_are_refused_by_name(http: AsyncClient) -> None:
    refused(await http.post("/v1/phone_numbers", json={}), 400, "missing_field", "country")
    for field, value in (
        ("country", "us"),
        ("country", "USA"),
        ("number", "+" + "1" * 40),
        ("number", "+1\0"),
        ("area_code", "21a"),
        ("contains", "1234567890123456"),
        ("number_type", "satellite"),
        ("label", "x" * 201),
        ("label", "\u3000 "),
        ("auto_renew", "yes"),
        ("metadata", {"k": 1}),
    ):
        answer = await http.post("/v1/phone_numbers", json={"country": "US", field: value})
        name = "metadata.k" if field == "metadata" else field
        refused(answer, 400, "invalid_field", name)
    available = "/v1/phone_numbers/available"
    refused(await http.get(available), 400, "missing_field", "filter[country]")
    refused(await http.get(f"{available}?filter[country]=us"), 400, "invalid_field", "filter[country]")
    refused(await http.get(f"{available}?filter[country]=US&sort=price"), 400, "invalid_field", "sort")
    refused(await http.get(f"{available}?filter[country]=US&cursor=x"), 400, "invalid_cursor", "cursor")


@pytest.mark.requirement("CONV-20", "SERV-04", "PATH-25")
async def test_a_number_is_changed_in_label_renewal_and_metadata_only(tenant: Tenant, http: AsyncClient) -> None:
    made = await resources.number(tenant)
    changed = await tenant.client.phone_numbers.update(id=made.id, label="Front desk", auto_renew=False)
    assert (changed.label, changed.auto_renew, changed.metadata) == ("Front desk", False, {})
    changed = await tenant.client.phone_numbers.update(id=made.id, metadata={"desk": "1"})
    assert (changed.label, changed.auto_renew, changed.metadata) == ("Front desk", False, {"desk": "1"})
    path = f"/v1/phone_numbers/{made.id}"
    refused(await http.patch(path, json={"auto_renew": None}), 400, "invalid_field", "auto_renew")
    for field in ("number", "country", "status"):
        refused(await http.patch(path, json={field: "x"}), 400, "invalid_field", field)


@pytest.mark.requirement("ERR-62")
async def test_a_number_of_a_live_deployment_is_shown_so_and_cannot_be_released(tenant: Tenant) -> None:
    campaign = await resources.draft(tenant)
    numbers = tenant.client.phone_numbers
    assert (await numbers.get(id=campaign.number.id)).outbound_deployment_ids == [campaign.deployment.id]
    assert (await numbers.list()).data[0].outbound_deployment_ids == [campaign.deployment.id]
    assert (await numbers.update(id=campaign.number.id)).outbound_deployment_ids == [campaign.deployment.id]
    async with refusal(409, "phone_number_in_use") as kept:
        await numbers.release(id=campaign.number.id)
    assert kept[0].details == {"used_by": [campaign.deployment.id]}
    await tenant.client.deployments.cancel(id=campaign.deployment.id)
    assert (await numbers.release(id=campaign.number.id)).outbound_deployment_ids == []


async def _spend_all_but(tenant: Tenant, micros: int) -> None:
    charge = Movement("adjustment", micros - 100 * MICROS, "organization", tenant.org_id, "spent")
    now_ms = tenant.services.clock.now_ms()
    await tenant.database.write(
        lambda connection: book(connection, tenant.services.ids, tenant.org_id, [charge], now_ms=now_ms)
    )


@pytest.mark.requirement("ERR-21", "ERR-68")
async def test_a_number_that_the_wallet_does_not_cover_is_not_rented(tenant: Tenant) -> None:
    await _spend_all_but(tenant, 1_149_999)
    async with refusal(422, "insufficient_credits") as kept:
        await resources.number(tenant)
    assert kept[0].details == {"required": "1.150000", "available": "1.149999"}
    await tenant.database.write(accounts.fund, tenant.services.ids, tenant.org_id, 1, tenant.services.clock.now_ms())
    await resources.number(tenant)
    assert (await tenant.client.wallet.get()).balance.amount == "0.000000"


@pytest.mark.requirement("PATH-11", "FILTER-02", "FILTER-03", "SERV-04")
async def test_numbers_are_found_by_state_country_type_and_number(tenant: Tenant) -> None:
    numbers = tenant.client.phone_numbers
    us = [await resources.number(tenant) for _ in range(2)]
    german = await numbers.rent(country="DE", number_type="mobile")
    await numbers.release(id=us[0].id)
    assert [entry.id async for entry in numbers.list(status=["released"])] == [us[0].id]
    assert {entry.id async for entry in numbers.list(status=["active", "released"], country="US")} == {
        entry.id for entry in us
    }
    assert [entry.id async for entry in numbers.list(number=us[1].number)] == [us[1].id]
    assert [entry.id async for entry in numbers.list(number_type="mobile")] == [german.id]
    by_number = [entry.number async for entry in numbers.list(sort="-number")]
    assert by_number == sorted(by_number, reverse=True)
