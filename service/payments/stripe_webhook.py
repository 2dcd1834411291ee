"""The events that Stripe sends: their signature, and what they say about a top-up. Needs the `stripe` library."""

from typing import Any

from callwright.service.payments.provider import Payment, Refund
from callwright.service.payments.stripe_objects import Charge, Session, StripeModel

TOLERANCE_S = 300
"""How old a signature may be."""
FAILED = "checkout.session.async_payment_failed"
REFUNDED = "charge.refunded"
EVENTS = (
    "checkout.session.completed",
    "checkout.session.async_payment_succeeded",
    FAILED,
    "checkout.session.expired",
    REFUNDED,
)
"""The events that Stripe has to send."""


class NotFromStripe(Exception):
    """The signature is missing, wrong or too old, or does not sign this body."""


class NotUnderstood(Exception):
    """A signed event that does not have the form which Stripe documents."""


class _Data(StripeModel):
    object: dict[str, Any]


class _Event(StripeModel):
    type: str
    data: _Data


def read_event(body: bytes, signature: str | None, secret: str) -> Payment | Refund | None:
    """What a signed event says about a payment; None for one that is about something else.

    Importing the library takes 0.3 s the first time, so call it in a thread. Raises `NotFromStripe`, `NotUnderstood`.
    """
    import stripe

    if signature is None or not signature.isascii():
        raise NotFromStripe
    try:
        event = _Event.model_validate(stripe.Webhook.construct_event(body, signature, secret, TOLERANCE_S).to_dict())
        if event.type == REFUNDED:
            return Charge.model_validate(event.data.object).refund()
        if event.type in EVENTS:
            return Session.model_validate(event.data.object).payment(failed=event.type == FAILED)
    except (stripe.SignatureVerificationError, UnicodeDecodeError):
        raise NotFromStripe from None  # the library's error holds the body
    except (ValueError, AttributeError, TypeError, RecursionError):
        raise NotUnderstood from None  # the error of a wrong value holds the value
    return None
