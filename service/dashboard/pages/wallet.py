"""The wallet: what is there, what was booked, and topping up.

Top-ups are made here alone; API clients only read. Only owners make them.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from callwright.contract import wallet as contract
from callwright.service.accounts.errors import AccountError
from callwright.service.dashboard.forecasts import forecast
from callwright.service.dashboard.listings import Column, ListPage, list_context, page_of
from callwright.service.dashboard.serving import Pages, said, shown
from callwright.service.dashboard.visitors import Visitor, dollars, one
from callwright.service.payments import topups
from callwright.service.payments.provider import PaymentProvider, ProviderRefused
from callwright.service.payments.simulated import NAME as SIMULATED
from callwright.service.payments.simulated import SimulatedProvider
from callwright.service.services import Services

HERE = "/wallet"
BOOKINGS = ListPage(
    HERE,
    "Wallet",
    contract.list_transactions,
    (
        Column("When", "created_at", "moment"),
        Column("What", "type", "words"),
        Column("Amount", "amount", "money"),
        Column("Balance after", "balance_after", "money"),
        Column("For", "description", is_second=True),
        Column("About", "reference.id", "code", is_second=True),
    ),
    "Nothing was booked yet.",
    filters=("type", "reference_id"),
)


def routes(pages: Pages) -> list[Route]:
    """The routes."""
    services = pages.visitors.services

    async def wallet(request: Request, visitor: Visitor) -> Response:
        found = await visitor.ask.one(contract.get_wallet)
        booked = await page_of(visitor, BOOKINGS, request.query_params)
        context = {
            **list_context(BOOKINGS, booked, request.query_params),
            "wallet": found,
            "forecast": await forecast(visitor, found, services.clock.now_ms()),
        }
        return shown(visitor, HERE, "wallet.html", "Wallet", context)

    async def top_up(request: Request, visitor: Visitor) -> Response:
        fields = await pages.visitors.form(request, visitor)
        if not visitor.is_owner:
            words = f"Only an owner of {visitor.org_name} tops up the wallet. Your role is {visitor.role}."
            return said(visitor, "Not done", words, status=403, back=(HERE, "To the wallet"))
        now_ms, database = services.clock.now_ms(), services.database
        wanted = dollars(one(fields, "amount"), "the amount")
        given = (services.ids, visitor.org_id, wanted, services.settings.payments.provider)
        asked = await database.write(topups.ask, *given, now_ms)
        try:
            async with _provider(services) as provider:
                with database.uncounted():
                    checkout = await provider.begin(asked)
        except ProviderRefused as error:
            await database.write(topups.fail, services.ids, asked.id, now_ms)
            raise AccountError(f"the payment provider refuses: {error}") from error
        await database.write(topups.attach, asked.id, checkout, now_ms)
        if checkout.url.startswith(f"{services.own_address.root}/"):
            return RedirectResponse(checkout.url, 303)
        # A form may not lead to another host, by the policy of every page.
        return shown(visitor, HERE, "checkout.html", "Top up", {"address": checkout.url})

    return [pages.route(HERE, wallet, here=HERE), pages.route(f"{HERE}/topup", top_up, methods=("POST",), here=HERE)]


@asynccontextmanager
async def _provider(services: Services) -> AsyncGenerator[PaymentProvider]:
    settings, root = services.settings.payments, services.own_address.root
    if settings.provider == SIMULATED:
        yield SimulatedProvider(root)
        return
    from callwright.service.payments import stripe_checkout

    async with stripe_checkout.connected(settings, root) as provider:
        yield provider
