"""The address of this service, for links in its answers.

It never comes from a request: a sender can put anything into the Host header, and people follow these links.
"""

from dataclasses import dataclass


def recording_url(public_url: str | None, call_id: str) -> str:
    """The URL of a call's recording; without a public URL only its path."""
    return f"{public_url or ''}/v1/calls/{call_id}/recording"


def transcript_url(public_url: str | None, call_id: str) -> str:
    """The URL of a call's transcript; without a public URL only its path."""
    return f"{public_url or ''}/v1/calls/{call_id}/transcript"


def review_url(public_url: str | None, review_id: str) -> str:
    """The URL of a compliance review; without a public URL only its path."""
    return f"{public_url or ''}/v1/compliance_reviews/{review_id}"


@dataclass
class OwnAddress:
    """The address of this process, without the version prefix: the public one, or else the one it listens on."""

    public_url: str | None
    bound: str | None = None
    """Set by the program that listens; None if no program does."""

    @property
    def root(self) -> str:
        """The beginning of a link; empty if the address is not known, so that a link is only a path."""
        return self.public_url or self.bound or ""
