"""Money: millionths of a dollar inside, decimal strings with six places outside."""

import re
from decimal import Decimal

from callwright.contract.declaration.field_types import Money
from callwright.contract.deployments.call_price import CURRENCY, MICROS
from callwright.service.platform.clock.clock import DAY

OPENING_BALANCE = 100 * MICROS
"""What a new organization's wallet holds on the simulated network: play money."""
LOW_BALANCE_THRESHOLD = 10 * MICROS
MOST_DOLLARS = 1_000_000
"""The largest amount that a person may write."""
_WRITTEN = re.compile(r"-?[0-9]{1,12}(?:\.[0-9]{1,6})?")
RENTAL_PERIOD_MS = 30 * DAY
"""The length of a month for which a phone number is charged."""


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


def written_micros(text: str, what: str) -> int:
    """Micros of an amount in dollars as a person writes it, at most a million dollars; it may be below zero.

    Raises `ValueError`, which names `what` is meant and says how to write it.
    """
    if not _WRITTEN.fullmatch(text.strip()):
        raise ValueError(f"{what} {text!r} is not an amount; write for example 50.00")
    found = Decimal(text.strip())
    if not -MOST_DOLLARS <= found <= MOST_DOLLARS:
        raise ValueError(f"{what} is at most {MOST_DOLLARS:,}.00; write for example 50.00")
    return int(found * MICROS)
