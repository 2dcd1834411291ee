"""Money: millionths of a dollar inside, decimal strings with six places outside; and the price list."""

from dataclasses import dataclass
from decimal import Decimal

from callwright.contract.declaration.words import Money
from callwright.contract.deployments.dearest_case import CURRENCY, MICROS, CallPrice
from callwright.service.platform.clock.clock import DAY

OPENING_BALANCE = 100 * MICROS
"""What a new organization's wallet holds on the simulated network: play money."""
LOW_BALANCE_THRESHOLD = 10 * MICROS
RENTAL_PERIOD_MS = 30 * DAY
"""What a month of a phone number is."""


def amount(micros: int) -> str:
    """`0.042500` for 42500."""
    sign = "-" if micros < 0 else ""
    whole, part = divmod(abs(micros), MICROS)
    return f"{sign}{whole}.{part:06d}"


def money(micros: int) -> Money:
    """The amount as callers see it."""
    return Money(amount=amount(micros), currency=CURRENCY)


def micros(text: str) -> int:
    """42500 for `0.0425`. Raises `decimal.InvalidOperation` for what is no number."""
    return int(Decimal(text) * MICROS)


@dataclass(frozen=True)
class PriceList:
    """What things cost. Calls are charged by the second from the answer; unanswered calls are free."""

    outbound_minute: int = 12_000
    monthly: tuple[tuple[str, int], ...] = (
        ("local", 1_150_000),
        ("mobile", 2_000_000),
        ("national", 1_500_000),
        ("toll_free", 2_150_000),
    )

    @property
    def calls(self) -> CallPrice:
        return CallPrice(self.outbound_minute)

    def call(self, billed_seconds: int) -> int:
        """Micros for a call, rounded up to a whole one."""
        return self.calls.call(billed_seconds)

    def reservation(self) -> int:
        """Micros held back before a call is dialled: two minutes."""
        return self.calls.held_back

    def rental(self, number_type: str) -> int:
        """Micros for a month of a number."""
        return dict(self.monthly)[number_type]


PRICES = PriceList()
