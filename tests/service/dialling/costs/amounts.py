"""Amounts of the tests of costs."""

from decimal import Decimal

from tests.support.service import Tenant


def micros(text: str | None) -> int:
    """The millionths of an amount; none of no amount."""
    return int(Decimal(text or "0") * 1_000_000)


async def charged(tenant: Tenant, call_id: str) -> int:
    """What the ledger took for a call, and did not give back."""
    found = [one async for one in tenant.client.wallet.list_transactions(reference_id=call_id)]
    return -sum(micros(one.amount.amount) for one in found)
