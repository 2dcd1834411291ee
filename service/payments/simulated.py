"""The simulated provider: its checkout is a page of the service itself, and what is paid there is play money."""

from callwright.service.payments.provider import CHECKOUT_MS, Asked, Checkout, Payment

NAME = "simulated"
CHECKOUT_PATH = "/payments/simulated"


def reference_of(topup_id: str) -> str:
    """The reference of a top-up's checkout."""
    return f"{NAME}_{topup_id}"


class SimulatedProvider:
    """Makes checkouts on the page of the service at `root`. It settles nothing by itself: the page does."""

    name = NAME

    def __init__(self, root: str) -> None:
        self._root = root

    async def begin(self, asked: Asked) -> Checkout:
        """A checkout on the service's own page."""
        return Checkout(reference_of(asked.id), f"{self._root}{CHECKOUT_PATH}/{asked.id}", CHECKOUT_MS)

    async def look_up(self, topup_id: str, reference: str) -> Payment:
        """It is pending until it is confirmed on the page, which settles it at once."""
        return Payment(NAME, reference, topup_id, "pending")
