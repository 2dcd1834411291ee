"""Where this service is reached, for the addresses that stand in its answers.

Never taken from a request: whoever sends one writes what he likes into its Host header, and a person follows the links.
"""

from dataclasses import dataclass


def recording_url(public_url: str | None, call_id: str) -> str:
    """Where a call's recording is; below the service's own address where no public one is known."""
    return f"{public_url or ''}/v1/calls/{call_id}/recording"


def transcript_url(public_url: str | None, call_id: str) -> str:
    """Where a call's transcript is; below the service's own address where no public one is known."""
    return f"{public_url or ''}/v1/calls/{call_id}/transcript"


@dataclass
class OwnAddress:
    """The address of this process, without the version prefix: the public one, or else the one it listens on."""

    public_url: str | None
    bound: str | None = None
    """Set by the program that listens; None where nobody does."""

    @property
    def root(self) -> str:
        """What a link begins with; empty where the address is not known, which leaves the path."""
        return self.public_url or self.bound or ""
