"""The checkout of the simulated provider: a page of the service that puts play money into the wallet."""

from dataclasses import replace

import anyio
import pytest

from callwright.client.transport import ASGITransport, httpx
from callwright.contract.deployments.call_price import MICROS
from callwright.service.app import Application, pipeline_of
from callwright.service.payments import reconciliation, topups
from callwright.service.payments.simulated import SimulatedProvider
from callwright.service.platform.clock.clock import DAY
from tests.support.deployments.plans import FixedClock
from tests.support.http.raw_requests import AsyncClient, refused
from tests.support.service import Tenant

HERE = "http://service"


async def asked(tenant: Tenant, *, ago_ms: int = 0) -> str:
    """The link of a top-up of 50 dollars, asked for so long ago."""
    services = tenant.services
    now_ms = services.clock.now_ms() - ago_ms
    given = (services.ids, tenant.org_id, 50 * MICROS, "simulated", now_ms)
    topup = await services.database.write(topups.ask, *given)
    checkout = await SimulatedProvider(HERE).begin(topup)
    await services.database.write(topups.attach, topup.id, checkout, now_ms)
    return checkout.url


async def state(tenant: Tenant) -> str:
    (row,) = await tenant.database.read(topups.topups_of, tenant.org_id)
    return row.status


@pytest.mark.requirement("TOPUP-01")
async def test_opening_the_page_asks_and_confirming_it_puts_the_money_in_once(
    tenant: Tenant, http: AsyncClient
) -> None:
    link = await asked(tenant)
    shown = await http.get(link)
    assert (shown.status_code, shown.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "form-action 'self'" in shown.headers["content-security-policy"]
    assert "50.00 USD of play money" in shown.text
    assert "Simulated checkout" in shown.text
    assert '<form method="post">' in shown.text
    assert (await tenant.client.wallet.get()).balance.amount == "100.000000"
    confirmed = [await http.post(link) for _ in range(2)]
    assert all("It is in the wallet." in answer.text and "<form" not in answer.text for answer in confirmed)
    assert (await tenant.client.wallet.get()).balance.amount == "150.000000"
    newest, *_ = [one async for one in tenant.client.events.list()]
    assert (newest.type, newest.data["method"], newest.data["play_money"]) == (
        "wallet.topup_settled",
        "simulated",
        True,
    )


async def test_a_checkout_that_nobody_confirmed_in_time_expires_when_it_is_confirmed_late(tenant: Tenant) -> None:
    link = await asked(tenant)
    ahead = replace(tenant.services, clock=FixedClock(tenant.services.clock.now_ms() + DAY))
    later = Application(ahead, pipeline_of(ahead))
    async with httpx.AsyncClient(transport=ASGITransport(app=later), base_url=HERE) as http:
        assert "<form" not in (await http.get(link)).text
        assert "Nobody confirmed it in time" in (await http.post(link)).text
    assert await state(tenant) == "expired"
    assert (await tenant.client.wallet.get()).balance.amount == "100.000000"


@pytest.mark.requirement("TOPUP-07")
async def test_a_checkout_that_nobody_opened_expires_by_itself(tenant: Tenant) -> None:
    await asked(tenant)
    services = tenant.services
    for after_ms, changed in ((DAY // 2, 0), (DAY + 1, 1)):
        now_ms = services.clock.now_ms() + after_ms
        given = (services.database, services.ids, services.settings.payments, HERE)
        assert await reconciliation.run(*given, now_ms) == changed
    assert await state(tenant) == "expired"


@pytest.mark.requirement("TOPUP-07")
@pytest.mark.service(workers=True)
async def test_the_service_compares_pending_topups_by_itself(tenant: Tenant) -> None:
    await asked(tenant, ago_ms=2 * DAY)
    with anyio.fail_after(30):
        while await state(tenant) != "expired":  # noqa: ASYNC110  # the workers tell nobody
            await anyio.sleep(0.05)
    assert (await tenant.client.wallet.get()).balance.amount == "100.000000"


@pytest.mark.parametrize("name", ["top_000000000000000000000000", "x", "%00", "top_" + "0" * 2_000])
async def test_a_checkout_that_does_not_exist_is_not_found(http: AsyncClient, name: str) -> None:
    for method in ("GET", "POST"):
        refused(await http.request(method, f"/payments/simulated/{name}"), 404, "not_found")


async def test_another_method_is_refused_with_those_that_exist(http: AsyncClient) -> None:
    answer = await http.delete("/payments/simulated/x")
    refused(answer, 405, "method_not_allowed")
    assert {"GET", "POST"} <= set(answer.headers["allow"].split(", "))


async def test_without_stripe_its_webhook_is_not_there(http: AsyncClient) -> None:
    refused(await http.post("/payments/stripe/webhook", content=b"{}"), 404, "not_found")


async def test_a_payer_comes_back_to_a_page_that_promises_nothing_yet(http: AsyncClient) -> None:
    shown = await http.get("/payments/done")
    assert "as soon as the payment provider confirms it" in shown.text
