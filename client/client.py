"""The client: an attribute for each kind of resource, and the methods of `session.py` that take any operation."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from types import MappingProxyType, TracebackType
from typing import Self, get_type_hints
from uuid import uuid4

import anyio

from callwright.client import nouns
from callwright.client.compat.network_place import Resolve, resolved
from callwright.client.method import Noun, OperationMethod
from callwright.client.request import beta_headers
from callwright.client.retry import Retries
from callwright.client.session import OneUseKey, Session
from callwright.client.transport import ApiKey, AsyncBaseTransport, Bounds, Transport


class Surface(Session):
    """Every operation, by noun."""

    agents: nouns.Agents
    voices: nouns.Voices
    providers: nouns.Providers
    audiences: nouns.Audiences
    phone_numbers: nouns.PhoneNumbers
    deployments: nouns.Deployments
    calls: nouns.Calls
    transcripts: nouns.Transcripts
    wallet: nouns.Wallet
    webhooks: nouns.Webhooks
    events: nouns.Events
    overview: nouns.Overview
    audit_log: nouns.AuditLog
    do_not_call: nouns.DoNotCall
    people: nouns.People
    compliance_reviews: nouns.ComplianceReviews
    confirmations: nouns.Confirmations

    def __init__(self, transport: Transport, *, new_key: Callable[[], str], bound_key: OneUseKey | None = None) -> None:
        super().__init__(transport, new_key=new_key, bound_key=bound_key)
        for attribute, noun in NOUNS.items():
            setattr(self, attribute, noun(self))


NOUNS: Mapping[str, type[Noun]] = MappingProxyType(get_type_hints(Surface))


class Client(Surface):
    """The REST client of one organization.

        async with Client("http://127.0.0.1:8080/v1", api_key) as client:
            agent = await client.agents.create(name="Ada", voice_id="en-US-ada", language="en-US", system_prompt="...")
            async for call in client.calls.list(outcome=["answered"]):
                ...

    `base_url` includes the version prefix. `beta` names the beta features to switch on. The client warns once, with a
    `DeprecationWarning`, of each operation in use that the service is going to remove.

    `timeout_s` limits each attempt of a request, `connect_timeout_s` its connecting; with `retries` the longest wait is
    the sum of the attempts and the pauses between. Limit a whole call with `anyio.fail_after`. `max_answer_bytes`
    limits a JSON answer. `transport` replaces the network, for example with an ASGI application, and `other_hosts` the
    network to other hosts whose addresses appear in answers (`open_address`); the client closes both. `resolve` looks
    up the IP addresses of such hosts. `sleep` does the pauses, `draw` (a number from 0 up to 1) gives their jitter, and
    `new_key` makes the idempotency keys.

    No environment variable is read. To use a proxy, pass a transport.

    Raises:
        InvalidArguments: the base URL, the key or a feature's name is not valid.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        beta: Collection[str] = (),
        transport: AsyncBaseTransport | None = None,
        other_hosts: AsyncBaseTransport | None = None,
        resolve: Resolve = resolved,
        timeout_s: float = 30.0,
        connect_timeout_s: float = 5.0,
        max_answer_bytes: int = 16 * 1024 * 1024,
        retries: Retries | None = None,
        sleep: Callable[[float], Awaitable[object]] = anyio.sleep,
        draw: Callable[[], float] | None = None,
        new_key: Callable[[], str] = lambda: uuid4().hex,
    ) -> None:
        bounds = Bounds(connect_s=connect_timeout_s, read_s=timeout_s, total_s=timeout_s, answer_bytes=max_answer_bytes)
        super().__init__(
            Transport(
                base_url,
                ApiKey(api_key),
                transport=transport,
                other_hosts=other_hosts,
                resolve=resolve,
                bounds=bounds,
                retries=retries,
                headers=beta_headers(beta),
                sleep=sleep,
                draw=draw,
            ),
            new_key=new_key,
        )

    def __repr__(self) -> str:
        return f"Client({self._transport.base_url!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._transport.close()

    def idempotent(self, key: str) -> Surface:
        """The same client with an idempotency key for exactly one POST: `client.idempotent("k").agents.create(...)`.

        Within 24 hours the service answers a repetition with the same key with the first answer, and creates nothing
        twice. A second such POST through the returned client raises `InvalidArguments`. Reads and previews leave the
        key alone.
        """
        return Surface(self._transport, new_key=self._new_key, bound_key=OneUseKey(key))


def client_methods(nouns: Mapping[str, type[Noun]] = NOUNS) -> dict[str, str]:
    """Which client method serves which operation: `{"create_agent": "agents.create", ...}`.

    Raises:
        ValueError: two methods serve the same operation.
    """
    methods: dict[str, str] = {}
    for attribute, noun in nouns.items():
        for name, found in vars(noun).items():
            if not isinstance(found, OperationMethod):
                continue
            operation: str = found.operation.name
            method = f"{attribute}.{name}"
            if operation in methods:
                raise ValueError(f"{methods[operation]} and {method} both serve {operation}")
            methods[operation] = method
    return methods
