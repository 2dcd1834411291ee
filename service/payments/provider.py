"""What a payment provider does for a top-up, and what it says about one."""

from dataclasses import dataclass
from typing import Literal, Protocol

from callwright.service.accounts.errors import AccountError
from callwright.service.platform.clock.clock import DAY

CHECKOUT_MS = DAY
"""How long a top-up waits for the provider's answer, and how long a checkout of the simulated provider is open."""
PaymentStatus = Literal["pending", "paid", "expired", "failed"]


@dataclass(frozen=True)
class Asked:
    """A top-up as the provider is asked for it. Its id is the provider's idempotency key."""

    id: str
    amount_micros: int
    currency: str


@dataclass(frozen=True)
class Checkout:
    """A page on which somebody can pay, and for how long. `reference` is the provider's id of it."""

    reference: str
    url: str
    valid_ms: int


@dataclass(frozen=True)
class Payment:
    """What a provider says about a checkout.

    `topup_id` is the top-up it was made for, None if the checkout is not ours. `payment_reference` is the provider's
    id of the payment, if there was one.
    """

    provider: str
    reference: str
    topup_id: str | None
    status: PaymentStatus
    paid_micros: int = 0
    currency: str = ""
    payment_reference: str | None = None


@dataclass(frozen=True)
class Refund:
    """What a provider says about a payment: how much of it went back, in all."""

    provider: str
    payment_reference: str
    topup_id: str | None
    refunded_micros: int
    currency: str


class ProviderRefused(AccountError):
    """The provider does not want the top-up; the text says why and what to do."""


class ProviderUnavailable(AccountError):
    """The provider did not answer in time, or not as expected. Nobody can pay yet."""


class PaymentProvider(Protocol):
    """A payment provider, open for questions."""

    @property
    def name(self) -> str:
        """Its name in settings and rows."""
        ...

    async def begin(self, asked: Asked) -> Checkout:
        """A checkout, the same for the same top-up. Raises `ProviderRefused`, `ProviderUnavailable`."""
        ...

    async def look_up(self, topup_id: str, reference: str) -> Payment:
        """How a checkout stands. Raises `ProviderRefused`, `ProviderUnavailable`."""
        ...
