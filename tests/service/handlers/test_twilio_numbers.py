"""Numbers that are searched, rented and given back through the Twilio account of the service."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from callwright.contract.declaration.field_types import Spend
from callwright.contract.phone_numbers import (
    PhoneNumber,
    RentPhoneNumber,
    SearchAvailableNumbers,
    rent_phone_number,
    search_available_numbers,
)
from callwright.service.campaigns import carrier_numbers
from tests.support.resources import refusal
from tests.support.service import Tenant
from tests.support.sweeps import sweep_after
from tests.support.twilio.account import NUMBER
from tests.support.twilio.imitation import Twilio, imitated_twilio
from tests.support.twilio.service import calling_through

FREE, OTHER, TOLL_FREE, UNPRICED = "+12125550151", "+13125550152", "+18005550153", "+14155550154"
PRICES = """
version = "2026.11.27"
platform = { minute = 5_000 }
[carriers.twilio]
"*" = { minute = 150_000 }
"+1212" = { minute = 14_000, number_month = 1_150_000 }
"+1312" = { minute = 14_000, number_month = 1_150_000 }
"+1800" = { minute = 14_000, number_month = 2_150_000 }
"""
TOLL: dict[str, Any] = {"number_type": "toll_free"}
ONCE: dict[str, Any] = {"auto_renew": False}
LATER = 0.01
"""Days after which an attempt that was left open is made again."""


@dataclass(frozen=True)
class Renter:
    """A tenant of a service whose Twilio account can rent numbers."""

    tenant: Tenant
    twilio: Twilio

    async def rent(self, number: str = FREE, **given: Any) -> PhoneNumber:
        return await self.tenant.client.phone_numbers.rent(country="US", number=number, provider="twilio", **given)

    async def now(self, number: PhoneNumber) -> PhoneNumber:
        return await self.tenant.client.phone_numbers.get(id=number.id)

    async def movements(self) -> list[tuple[str, str]]:
        """What was paid for numbers and what came back, the latest first."""
        listed = self.tenant.client.wallet.list_transactions()
        found = [(movement.type, movement.amount.amount) async for movement in listed]
        return [movement for movement in found if movement[0] in ("number_rental", "refund")]


@asynccontextmanager
async def renter(database_url: str, data: Path, prices: str | None = PRICES) -> AsyncGenerator[Renter]:
    file = None
    if prices is not None:
        file = data / "prices.toml"
        file.write_text(prices)
    async with imitated_twilio(NUMBER) as twilio:
        twilio.offered = {FREE: "Local", OTHER: "Local", UNPRICED: "Local", TOLL_FREE: "TollFree"}
        async with calling_through(twilio, database_url, data, lines=0, workers=False, prices=file) as tenant:
            yield Renter(tenant, twilio)


@pytest.mark.requirement("TWILIO-20")
async def test_a_search_shows_what_twilio_offers_with_the_price_of_a_month(database_url: str, tmp_path: Path) -> None:
    async with renter(database_url, tmp_path) as found:
        numbers = found.tenant.client.phone_numbers
        shown = [one async for one in numbers.search_available(country="US", provider="twilio", sort="number")]
        assert [(one.number, one.monthly_cost.amount) for one in shown] == [(FREE, "1.150000"), (OTHER, "1.150000")]
        assert not shown[0].capabilities.voice_inbound
        chicago = [
            one.number async for one in numbers.search_available(country="US", provider="twilio", area_code="312")
        ]
        assert chicago == [OTHER]
        free = numbers.search_available(country="US", provider="twilio", number_type="toll_free")
        assert [(one.number, one.monthly_cost.amount) async for one in free] == [(TOLL_FREE, "2.150000")]
        assert [one async for one in numbers.search_available(country="FR", provider="twilio")] == []
        simulated = [one.number async for one in numbers.search_available(country="US", area_code="212")]
        assert FREE in simulated, "without a provider the simulated network offers its own"
        assert found.twilio.rented == []


@pytest.mark.requirement("TWILIO-21")
async def test_a_number_is_rented_once_and_paid_once(database_url: str, tmp_path: Path) -> None:
    async with renter(database_url, tmp_path) as found:
        asked = RentPhoneNumber(country="US", number=FREE, provider="twilio")

        async def rent_again() -> PhoneNumber:
            return await found.tenant.client.ask(rent_phone_number, asked, idempotency_key="the-same")

        number = await rent_again()
        assert (number.number, number.status, number.provider, number.simulated) == (FREE, "active", "twilio", False)
        assert (number.monthly_cost.amount, number.capabilities.voice_outbound) == ("1.150000", True)
        assert (await rent_again()) == number
        async with refusal(409, "number_unavailable", "number"):
            await found.rent()
        assert found.twilio.rented == [FREE]
        assert found.twilio.names == {FREE: number.id}
        assert await found.movements() == [("number_rental", "-1.150000")]


@pytest.mark.requirement("TWILIO-21")
async def test_a_number_whose_answer_is_lost_is_found_and_not_rented_again(database_url: str, tmp_path: Path) -> None:
    async with renter(database_url, tmp_path) as found:
        found.twilio.renting.append("500")
        assert (await found.rent()).status == "active"
        found.twilio.renting.append("lost")
        open_ = await found.rent(OTHER)
        assert open_.status == "pending"
        async with refusal(409, "phone_number_in_use"):
            await found.tenant.client.phone_numbers.release(id=open_.id)
        await sweep_after(found.tenant, LATER / 100)
        assert (await found.now(open_)).status == "pending", "it is tried again after a minute"
        await sweep_after(found.tenant, LATER)
        await sweep_after(found.tenant, 2 * LATER)
        assert (await found.now(open_)).status == "active"
        assert found.twilio.rented == [FREE, OTHER]
        assert await found.movements() == [("number_rental", "-1.150000")] * 2


@pytest.mark.requirement("TWILIO-21")
async def test_a_number_that_was_rented_when_the_process_ended_is_found_at_the_next_attempt(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> str:
        raise RuntimeError("the database is gone")

    async with renter(database_url, tmp_path) as found:
        with monkeypatch.context() as changed:
            changed.setattr(carrier_numbers, "_keep_rental", fails)
            number = await found.rent()  # the client repeats the request that failed, with its key
        assert number.status == "pending"
        await sweep_after(found.tenant, LATER)
        assert (await found.now(number)).status == "active"
        assert found.twilio.rented == [FREE]
        assert await found.movements() == [("number_rental", "-1.150000")]


@pytest.mark.requirement("TWILIO-22")
async def test_what_twilio_refuses_is_paid_back_and_says_why(database_url: str, tmp_path: Path) -> None:
    async with renter(database_url, tmp_path) as found:
        before = (await found.tenant.client.wallet.get()).balance
        found.twilio.renting.append("refused")
        async with refusal(409, "number_unavailable", "number") as kept:
            await found.rent()
        assert "error 21404" in kept[0].message
        assert "paid back" in kept[0].message
        assert (await found.tenant.client.wallet.get()).balance == before
        assert await found.movements() == [("refund", "1.150000"), ("number_rental", "-1.150000")]
        (failed,) = [one async for one in found.tenant.client.phone_numbers.list()]
        assert (failed.status, failed.renews_at) == ("failed", None)
        await sweep_after(found.tenant, 31)
        assert (await found.rent()).status == "active", "a refused number may be rented once Twilio lets it"
        assert found.twilio.rented == [FREE]


@pytest.mark.requirement("TWILIO-22")
async def test_a_number_that_somebody_else_rented_at_the_same_account_is_left_alone(
    database_url: str, tmp_path: Path
) -> None:
    async with renter(database_url, tmp_path) as found:
        found.twilio.numbers[FREE] = True  # it is still in the list of what is available
        async with refusal(409, "number_unavailable", "number") as kept:
            await found.rent()
        assert "import_phone_number" in kept[0].message
        assert (found.twilio.rented, found.twilio.released) == ([], [])
        assert [amount for _, amount in await found.movements()] == ["1.150000", "-1.150000"]


@pytest.mark.requirement("TWILIO-23")
async def test_a_rented_number_is_given_back_and_one_that_was_taken_in_stays(database_url: str, tmp_path: Path) -> None:
    async with renter(database_url, tmp_path) as found:
        release = found.tenant.client.phone_numbers.release
        rented = await found.rent()
        taken_in = await found.tenant.client.phone_numbers.import_owned(number=NUMBER)
        assert (await release(id=rented.id)).status == "released"
        assert (await release(id=taken_in.id)).status == "released"
        assert found.twilio.released == [FREE]
        assert NUMBER in found.twilio.numbers
        assert await found.movements() == [("number_rental", "-1.150000")]


@pytest.mark.requirement("TWILIO-23")
async def test_a_number_stays_nobody_elses_until_twilio_has_it_back(database_url: str, tmp_path: Path) -> None:
    async with renter(database_url, tmp_path) as found:
        number = await found.rent()
        found.twilio.refuses_account = True
        released = await found.tenant.client.phone_numbers.release(id=number.id)
        assert (released.status, released.released_at) == ("releasing", None)
        found.twilio.refuses_account = False
        async with refusal(409, "number_unavailable", "number"):
            await found.tenant.client.phone_numbers.import_owned(number=FREE)
        await sweep_after(found.tenant, LATER)
        assert (await found.now(number)).status == "released"
        assert found.twilio.released == [FREE]


@pytest.mark.requirement("TWILIO-24")
async def test_a_month_is_paid_only_for_a_number_that_twilio_still_has(database_url: str, tmp_path: Path) -> None:
    async with renter(database_url, tmp_path) as found:
        kept, gone, ends = await found.rent(), await found.rent(OTHER), await found.rent(TOLL_FREE, **TOLL, **ONCE)
        del found.twilio.numbers[OTHER]
        found.twilio.refuses_account = True
        await sweep_after(found.tenant, 30.1)
        assert len(await found.movements()) == 3, "what Twilio does not say is not paid for"
        assert [(await found.now(one)).billing_status for one in (kept, gone)] == ["current"] * 2
        found.twilio.refuses_account = False
        for days in (30.2, 30.3):
            await sweep_after(found.tenant, days)
        assert [(await found.now(one)).status for one in (kept, gone, ends)] == ["active", "released", "released"]
        assert len(await found.movements()) == 4
        assert found.twilio.released == [TOLL_FREE]


@pytest.mark.requirement("TWILIO-25")
async def test_without_an_account_or_a_price_nothing_is_rented_and_the_setting_is_named(
    tenant: Tenant, database_url: str, tmp_path: Path
) -> None:
    asked: dict[str, Any] = {"country": "US", "provider": "twilio"}
    async with refusal(422, "number_not_at_carrier", "provider") as kept:
        await tenant.client.phone_numbers.rent(number=FREE, **asked)
    assert "CALLWRIGHT_TWILIO_ACCOUNT_SID" in kept[0].message
    async with refusal(422, "number_not_at_carrier", "provider"):
        await tenant.client.ask(search_available_numbers, SearchAvailableNumbers(**asked))


@pytest.mark.requirement("TWILIO-25")
async def test_without_a_price_of_a_month_the_list_is_named(database_url: str, tmp_path: Path) -> None:
    async with renter(database_url, tmp_path, prices=None) as found:
        for number in (FREE, UNPRICED):
            async with refusal(422, "number_not_at_carrier", "provider") as kept:
                await found.rent(number)
            assert "number_month" in kept[0].message
            assert "CALLWRIGHT_SERVICE_PRICES" in kept[0].message
        assert (found.twilio.rented, await found.movements()) == ([], [])


async def test_what_cannot_be_rented_is_refused_before_anything_is_paid(database_url: str, tmp_path: Path) -> None:
    async with renter(database_url, tmp_path) as found:
        async with refusal(400, "invalid_field", "number") as kept:
            await found.tenant.client.phone_numbers.rent(country="US", provider="twilio")
        assert "search_available_numbers" in kept[0].message
        async with refusal(409, "price_changed", "expected_monthly_cost"):
            await found.rent(expected_monthly_cost=Spend(amount="1.00"))
        async with refusal(409, "number_unavailable", "number"):
            await found.rent("+12125550199")
        async with refusal(422, "number_not_at_carrier", "provider"):
            await found.rent(UNPRICED)
        found.twilio.refuses_account = True
        async with refusal(503, "service_unavailable") as kept:
            await found.rent()
        assert "CALLWRIGHT_TWILIO_AUTH_TOKEN" in kept[0].message
        assert (found.twilio.rented, await found.movements()) == ([], [])
