"""Transfers of a call to a person, as call engines know them."""

from dataclasses import dataclass

from callwright.contract.calls.transfers import TransferCause, TransferKind, TransferStatus

MOST_TRANSFERS = 2
"""Tries of a call to transfer it. After as many an agent says that a colleague calls back."""


@dataclass(frozen=True)
class Destination:
    """A person to whom an agent may transfer its calls."""

    name: str
    to: str | None
    """E.164; None where the simulated network is told to transfer and the agent has no destination."""
    kind: TransferKind = "warm"
    ring_timeout_s: float = 30.0


NOBODY_SET = Destination("", None)
"""Where a simulated call goes that is told to be transferred, if its agent has no destination."""


@dataclass(frozen=True, kw_only=True)
class CallTransfer:
    """A try to transfer a call, and what has come of it by now. Times are seconds after the call was answered."""

    kind: TransferKind
    to: str | None
    name: str = ""
    status: TransferStatus = "ringing"
    cause: TransferCause | None = None
    """Why it failed."""
    started_s: float
    at_s: float
    """When it reached its status."""

    @property
    def is_bridged(self) -> bool:
        """Whether the person has taken over."""
        return self.status == "bridged"

    @property
    def is_over(self) -> bool:
        """Whether its status is the last one."""
        return self.status in ("bridged", "failed")
