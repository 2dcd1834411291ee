"""A number is rented once its price has been seen, and at no other price."""

import re
from html import unescape

import pytest

from tests.support.dashboard import logged_in, text_of
from tests.support.service import Tenant

PATH = "/numbers/rent"


@pytest.mark.requirement("DASH-78")
async def test_a_number_is_looked_for_its_price_is_named_and_it_is_rented(tenant: Tenant) -> None:
    async with logged_in(tenant) as visit:
        assert "USD a month" not in await visit.page(PATH)
        found = await visit.page(f"{PATH}?country=US&area_code=206")
        chosen = unescape(re.findall(rf'href="({PATH}/one\?[^"]+)"', found)[0])
        asks = text_of(await visit.page(chosen))
        price = re.search(r"It costs (\d+\.\d\d) USD now", asks)
        assert price is not None
        made = await visit.send(f"{PATH}/one", shown_at=chosen, label="front desk", auto_renew="yes")
        assert made.status_code == 303, text_of(made.text)
    (number,) = [number async for number in tenant.client.phone_numbers.list()]
    assert (number.number[:5], number.label, number.auto_renew) == ("+1206", "front desk", True)
    assert float(number.monthly_cost.amount) == float(price[1])


@pytest.mark.requirement("DASH-78")
@pytest.mark.parametrize("price", ["0.01", "", "much"])
async def test_nothing_is_rented_at_another_price(tenant: Tenant, price: str) -> None:
    async with logged_in(tenant) as visit:
        found = await visit.page(f"{PATH}?country=US")
        chosen = unescape(re.findall(rf'href="({PATH}/one\?[^"]+)"', found)[0])
        answer = await visit.send(f"{PATH}/one", shown_at=chosen, price=price)
        assert 400 <= answer.status_code < 500
    assert [number async for number in tenant.client.phone_numbers.list()] == []


async def test_a_country_that_has_no_numbers_is_refused_in_words(tenant: Tenant) -> None:
    async with logged_in(tenant) as visit:
        answer = await visit.http.get(f"{PATH}?country=ZZ")
    assert (answer.status_code < 500, "<form" in answer.text) == (True, True)
