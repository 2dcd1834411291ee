"""Forwards events to an endpoint on this machine, as the service sends them, and checks the delivery log.

Bytes and headers are the same; each event is sent once.
"""

import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from ipaddress import ip_address

import anyio
import orjson
from pydantic import TypeAdapter, ValidationError

from callwright.client import InvalidSignature, verify
from callwright.client.receiving import SIGNATURE_HEADER
from callwright.client.transport import AsyncBaseTransport, httpx
from callwright.contract.event_log import Event
from callwright.contract.webhooks import DeliveryAttempt, Secret
from callwright.server.commands.command_error import CommandError
from callwright.service.platform.clock.clock import SECOND, milliseconds
from callwright.service.platform.event_envelope import envelope
from callwright.service.platform.ids import Ids
from callwright.service.webhooks.signing import request_headers

DEADLINE_S = 5.0
"""How long an endpoint may take, as for the service."""
_SECRET: TypeAdapter[str] = TypeAdapter(Secret)


@dataclass(frozen=True)
class EndpointAnswer:
    """The result of sending an event. Without an answer `status` is None and `failure` says why."""

    status: int | None
    duration_ms: int
    failure: str = ""


def body_of(event: Event) -> bytes:
    """The bytes of an event as the service sends them."""
    created_ms = milliseconds(datetime.fromisoformat(event.created_at))
    return envelope(event.id, event.type, created_ms, event.org_id, orjson.dumps(event.data).decode())


def signatures_checked(event: Event, attempts: Iterable[DeliveryAttempt], secret: str) -> str:
    """Whether the logged signatures of all attempts match the secret, as text; empty if there is none."""
    signed = [(one, header) for one in attempts if (header := one.request_headers.get(SIGNATURE_HEADER)) is not None]
    for attempt, header in signed:
        try:
            verify(body_of(event), header, secret, now_s=datetime.fromisoformat(attempt.started_at).timestamp())
        except InvalidSignature:
            return f"signature of attempt {attempt.number} does not match"
    return "signature verified" if signed else ""


def local_url(text: str) -> str:
    """Checks that a URL is on this machine. Raises `CommandError` for any other."""
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL:
        url = httpx.URL("")
    if url.scheme not in ("http", "https") or not _is_loopback(url.host):
        raise CommandError(
            "--forward takes a URL on this machine, for example http://127.0.0.1:3000/events. To send anywhere else, "
            "make a webhook subscription"
        )
    return str(url)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def checked_secret(text: str) -> str:
    """Checks the form of a secret. Raises `CommandError` if it is not valid."""
    try:
        return _SECRET.validate_python(text)
    except ValidationError:
        raise CommandError("--secret takes the secret of a subscription: whsec_ and at least 24 characters") from None


def new_secret() -> str:
    """A secret for one session."""
    return f"whsec_{secrets.token_urlsafe(32)}"


class Forwarding:
    """Sends events to one endpoint. `now_ms` returns the time for signatures."""

    def __init__(
        self, url: str, secret: str, now_ms: Callable[[], int], transport: AsyncBaseTransport | None = None
    ) -> None:
        self._url, self._secret, self._now_ms = url, secret, now_ms
        self._ids = Ids(now_ms)
        self._http = httpx.AsyncClient(transport=transport, trust_env=False, timeout=None)  # `post` has a deadline

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def post(self, event: Event) -> EndpointAnswer:
        """Sends an event once. Does not raise for errors of the endpoint."""
        body = body_of(event)
        headers = request_headers(
            body,
            self._now_ms() // SECOND,
            [self._secret],
            event_id=event.id,
            delivery_id=self._ids.new("dlv"),
            simulated=event.simulated,
        )
        begun = anyio.current_time()
        status, failure = None, f"no answer within {DEADLINE_S:g} s"
        with anyio.move_on_after(DEADLINE_S):
            try:
                async with self._http.stream("POST", self._url, content=body, headers=headers) as answer:
                    status, failure = answer.status_code, ""
            except httpx.ConnectError:
                failure = "no connection; does the endpoint run?"
            except httpx.HTTPError as error:
                failure = f"no answer in HTTP ({type(error).__name__})"
        return EndpointAnswer(status, round((anyio.current_time() - begun) * 1_000), failure)
