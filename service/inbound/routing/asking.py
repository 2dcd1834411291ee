"""Asks a number's routing webhook, while a caller waits, what happens to the call.

It is sent like an event: addresses are checked when the connection is made, and redirects are not followed. One second
covers everything, from the look-up of the host to the last byte of the answer, and nothing is asked again. Connections
are kept for the next caller of the number. They are not opened ahead: the HTTP client has no public way to, and a new
one costs about three round trips.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import anyio

from callwright.contract.attempts import AttemptOutcome
from callwright.contract.inbound_routing import MOST_ANSWER_BYTES, ROUTING_LIMIT_MS
from callwright.service.inbound.routing import answers
from callwright.service.inbound.routing.answers import RoutingAnswer
from callwright.service.inbound.routing.question import TYPE, Question
from callwright.service.platform.clock.clock import SECOND
from callwright.service.platform.event_envelope import envelope
from callwright.service.platform.outgoing.posted import Posted
from callwright.service.services import Services
from callwright.service.settings import ServiceSettings
from callwright.service.webhooks.signing import signed_headers
from callwright.service.webhooks.transport.endpoints import Endpoints

LIMIT_S = ROUTING_LIMIT_MS / SECOND
_TO_TELL_S = 0.02
"""How much later a question is given up from outside, so that the sender, which knows how far it came, says it."""
KEPT_S = 30.0
"""How long a connection is kept for the next caller. One that the endpoint has closed meanwhile is not used."""
MOST_AT_ONCE = 64
"""Questions about one number under way at a time. Others wait for their place, within their second."""
MOST_CONNECTIONS = 1_024
_NO_PLACE = f"{MOST_AT_ONCE} other questions about this number waited for answers, so this one was not sent in time."
_TOO_LATE = "The endpoint did not answer within 1 second."


def routing_endpoints(settings: ServiceSettings) -> Endpoints:
    """What sends the questions of a process."""
    return Endpoints(
        opened=settings.webhook_networks,
        deadline_s=LIMIT_S,
        most_connections=MOST_CONNECTIONS,
        most_answer_bytes=MOST_ANSWER_BYTES,
        kept_s=KEPT_S,
    )


@dataclass(frozen=True)
class Asked:
    """What came of a question. Without an `answer` the caller gets the fallback, and `detail` says why."""

    answer: RoutingAnswer | None
    outcome: AttemptOutcome
    status: int | None
    excerpt: str
    """The beginning of what the endpoint answered, at most 4 KB."""
    detail: str
    latency_ms: int

    def refused(self, why: str) -> "Asked":
        """The same, where the answer names something that there is not. `why` is a sentence."""
        return replace(self, answer=None, outcome="bad_answer", detail=why)


class RoutingWebhook:
    """Asks routing webhooks."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._places = _Places()

    async def ready(self) -> None:
        """Does what only the first caller of this process would wait for. Call it before callers come."""
        await self._services.routing_endpoints.ready()

    async def ask(self, question: Question) -> Asked:
        """What the webhook answers, within a second. Raises nothing for what an endpoint does."""
        now_ms, begun_s = self._services.clock.now_ms(), anyio.current_time()
        body = envelope(question.id, TYPE, now_ms, question.org_id, question.data())
        headers = signed_headers(body, now_ms // SECOND, question.secrets, simulated=question.simulated)
        posted, waited_ms = None, None
        with anyio.move_on_after(LIMIT_S + _TO_TELL_S):
            async with self._places.one_of(question.number_id):
                waited_ms = _since_ms(begun_s)
                posted = await self._services.routing_endpoints.post(
                    question.url, body, headers, subscription=f"{TYPE} {question.number_id}"
                )
        if posted is None or waited_ms is None:
            late = _NO_PLACE if waited_ms is None else _TOO_LATE
            return Asked(None, "timeout", None, "", late, _since_ms(begun_s))
        return _read(posted, question.to, waited_ms)


def _since_ms(begun_s: float) -> int:
    return round((anyio.current_time() - begun_s) * SECOND)


def _read(posted: Posted, to: str, waited_ms: int) -> Asked:
    answer, outcome, detail = None, posted.outcome, posted.detail
    if outcome == "rejected":
        detail = f"The endpoint answered {posted.status}: it refuses the question."
    if outcome == "succeeded":
        read = answers.read(posted, to)
        if isinstance(read, RoutingAnswer):
            answer = read
        else:
            outcome, detail = "bad_answer", f"{detail} {read}".lstrip()
    return Asked(answer, outcome, posted.status, posted.excerpt, detail, waited_ms + posted.duration_ms)


class _Places:
    """So many places for each number, for as long as anybody has or wants one."""

    def __init__(self) -> None:
        self._limiters: dict[str, anyio.CapacityLimiter] = {}
        self._users: dict[str, int] = {}

    @asynccontextmanager
    async def one_of(self, number_id: str) -> AsyncGenerator[None]:
        """Holds one of the places of a number; waits for one if all are taken."""
        limiter = self._limiters.setdefault(number_id, anyio.CapacityLimiter(MOST_AT_ONCE))
        self._users[number_id] = self._users.get(number_id, 0) + 1
        try:
            async with limiter:
                yield
        finally:
            self._users[number_id] -= 1
            if not self._users[number_id]:
                del self._users[number_id], self._limiters[number_id]
