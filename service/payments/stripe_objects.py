"""Stripe's objects, as far as top-ups need them, and what they mean. Their amounts are cents."""

from typing import Annotated, Any, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from callwright.contract.deployments.call_price import MICROS
from callwright.service.payments.provider import Payment, PaymentStatus, Refund

NAME = "stripe"
MARK = "callwright_topup"
"""The key of the metadata under which a checkout, its payment and its charge have the id of the top-up."""
CENT = MICROS // 100


def _id_of(value: Any) -> Any:
    """The id of an object that is there as a whole."""
    return cast("dict[str, Any]", value).get("id") if isinstance(value, dict) else value


Reference = Annotated[str, BeforeValidator(_id_of), Field(min_length=1, max_length=255)]


class StripeModel(BaseModel):
    """A part of Stripe's JSON; what is not named here is left out."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Session(StripeModel):
    """A Checkout Session."""

    id: Reference
    status: str | None = None
    payment_status: str
    amount_total: Annotated[int, Field(ge=0)] | None = None
    currency: str | None = None
    payment_intent: Reference | None = None
    metadata: dict[str, str] | None = None

    def payment(self, *, failed: bool = False) -> Payment:
        """What it says about the top-up. `failed` says that its payment was tried and did not succeed."""
        return Payment(
            provider=NAME,
            reference=self.id,
            topup_id=(self.metadata or {}).get(MARK),
            status=self._status(failed),
            paid_micros=(self.amount_total or 0) * CENT,
            currency=(self.currency or "").upper(),
            payment_reference=self.payment_intent,
        )

    def _status(self, failed: bool) -> PaymentStatus:
        if self.payment_status == "paid":
            return "paid"
        if failed:
            return "failed"
        return "expired" if self.status == "expired" else "pending"


class NewSession(Session):
    """A Checkout Session that was just made. Moments are seconds by Stripe's clock."""

    url: Annotated[str, Field(min_length=1)]
    created: int
    expires_at: int


class Charge(StripeModel):
    """A charge of a payment. `amount_refunded` is the sum of all its refunds."""

    payment_intent: Reference | None = None
    amount_refunded: Annotated[int, Field(ge=0)]
    currency: str
    metadata: dict[str, str] | None = None

    def refund(self) -> Refund | None:
        """What it says about the top-up; None for a charge without a payment, which no checkout makes."""
        if self.payment_intent is None:
            return None
        topup_id = (self.metadata or {}).get(MARK)
        return Refund(NAME, self.payment_intent, topup_id, self.amount_refunded * CENT, self.currency.upper())
