"""Requests for any operation of the contract, with its own types. The methods by noun call these."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, ParamSpec, TypeVar

from pydantic import JsonValue

from callwright.client.answers import output_of
from callwright.client.compat.foreign_address import ADDRESS_LIMIT_S, Accepts, AddressContent, opened
from callwright.client.compat.lenient_response import LenientResponse, lenient_response
from callwright.client.compat.paths import Compat
from callwright.client.download import DownloadRequest
from callwright.client.errors import InvalidArguments, ServiceProblem
from callwright.client.listing import Listing
from callwright.client.request import WireRequest, wire_request
from callwright.client.transport import Answer, Transport
from callwright.contract.declaration.model import Input, Resource
from callwright.contract.declaration.operation import AnyOperation, MediaStream, Operation
from callwright.contract.declaration.pagination import Page

P = ParamSpec("P")
In = TypeVar("In", bound=Input)
Out = TypeVar("Out")
Item = TypeVar("Item", bound=Resource)


class OneUseKey:
    """An idempotency key that serves a single request."""

    def __init__(self, key: str) -> None:
        self._key, self._used = key, False

    def take(self, operation: AnyOperation) -> str:
        """The key. A second time it is refused, because two requests under one key would be taken for one."""
        if self._used:
            raise InvalidArguments(f"{operation.name}: this idempotency key has served its one request")
        self._used = True
        return self._key


class Session:
    """Asks operations over one transport. `new_key` makes the idempotency keys of requests that bring none."""

    def __init__(self, transport: Transport, *, new_key: Callable[[], str], bound_key: OneUseKey | None = None) -> None:
        self._transport, self._new_key, self._bound_key = transport, new_key, bound_key

    async def ask(self, operation: Operation[P, In, Out], asked: In, *, idempotency_key: str | None = None) -> Out:
        """The output of an operation.

        Every POST carries an idempotency key, the same over all its retries: within 24 hours the service serves a key
        once. Bring your own to be safe across calls of this method too, for example after a `ServiceTimeout`.

        Raises:
            CallwrightError: as `errors.py` draws them.
        """
        if operation.shape == "media":
            raise TypeError(f"{operation.name} answers with bytes; use open")
        wire = wire_request(operation, asked, idempotency_key=self._key_for(operation, idempotency_key))
        answer = await self._exchanged(operation, wire)
        return output_of(operation, answer.body, status=answer.status, request_id=answer.headers.get("x-request-id"))

    async def ask_lenient(
        self,
        operation: Operation[P, In, Out],
        asked: In,
        *,
        idempotency_key: str | None = None,
        extra: Mapping[str, JsonValue] | None = None,
    ) -> LenientResponse[Out]:
        """The answer of an operation as it comes, fitting the contract or not. Otherwise as `ask`.

        `extra` are fields of the body that the contract does not know.
        """
        if operation.shape == "media":
            raise TypeError(f"{operation.name} answers with bytes; use open")
        key = self._key_for(operation, idempotency_key)
        wire = wire_request(operation, asked, idempotency_key=key, extra=extra)
        answer = await self._exchanged(operation, wire)
        request_id = answer.headers.get("x-request-id")
        return lenient_response(operation, answer.body, status=answer.status, request_id=request_id)

    def open_address(
        self, url: str, *, accepts: Accepts, limit_s: float = ADDRESS_LIMIT_S, chosen: bool = False
    ) -> AbstractAsyncContextManager[AddressContent]:
        """What stands at an address out of an answer, under the rules of `foreign_address.py`.

        `accepts` says which types of content are of use. `chosen` says that the person chose the address, so that it
        may lie anywhere. The key goes to the service alone, whoever chose the address.

        Raises:
            AddressUnreadable: it must not be opened, or gives nothing usable.
        """
        return opened(self._transport, url, accepts=accepts, limit_s=limit_s, chosen=chosen)

    @property
    def compat(self) -> Compat:
        """The paths that are known of the service."""
        return self._transport.compat

    async def page(self, operation: Operation[P, In, Page[Item]], asked: In) -> Page[Item]:
        """One page of a list, the one asked for."""
        return await self.ask(operation, asked)

    def walk(self, operation: Operation[P, In, Page[Item]], asked: In) -> Listing[Item]:
        """A list to await for one page, or to loop over to its end."""
        return Listing(self.ask, operation, asked)

    def open(
        self,
        operation: Operation[P, In, MediaStream],
        asked: In,
        *,
        range_bytes: tuple[int, int | None] | None = None,
        if_none_match: str | None = None,
    ) -> DownloadRequest:
        """The bytes of a media operation: `async with client.open(...) as download`. Arguments as in `asking`."""
        wire = wire_request(operation, asked).with_headers(
            Accept=", ".join((*operation.media_types, "application/json")), Accept_Encoding="identity"
        )
        request = DownloadRequest(self._transport, operation, wire)
        return request.asking(range_bytes=range_bytes, if_none_match=if_none_match)

    async def _exchanged(self, operation: AnyOperation, wire: WireRequest) -> Answer:
        deprecations = self._transport.deprecations
        try:
            answer = await self._transport.compat.asked(operation, wire, self._transport.exchange)
        except ServiceProblem as problem:
            deprecations.check(operation.name, problem.headers)
            raise
        deprecations.check(operation.name, answer.headers)
        return answer

    def _key_for(self, operation: Operation[..., Any, Any], given: str | None) -> str | None:
        if given is not None or operation.method != "POST":
            return given
        return self._bound_key.take(operation) if self._bound_key else self._new_key()
