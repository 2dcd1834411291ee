"""How far a request to an address of a customer has come, and what that says when it fails."""

from dataclasses import dataclass
from typing import Literal

SENT_AGAIN = (
    "The endpoint closed a kept connection before it had answered, so the request was sent again over a new one: it "
    "may have come twice."
)


@dataclass(slots=True)
class Progress:
    """How far a try has come, as recorded by the parts of the connection. Descriptions of failures use only this."""

    plain: bool
    """Over HTTP without TLS."""
    stage: Literal["look_up", "connect", "answer"] = "look_up"
    reused: bool = False
    """The connection had been kept from an earlier request."""
    refused: str | None = None
    """The range of an address that was refused."""
    tried: bool = False
    """An address was allowed, and a connection to it begun."""

    sent_again: bool = False
    """The request was sent over a kept connection before, which the endpoint closed."""

    def begin_again(self) -> None:
        """Resets the progress for a second try over a new connection."""
        self.stage, self.reused, self.refused, self.tried = "look_up", False, None, False
        self.sent_again = True

    def said(self, detail: str) -> str:
        """The description of the try: whether the request was sent twice, and what went wrong."""
        return f"{SENT_AGAIN} {detail}".rstrip() if self.sent_again else detail


def seconds(deadline_s: float) -> str:
    """A number of seconds, in words."""
    return f"{deadline_s:g} second{'' if deadline_s == 1 else 's'}"


def timed_out(progress: Progress, deadline_s: float) -> str:
    """The description of a try that was not answered in time."""
    within = f"within {seconds(deadline_s)}"
    if progress.stage == "look_up":
        return f"The name of the host could not be looked up {within}."
    if progress.stage == "connect":
        return f"No connection was made {within}."
    return f"The endpoint did not answer {within}."
