"""The wallet over the typed client."""

import json
from decimal import Decimal
from typing import Any

import pytest

from callwright.contract.declaration.field_types import Spend
from callwright.contract.deployments.call_price import MICROS
from callwright.contract.wallet import TransactionType
from callwright.service import accounts
from callwright.service.tables.schema import audit_log
from tests.support import resources
from tests.support.campaigns import ONCE, draft, people, run
from tests.support.database.statements import recorded
from tests.support.http.raw_requests import AsyncClient, refused
from tests.support.service import Tenant
from tests.support.webhooks.sent_events import rows_of


@pytest.mark.requirement("SERV-07", "RES-14", "PATH-17")
async def test_a_new_wallet_holds_a_hundred_dollars_of_play_money(tenant: Tenant) -> None:
    wallet = await tenant.client.wallet.get()
    assert wallet.balance.amount == wallet.available.amount == "100.000000"
    assert wallet.low_balance_threshold is not None
    assert (wallet.reserved.amount, wallet.low_balance_threshold.amount) == ("0.000000", "10.000000")
    assert (wallet.low_balance, wallet.play_money) == (False, True)
    assert {price.item for price in wallet.prices} == {
        "outbound_call",
        "local_number",
        "mobile_number",
        "national_number",
        "toll_free_number",
    }
    assert {price.unit for price in wallet.prices} == {"minute", "month"}
    assert {money.currency for money in (wallet.balance, wallet.available, *(p.price for p in wallet.prices))} == {
        "USD"
    }


@pytest.mark.requirement("RES-15", "PATH-17")
@pytest.mark.service(extra_dollars=5)
async def test_every_movement_is_listed_and_they_add_up_to_the_balance(tenant: Tenant) -> None:
    for _ in range(3):
        await resources.number(tenant)
    listed = [entry async for entry in tenant.client.wallet.list_transactions(per_page=2)]
    wallet = await tenant.client.wallet.get()
    assert [entry.type for entry in listed].count("number_rental") == 3
    assert [entry.type for entry in listed].count("topup") == 2
    assert sum(round(float(entry.amount.amount) * MICROS) for entry in listed) == 101_550_000
    assert wallet.balance.amount == "101.550000"
    assert {entry.status for entry in listed} == {"settled"}
    assert all(entry.play_money for entry in listed)


@pytest.mark.requirement("RES-15")
@pytest.mark.service(workers=True)
async def test_a_statement_adds_up_line_by_line_although_many_movements_are_booked_at_once(tenant: Tenant) -> None:
    answers = people(40, sim_outcome="answered")
    made = [await draft(tenant, answers, name, max_concurrency=20) for name in ("A", "B")]
    for one in made:
        await tenant.client.deployments.start(id=one.id)
    for one in made:
        await tenant.ended(one.id)
    for sort, step in (("created_at", 1), ("-created_at", -1)):
        listed = [entry async for entry in tenant.client.wallet.list_transactions(sort=sort, per_page=30)][::step]
        assert len(listed) > 80
        balance = Decimal(0)
        for entry in listed:
            balance += Decimal(entry.amount.amount)
            assert Decimal(entry.balance_after.amount) == balance


async def test_movements_are_found_by_type_reference_and_moment(tenant: Tenant) -> None:
    rented = [await resources.number(tenant) for _ in range(2)]
    movements = tenant.client.wallet.list_transactions
    found = (await movements(reference_id=rented[0].id)).data
    assert [(entry.type, entry.amount.amount) for entry in found] == [("number_rental", "-1.150000")]
    assert len((await movements(type=["topup", "number_rental"])).data) == 3
    assert (await movements(type=["call_charge", "refund"])).data == []
    assert (await movements(created_before=found[0].created_at.replace(year=2000))).data == []
    await tenant.database.write(accounts.fund, tenant.services.ids, tenant.org_id, 1, tenant.services.clock.now_ms())
    assert {entry.amount.amount for entry in (await movements(type=["topup"])).data} == {"100.000000", "0.000001"}


@pytest.mark.service(workers=True)
@pytest.mark.parametrize("engine", ["sqlite", "postgres"], indirect=True)
async def test_what_was_held_and_let_go_is_listed_by_an_index_that_has_no_charges(tenant: Tenant) -> None:
    await run(tenant, people(12, sim_outcome="answered"), retry_policy=ONCE)
    movements = tenant.client.wallet.list_transactions
    charges = (await movements(type=["call_charge"])).data
    assert len(charges) == 12
    every = (await movements(type=["reservation", "reservation_release", "call_charge", "topup"], per_page=200)).data
    choices: tuple[list[TransactionType], ...] = (
        ["reservation"],
        ["reservation_release"],
        ["reservation_release", "reservation"],
    )
    for types in choices:
        with recorded() as statements:
            page = await movements(type=types, per_page=1)
        found = [entry async for entry in movements(type=types, per_page=1)]
        assert found == [entry for entry in every if entry.type in types]
        assert page.pagination.total == len(found) > 0
        read = [one for one in statements if "FROM transactions" in one.text]
        plans = [await tenant.database.read(one.plan) for one in read]
        assert len(plans) == 2  # the page and its total
        assert all("ix_transactions_held" in plan for plan in plans), plans


