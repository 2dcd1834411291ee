"""Stripe Checkout. Needs the `stripe` library, an optional part of the installation (the extra `stripe`)."""

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

import aiohttp
import anyio
from anyio import to_thread

from callwright.service.payments.provider import Asked, Checkout, Payment, ProviderRefused, ProviderUnavailable
from callwright.service.payments.stripe_objects import CENT, MARK, NAME, NewSession, Session
from callwright.service.platform.clock.clock import SECOND
from callwright.service.settings import PaymentSettings

if TYPE_CHECKING:
    import stripe

RETURN_PATH = "/payments/done"
"""The page of the service to which Stripe sends a person who has paid."""
LIMIT_S = 30.0
"""How long one question to Stripe may take, with all retries."""
TRY_S = 8.0
"""How long one try may take."""
MORE_TRIES = 2
_NO_ANSWER = "Stripe did not answer in time; nobody has paid, so ask for the top-up again"
_PRODUCT = "Callwright credits"


class StripeProvider:
    """Asks Stripe. Made by `connected`."""

    name = NAME

    def __init__(self, client: "stripe.StripeClient", root: str) -> None:
        self._client, self._root = client, root

    async def begin(self, asked: Asked) -> Checkout:
        """A Checkout Session; asked again with the same id, Stripe answers with the same one."""
        mark = {MARK: asked.id}
        with _answered_in_time():
            made = await self._client.v1.checkout.sessions.create_async(
                {
                    "mode": "payment",
                    "line_items": [
                        {
                            "quantity": 1,
                            "price_data": {
                                "currency": asked.currency.lower(),
                                "unit_amount": asked.amount_micros // CENT,
                                "product_data": {"name": _PRODUCT},
                            },
                        }
                    ],
                    "client_reference_id": asked.id,
                    "metadata": mark,
                    "payment_intent_data": {"metadata": mark},
                    "success_url": f"{self._root}{RETURN_PATH}",
                },
                {"idempotency_key": asked.id},
            )
            session = NewSession.model_validate(made.to_dict())
            return Checkout(session.id, session.url, (session.expires_at - session.created) * SECOND)

    async def look_up(self, topup_id: str, reference: str) -> Payment:
        """How a Checkout Session stands."""
        with _answered_in_time():
            found = await self._client.v1.checkout.sessions.retrieve_async(reference)
            return Session.model_validate(found.to_dict()).payment()


@asynccontextmanager
async def connected(settings: PaymentSettings, root: str) -> AsyncGenerator[StripeProvider]:
    """Stripe, with the key of the settings. `root` is the address of the service, to which a payer comes back."""
    assert settings.stripe_secret_key is not None
    await to_thread.run_sync(_load)
    import stripe

    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=TRY_S)) as session:
        client = stripe.StripeClient(
            settings.stripe_secret_key,
            base_addresses={"api": settings.stripe_api_base} if settings.stripe_api_base else None,
            max_network_retries=MORE_TRIES,
            http_client=stripe.AIOHTTPClient(timeout=None, session=session),
        )
        yield StripeProvider(client, root)


def _load() -> None:
    """Imports what is used of the library, which takes 0.3 s."""
    import stripe

    assert stripe.StripeClient
    assert stripe.AIOHTTPClient


@contextmanager
def _answered_in_time() -> Generator[None]:
    """Bounds a question to Stripe, and turns what can go wrong into errors without a key or an answer's text."""
    import stripe

    try:
        with anyio.fail_after(LIMIT_S):
            yield
    except stripe.AuthenticationError:
        raise ProviderRefused("Stripe does not know the secret key; check CALLWRIGHT_STRIPE_SECRET_KEY") from None
    except stripe.PermissionError:
        said = "the secret key may not use Stripe Checkout; give CALLWRIGHT_STRIPE_SECRET_KEY a key that may"
        raise ProviderRefused(said) from None
    except (stripe.InvalidRequestError, stripe.IdempotencyError) as error:
        why = f" ({error.code})" if error.code else ""
        raise ProviderRefused(f"Stripe refuses the request{why}; its dashboard says why, under Developers") from None
    except (TimeoutError, aiohttp.ClientError, stripe.StripeError):
        raise ProviderUnavailable(_NO_ANSWER) from None
    except (ValueError, TypeError, AttributeError):
        raise ProviderUnavailable("Stripe answered otherwise than expected; try again later") from None
