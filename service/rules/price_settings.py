"""The price list: what a call, a minute and a month of a phone number cost."""

from dataclasses import dataclass

from callwright.contract.deployments.call_price import CallPrice


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