async def test_what_is_unknown_to_the_list_of_movements_is_refused(http: AsyncClient) -> None:
    path = "/v1/wallet/transactions"
    refused(await http.get(f"{path}?filter[type]=topup,gift"), 400, "invalid_field", "filter[type]")
    refused(await http.get(f"{path}?sort=amount"), 400, "invalid_field", "sort")
    refused(await http.get(f"{path}?filter[created_from]=soon"), 400, "invalid_field", "filter[created_from]")
    naive = "2026-01-01T00:00:00"
    refused(await http.get(f"{path}?filter[created_from]={naive}"), 400, "invalid_field", "filter[created_from]")
    assert (await http.get(f"{path}?filter[created_from]={naive}%2B02:00")).status_code == 200


async def told(tenant: Tenant) -> list[tuple[str, str]]:
    """Balance and threshold of each warning of a low balance."""
    events = [event async for event in tenant.client.events.list(type="wallet.low_balance", sort="created_at")]
    return [(event.data["balance"], event.data["threshold"]) for event in events]


@pytest.mark.requirement("RES-20", "EVENT-18")
async def test_the_warning_of_a_low_balance_follows_the_threshold_that_was_set(
    tenant: Tenant, http: AsyncClient
) -> None:

    async def put(amount: str | None) -> dict[str, Any]:
        answer = await http.patch(
            "/v1/wallet", json={"low_balance_threshold": None if amount is None else {"amount": amount}}
        )
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]

    changed = await put("99.00")
    assert changed["low_balance_threshold"] == {"amount": "99.000000", "currency": "USD"}
    assert not changed["low_balance"]
    await resources.number(tenant)
    assert await told(tenant) == [("98.850000", "99.000000")]
    await resources.number(tenant)
    assert (await put("98.999999"))["low_balance"]  # still below: nothing new
    assert not (await put("50.00"))["low_balance"]
    assert len(await told(tenant)) == 1
    assert (await put("97.70"))["low_balance"] is False  # not below
    assert (await put("97.700001"))["low_balance"]
    assert (await told(tenant))[-1] == ("97.700000", "97.700001")
    off = await put(None)
    assert (off["low_balance_threshold"], off["low_balance"]) == (None, False)
    await resources.number(tenant)
    assert len(await told(tenant)) == 2
    assert (await put("0"))["low_balance"] is False
    before = (await http.get("/v1/wallet")).json()["data"]
    assert (await http.patch("/v1/wallet", json={})).json()["data"] == before


async def test_a_threshold_that_is_no_amount_is_refused_by_name(tenant: Tenant, http: AsyncClient) -> None:
    before = await tenant.client.wallet.get()
    for value, field in (
        ({"amount": "-1"}, "low_balance_threshold.amount"),
        ({"amount": "1.0000001"}, "low_balance_threshold.amount"),
        ({"amount": 5}, "low_balance_threshold.amount"),
        ({"amount": "5", "currency": "EUR"}, "low_balance_threshold.currency"),
        ("5.00", "low_balance_threshold"),
    ):
        answer = await http.patch("/v1/wallet", json={"low_balance_threshold": value})
        refused(answer, 400, "invalid_field", field)
    refused(await http.patch("/v1/wallet", json={"balance": None}), 400, "invalid_field", "balance")
    assert await tenant.client.wallet.get() == before


async def test_a_changed_threshold_stands_in_the_audit_log(tenant: Tenant) -> None:
    await tenant.client.wallet.update(low_balance_threshold=Spend(amount="25.00"))
    (entry,) = await rows_of(tenant, audit_log, action="update_wallet")
    changes = json.loads(entry["changes"])
    assert set(changes) == {"low_balance_threshold"}
    assert [changes["low_balance_threshold"][when]["amount"] for when in ("before", "after")] == [
        "10.000000",
        "25.000000",
    ]


@pytest.mark.requirement("WALLET-02")
async def test_the_wallet_shows_the_prices_of_the_countries_of_its_numbers_and_of_the_rest(tenant: Tenant) -> None:
    for _ in range(2):
        await tenant.client.phone_numbers.rent(country="US")
    gone = await tenant.client.phone_numbers.rent(country="CA")
    await tenant.client.phone_numbers.rent(country="DE")
    await tenant.client.phone_numbers.release(id=gone.id)
    calls = [price for price in (await tenant.client.wallet.get()).prices if price.item == "outbound_call"]
    assert [(price.country, price.called_type, price.price.amount) for price in calls] == [
        ("DE", "landline", "0.016000"),
        ("DE", "mobile", "0.034000"),
        ("US", None, "0.012000"),
        (None, None, "0.180000"),
    ]
