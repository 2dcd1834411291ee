"""Endpoints that lead nowhere: made-up subscriptions name real hosts, and nothing may be sent to them."""

from collections.abc import Mapping
from itertools import cycle

from callwright.contract.attempts import AttemptOutcome
from callwright.service.platform.outgoing.posted import Posted

_ANSWERS: tuple[tuple[AttemptOutcome, int | None], ...] = (
    ("succeeded", 204),
    ("server_error", 503),
    ("rejected", 404),
    ("timeout", None),
)


class Nowhere:
    """Takes the place of `webhooks.transport.endpoints.Endpoints`, opens no connection and looks no name up.

    Gives each kind of answer in turn, so that deliveries arrive, wait for another attempt, and fail. A good one has no
    body, which a routing webhook may answer too.
    """

    def __init__(self) -> None:
        self._answers = cycle(_ANSWERS)

    async def ready(self) -> None:
        """It always is."""

    async def post(
        self, url: str, body: bytes, headers: Mapping[str, str], *, subscription: str | None = None
    ) -> Posted:
        """The next answer. Nothing is sent."""
        outcome, status = next(self._answers)
        detail = "" if outcome == "succeeded" else "Made-up requests send nothing."
        return Posted(outcome, status, "", detail, 0)
