"""The wallet over the typed client."""

from pathlib import Path

import pytest

from callwright.service import accounts
from callwright.service.domain.money import MICROS
from tests.service import samples
from tests.service.doors import open_service
from tests.service.wire import by_hand, refused


@pytest.mark.requirement("SERV-07", "RES-14", "PATH-17")
async def test_a_new_wallet_holds_a_hundred_dollars_of_play_money(database_url: str, tmp_path: Path) -> None:
    async with open_service(database_url, tmp_path, workers=False) as door:
        wallet = await door.client.wallet.get()
    assert wallet.balance.amount == wallet.available.amount == "100.000000"
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
async def test_every_movement_is_listed_and_they_add_up_to_the_balance(database_url: str, tmp_path: Path) -> None:
    async with open_service(database_url, tmp_path, workers=False, extra_dollars=5) as door:
        for _ in range(3):
            await samples.number(door)
        listed = [entry async for entry in door.client.wallet.list_transactions(per_page=2)]
        wallet = await door.client.wallet.get()
    assert [entry.type for entry in listed].count("number_rental") == 3
    assert [entry.type for entry in listed].count("topup") == 2
    assert sum(round(float(entry.amount.amount) * MICROS) for entry in listed) == 101_550_000
    assert wallet.balance.amount == "101.550000"
    assert {entry.status for entry in listed} == {"settled"}
    assert all(entry.play_money for entry in listed)


async def test_movements_are_found_by_type_reference_and_moment(database_url: str, tmp_path: Path) -> None:
    async with open_service(database_url, tmp_path, workers=False) as door:
        rented = [await samples.number(door) for _ in range(2)]
        movements = door.client.wallet.list_transactions
        found = (await movements(reference_id=rented[0].id)).data
        assert [(entry.type, entry.amount.amount) for entry in found] == [("number_rental", "-1.150000")]
        assert len((await movements(type=["topup", "number_rental"])).data) == 3
        assert (await movements(type=["call_charge", "refund"])).data == []
        assert (await movements(created_before=found[0].created_at.replace(year=2000))).data == []
        ports = door.service.ports
        await ports.database.write(accounts.fund, ports.ids, door.org_id, 1, ports.clock.now_ms())
        assert {entry.amount.amount for entry in (await movements(type=["topup"])).data} == {"100.000000", "0.000001"}


async def test_what_is_unknown_to_the_list_of_movements_is_refused(database_url: str, tmp_path: Path) -> None:
    async with open_service(database_url, tmp_path, workers=False) as door, by_hand(door) as http:
        path = "/v1/wallet/transactions"
        refused(await http.get(f"{path}?filter[type]=topup,gift"), 400, "invalid_field", "filter[type]")
        refused(await http.get(f"{path}?sort=amount"), 400, "invalid_field", "sort")
        refused(await http.get(f"{path}?filter[created_from]=soon"), 400, "invalid_field", "filter[created_from]")
        naive = "2026-01-01T00:00:00"
        refused(await http.get(f"{path}?filter[created_from]={naive}"), 400, "invalid_field", "filter[created_from]")
        assert (await http.get(f"{path}?filter[created_from]={naive}%2B02:00")).status_code == 200
