"""The wallet: what is there, what was booked, and topping up.

Top-ups are made here alone; API clients only read. Only owners make them.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from callwright.contract import wallet as contract
from callwright.service.accounts.errors import AccountError, sentence
from callwright.service.accounts.principals import UserActor
from callwright.service.dashboard.forecasts import forecast
from callwright.service.dashboard.html.pages_of_ids import with_page
from callwright.service.dashboard.listings import Column, ListPage, column, list_context, page_of, value_at
from callwright.service.dashboard.serving import Pages, said, shown
from callwright.service.dashboard.visitors import Visitor, dollars, one
from callwright.service.payments import topups
from callwright.service.payments.provider import Checkout, PaymentProvider, ProviderRefused
from callwright.service.payments.simulated import NAME as SIMULATED
from callwright.service.payments.simulated import SimulatedProvider
from callwright.service.rest.payments.checkout_page import FROM_DASHBOARD
from callwright.service.services import Services

HERE = "/wallet"
BOOKINGS = ListPage(
    HERE,
    "Wallet",
    contract.list_transactions,
    (
        Column("When", "created_at", "moment"),
        column("type", "words"),
        Column("Amount", "amount", "small_money"),
        Column("Balance after", "balance_after", "small_money"),
        Column("For", "description", is_second=True),
        Column("About", "about", link=lambda booking: booking["page"], is_second=True),
    ),
    "Nothing was booked yet.",
    filters=("type", "reference_id"),
    counts="booking",
    read_as=lambda booking: with_page(booking, value_at(booking, "reference.id")),
)


def routes(pages: Pages) -> list[Route]:
    """The routes."""
    services = pages.visitors.services

    async def wallet(request: Request, visitor: Visitor) -> Response:
        return await show(request, visitor)

    async def show(request: Request, visitor: Visitor, wanted: str = "", fault: str = "") -> Response:
        found = await visitor.ask.one(contract.get_wallet)
        booked = await page_of(visitor, BOOKINGS, request.query_params)
        context = {
            **list_context(BOOKINGS, booked, request.query_params),
            "wallet": found,
            "forecast": await forecast(visitor, found, services.clock.now_ms()),
            "wanted": wanted,
            "fault": fault,
        }
        return shown(visitor, HERE, "wallet.html", "Wallet", context, status=409 if fault else 200)

    async def top_up(request: Request, visitor: Visitor) -> Response:
        fields = await pages.visitors.form(request, visitor)
        if not visitor.is_owner:
            words = f"Only an owner of {visitor.org_name} tops up the wallet. Your role is {visitor.role}."
            return said(visitor, "Not done", words, status=403, back=(HERE, "To the wallet"))
        try:
            checkout = await _begun(services, visitor, one(fields, "amount"))
        except AccountError as error:
            return await show(request, visitor, one(fields, "amount"), sentence(error))
        if checkout.url.startswith(f"{services.own_address.root}/"):
            return RedirectResponse(f"{checkout.url}?{FROM_DASHBOARD}", 303)
        # A form may not lead to another host, by the policy of every page.
        return shown(visitor, HERE, "checkout.html", "Top up", {"address": checkout.url})

    return [
        pages.route(HERE, wallet, here=HERE),
        pages.route(f"{HERE}/topup", top_up, methods=("POST",), here=HERE),
    ]


async def _begun(services: Services, visitor: Visitor, written: str) -> Checkout:
    """The checkout of a new top-up. Raises `AccountError` for a wrong amount, and where the provider refuses."""
    now_ms, database = services.clock.now_ms(), services.database
    wanted = dollars(written, "the amount")
    ask = partial(topups.ask, by=UserActor(visitor.user_id))
    asked = await database.write(ask, services.ids, visitor.org_id, wanted, services.settings.payments.provider, now_ms)
    try:
        async with _provider(services) as provider:
            with database.uncounted():
                checkout = await provider.begin(asked)
    except ProviderRefused as error:
        await database.write(topups.fail, services.ids, asked.id, now_ms)
        raise AccountError(f"the payment provider refuses: {error}") from error
    await database.write(topups.attach, asked.id, checkout, now_ms)
    return checkout


@asynccontextmanager
async def _provider(services: Services) -> AsyncGenerator[PaymentProvider]:
    settings, root = services.settings.payments, services.own_address.root
    if settings.provider == SIMULATED:
        yield SimulatedProvider(root)
        return
    from callwright.service.payments import stripe_checkout

    async with stripe_checkout.connected(settings, root) as provider:
        yield provider
