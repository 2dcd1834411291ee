"""The result of one attempt to send, and its description in words."""

from dataclasses import dataclass, field
from typing import Literal

from callwright.contract.webhooks import AttemptOutcome

MOST_EXCERPT_BYTES = 4_096
SENT_AGAIN = (
    "The endpoint closed a kept connection before it had answered, so the request was sent again over a new one: it "
    "may have come twice."
)
_ESCAPED = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n\r"}


@dataclass(frozen=True)
class Posted:
    """The result of one POST to an endpoint.

    `status` is None without an answer. `excerpt` is the beginning of the answer, at most 4 KB, with bytes that are not
    text escaped. `detail` says what went wrong, in words; it is empty if nothing did.
    """

    outcome: AttemptOutcome
    status: int | None
    excerpt: str
    detail: str
    duration_ms: int
    is_whole: bool = field(default=False, compare=False)
    """The excerpt is the whole answer."""


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


def of_status(status: int, location: str | None) -> tuple[AttemptOutcome, str]:
    """The outcome of a status, and its description."""
    if 200 <= status <= 299:
        return "succeeded", ""
    if 300 <= status <= 399:
        where = f" to {shown(location.encode('utf-8', 'surrogateescape'))[:200]}" if location else ""
        return "redirected", f"The endpoint answered {status} and redirects{where}. Redirects are not followed."
    if 400 <= status <= 499:
        return "rejected", f"The endpoint answered {status}: it does not want the event."
    if 500 <= status <= 599:
        return "server_error", f"The endpoint answered {status}: it has failed."
    return "bad_answer", f"The endpoint answered with the status {status}, which does not end a request."


def timed_out(progress: Progress, deadline_s: float) -> str:
    """The description of a try that was not answered in time."""
    within = f"within {deadline_s:g} seconds"
    if progress.stage == "look_up":
        return f"The name of the host could not be looked up {within}."
    if progress.stage == "connect":
        return f"No connection was made {within}."
    return f"The endpoint did not answer {within}."


def shown(body: bytes) -> str:
    """Bytes as text of at most 4 KB; what is not UTF-8 or not printable is escaped."""
    if not body:
        return ""
    text = body[:MOST_EXCERPT_BYTES].decode("utf-8", "backslashreplace").translate(_ESCAPED)
    return text.encode("utf-8")[:MOST_EXCERPT_BYTES].decode("utf-8", "ignore")
