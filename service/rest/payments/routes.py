"""The routes of payments. They are outside the API: who calls them has no key.

Stripe proves itself by a signature. The address of a simulated checkout is known to whom it was given, and moves play
money alone.
"""

import logging
import re

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from callwright.service.payments import topups
from callwright.service.payments.provider import Refund
from callwright.service.payments.simulated import CHECKOUT_PATH
from callwright.service.payments.simulated import NAME as SIMULATED
from callwright.service.payments.stripe_checkout import RETURN_PATH
from callwright.service.payments.stripe_objects import MARK
from callwright.service.payments.stripe_webhook import NotFromStripe, NotUnderstood, read_event
from callwright.service.platform.refusals import invalid, not_found
from callwright.service.rest.incoming import Incoming
from callwright.service.rest.pages.page import html_page, part
from callwright.service.rest.payments.checkout_page import FROM_DASHBOARD, checkout_page
from callwright.service.rest.without_key import RefusalOf, refusing
from callwright.service.services import Services

log = logging.getLogger(__name__)
WEBHOOK_PATH = "/payments/stripe/webhook"
SIGNATURE = "Stripe-Signature"
_TOPUP_ID = re.compile(r"top_[0-9A-Za-z]{24}")


def payment_routes(services: Services, refusal_of: RefusalOf) -> list[Route]:
    """The routes of payments. An error is answered as in the API."""

    async def webhook(request: Request) -> Response:
        return await _heard(services, request)

    async def checkout(request: Request) -> Response:
        return await _checkout(services, request)

    async def done(request: Request) -> Response:
        return html_page("Thank you · Callwright", part("payment_done.html")).response(request)

    return [
        Route(WEBHOOK_PATH, refusing(services, refusal_of, webhook), methods=["POST"]),
        Route(CHECKOUT_PATH + "/{id}", refusing(services, refusal_of, checkout), methods=["GET", "POST"]),
        Route(RETURN_PATH, done),
    ]


async def _heard(services: Services, request: Request) -> Response:
    """Answers an event of Stripe, once what it says is committed."""
    secret = services.settings.payments.stripe_webhook_secret
    if secret is None:
        raise not_found()
    body = await Incoming(request.scope, request.receive).body()
    try:
        found = await to_thread.run_sync(read_event, body, request.headers.get(SIGNATURE), secret)
    except NotFromStripe:
        said = "does not sign this body now; CALLWRIGHT_STRIPE_WEBHOOK_SECRET is the signing secret of this endpoint"
        raise invalid(SIGNATURE, said) from None
    except NotUnderstood:
        log.error("a signed event of Stripe is not as documented")
        raise invalid("body", "is no event of Stripe; have Stripe send snapshot events of its own API") from None
    if found is not None:
        write, now_ms = services.database.write, services.clock.now_ms()
        try:
            if isinstance(found, Refund):
                await write(topups.record_refund, services.ids, found, now_ms)
            else:
                await write(topups.record_payment, services.ids, found, now_ms)
        except topups.UnknownTopup:
            log.error("Stripe speaks of a top-up that is not here", extra={"topup_id": found.topup_id})
            said = "names no top-up of this database; was an older copy of it restored?"
            raise invalid(f"data.object.metadata.{MARK}", said) from None
        services.wake()
    return JSONResponse({"received": True})


async def _checkout(services: Services, request: Request) -> Response:
    """The page of a simulated checkout, after it was confirmed if the request does that."""
    topup_id, now_ms = request.path_params["id"], services.clock.now_ms()
    if not _TOPUP_ID.fullmatch(topup_id):
        raise not_found()
    if request.method == "POST":
        topup = await services.database.write(topups.confirm_simulated, services.ids, topup_id, now_ms)
        services.wake()
    else:
        topup = await services.database.read(topups.find, topup_id)
    if topup is None or topup.provider != SIMULATED:
        raise not_found()
    leads_back = FROM_DASHBOARD in request.query_params
    return checkout_page(topup, now_ms, leads_back=leads_back).response(request)
