"""Sends any operation of the contract, with its own types. The methods by noun call these."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, ParamSpec, TypeVar

from pydantic import JsonValue

from callwright.client.answers import output_of
from callwright.client.compat.external_address import ADDRESS_LIMIT_S, Accepts, AddressContent, opened
from callwright.client.compat.lenient_response import LenientResponse, lenient_response
from callwright.client.compat.paths import Compat
from callwright.client.compat.upload_address import UploadState, send_part
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
    """An idempotency key for a single request."""

    def __init__(self, key: str) -> None:
        self._key, self._used = key, False

    def take(self, operation: AnyOperation) -> str:
        """The key. Raises InvalidArguments the second time: the service would take both requests for one."""
        if self._used:
            raise InvalidArguments(f"{operation.name}: this idempotency key has served its one request")
        self._used = True
        return self._key


class Session:
    """Sends operations over one transport. `new_key` makes the idempotency keys of requests that bring none."""

    def __init__(self, transport: Transport, *, new_key: Callable[[], str], bound_key: OneUseKey | None = None) -> None:
        self._transport, self._new_key, self._bound_key = transport, new_key, bound_key

    async def ask(self, operation: Operation[P, In, Out], asked: In, *, idempotency_key: str | None = None) -> Out:
        """Sends an operation and returns its output.

        Every POST carries an idempotency key, the same for all its retries: within 24 hours the service serves a key
        once. Pass your own to be safe across calls of this method too, for example after a `ServiceTimeout`.

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
        """Like `ask`, but returns any JSON answer, whether it fits the contract or not.

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
        self, url: str, *, accepts: Accepts, limit_s: float = ADDRESS_LIMIT_S, chosen_by_user: bool = False
    ) -> AbstractAsyncContextManager[AddressContent]:
        """Opens an address from an answer, under the rules of `external_address.py`.

        `accepts` says which media types are accepted. `chosen_by_user`: a person chose the address, so it may be in
        any network. Only the service itself gets the key, whoever chose the address.

        Raises:
            AddressUnreadable: it must not be opened, or its content is not usable.
        """
        return opened(self._transport, url, accepts=accepts, limit_s=limit_s, chosen_by_user=chosen_by_user)

    async def send_part(self, url: str, content: bytes, *, begin: int, total: int) -> UploadState:
        """Sends bytes of a file to the `upload_url` of an import, as `upload_address.py` says. Without the API key."""
        return await send_part(self._transport, url, content, begin=begin, total=total)

    @property
    def compat(self) -> Compat:
        """What is known about the service's paths."""
        return self._transport.compat

    async def page(self, operation: Operation[P, In, Page[Item]], asked: In) -> Page[Item]:
        """One page of a list, the one asked for."""
        return await self.ask(operation, asked)

    def walk(self, operation: Operation[P, In, Page[Item]], asked: In) -> Listing[Item]:
        """A list: await it for one page, or loop over it to its end."""
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
            answer = await self._transport.compat.send(operation, wire, self._transport.exchange)
        except ServiceProblem as problem:
            deprecations.check(operation.name, problem.headers)
            raise
        deprecations.check(operation.name, answer.headers)
        return answer

    def _key_for(self, operation: Operation[..., Any, Any], given: str | None) -> str | None:
        if given is not None or operation.method != "POST":
            return given
        return self._bound_key.take(operation) if self._bound_key and operation.writes else self._new_key()
