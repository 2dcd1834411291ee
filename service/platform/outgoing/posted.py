"""One POST to an address of a customer: what sends it, and its result."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from callwright.contract.attempts import AttemptOutcome


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
    body: bytes = field(default=b"", compare=False, repr=False)
    """The whole answer, where the sender waits for that."""


class Poster(Protocol):
    """Sends a body to a URL once and returns the result."""

    async def post(
        self, url: str, body: bytes, headers: Mapping[str, str], *, subscription: str | None = None
    ) -> Posted:
        """The result of one request. Connections may be kept for the subscription."""
        ...


class ReadyPoster(Poster, Protocol):
    """A poster that can be made ready before somebody waits for an answer."""

    async def ready(self) -> None:
        """Does what only the first request would wait for. Costs nothing when it is done already."""
        ...
