"""Sends one request: adds the key, limits the time, retries, and raises this client's own errors.

This is the only module that knows the HTTP library. Others import what they need of it from here.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import TypeVar

import anyio
import httpx2 as httpx

from callwright.client.compat.network_place import Resolve, resolved
from callwright.client.compat.paths import Compat
from callwright.client.deprecation import Deprecations
from callwright.client.envelopes import problem_of
from callwright.client.errors import (
    AnswerTooLarge,
    CallwrightError,
    InvalidArguments,
    ServiceProblem,
    ServiceTimeout,
    ServiceUnreachable,
    UnexpectedAnswer,
)
from callwright.client.request import WireRequest
from callwright.client.retry import Retries, RetryState

__all__ = [
    "ASGITransport",
    "Answer",
    "ApiKey",
    "AsyncBaseTransport",
    "AsyncByteStream",
    "AsyncHTTPTransport",
    "Bounds",
    "DirectTransport",
    "MockTransport",
    "Request",
    "Response",
    "Stream",
    "Transport",
    "close_response",
    "failure_of",
    "httpx",
    "read_whole",
    "tool_name",
]

ASGITransport = httpx.ASGITransport
AsyncBaseTransport = httpx.AsyncBaseTransport
AsyncByteStream = httpx.AsyncByteStream
AsyncHTTPTransport = httpx.AsyncHTTPTransport
MockTransport = httpx.MockTransport
Request = httpx.Request
Response = httpx.Response

T = TypeVar("T")
_PROBLEM_BYTES = 256 * 1024
_CLOSE_S = 5.0
_MOST_URLS = 512
tool_name: ContextVar[str | None] = ContextVar("callwright_tool_name", default=None)
"""The tool that is running. Its name is sent with each request, for the service's audit log."""
_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


class ApiKey:
    """A bearer key that `repr()` does not show.

    Raises:
        InvalidArguments: it is empty or holds anything but visible ASCII characters.
    """

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        if not value or not all("!" <= character <= "~" for character in value):
            raise InvalidArguments("the API key must consist of visible ASCII characters")
        self._value = value

    def reveal(self) -> str:
        """The key itself."""
        return self._value

    def __repr__(self) -> str:
        return "ApiKey('****')"


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """Limits of one attempt. `total_s` bounds it from connecting to the last byte of a JSON answer.

    For media, `total_s` bounds the time to the headers and then `read_s` each wait for more bytes.
    """

    connect_s: float = 5.0
    read_s: float = 30.0
    total_s: float = 30.0
    answer_bytes: int = 16 * 1024 * 1024
    connections: int = 20


@dataclass(frozen=True)
class Answer:
    """An answer, read to its end. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class DirectTransport(AsyncBaseTransport):
    """A transport to a service that may run in this process and then takes requests without HTTP."""

    async def answered(
        self, method: str, target: str, headers: Mapping[str, str], content: bytes | None
    ) -> Answer | None:
        """The service's answer, whatever its status; None where the request has to travel over HTTP.

        `target` is the path below the version prefix, with its query. Building an HTTP request and an HTTP answer from
        these takes longer than most operations.
        """
        raise NotImplementedError


class Stream:
    """A successful answer whose body has not been read. Header names are in lower case."""

    def __init__(
        self, response: httpx.Response, *, guard: Callable[[], AbstractContextManager[None]], read_s: float
    ) -> None:
        self.status = response.status_code
        self.headers: Mapping[str, str] = _headers(response)
        self._response, self._guard, self._read_s = response, guard, read_s
        self._chunks = response.aiter_bytes()

    async def next_chunk(self) -> bytes | None:
        """The next bytes, None at the end. Each wait has a limit; a broken connection is not resumed."""
        with self._guard(), anyio.fail_after(self._read_s):
            return await anext(self._chunks, None)

    async def close(self) -> None:
        """Closes the answer and discards what has not been read."""
        with anyio.move_on_after(_CLOSE_S, shield=True):
            await self._chunks.aclose()
            await self._response.aclose()


class Transport:
    """Requests to one service with one key. `headers` are added to each of them.

    `sleep` and `draw` (0 up to 1) make the pauses between retries and their jitter.
    """

    def __init__(
        self,
        base_url: str,
        api_key: ApiKey,
        *,
        transport: AsyncBaseTransport | None = None,
        other_hosts: AsyncBaseTransport | None = None,
        resolve: Resolve = resolved,
        bounds: Bounds | None = None,
        retries: Retries | None = None,
        headers: Mapping[str, str] | None = None,
        sleep: Callable[[float], Awaitable[object]] = anyio.sleep,
        draw: Callable[[], float] | None = None,
    ) -> None:
        self.base_url = _checked_base(base_url)
        self.compat = Compat(self.base_url)
        self.deprecations = Deprecations()
        self._origin = _origin(self.base_url)
        self._bounds = bounds or Bounds()
        self._retries = retries or Retries()
        self._always = dict(headers or {})
        self._sleep = sleep
        self._draw = draw or Random().random
        self._key = api_key
        # Without an `httpx.AsyncClient` around it: what that adds (redirects, cookies, proxies and .netrc from the
        # environment) must not happen to a request with a key, and it takes a quarter of an in-process call.
        self._carrier: AsyncBaseTransport = transport or httpx.AsyncHTTPTransport(
            trust_env=False, limits=httpx.Limits(max_connections=self._bounds.connections)
        )
        self._direct = transport if isinstance(transport, DirectTransport) else None
        self._other_hosts = other_hosts
        self.resolve = resolve
        timeout = httpx.Timeout(self._bounds.read_s, connect=self._bounds.connect_s)
        self._extensions = {"timeout": timeout.as_dict()}

    def __repr__(self) -> str:
        return f"Transport({self.base_url!r})"

    @property
    def is_direct(self) -> bool:
        """Whether the service may run in this process, so that what it calls its own address is no way to it."""
        return self._direct is not None

    async def exchange(self, wire: WireRequest) -> Answer:
        """Sends a request, again where that is safe, and reads the whole answer.

        Raises:
            CallwrightError: as `errors.py` draws them.
        """
        return await self._repeated(wire, self._exchange_once)

    @asynccontextmanager
    async def stream(self, wire: WireRequest) -> AsyncGenerator[Stream, None]:
        """Sends a request, again where that is safe, and yields the answer once its headers are there.

        Leaving the context closes the answer, read to its end or not. 304 counts as success.
        """
        response = await self._repeated(wire, self._open_once)
        stream = Stream(response, guard=lambda: self._translated(wire), read_s=self._bounds.read_s)
        try:
            yield stream
        finally:
            await stream.close()

    async def close(self) -> None:
        """Closes the connections and the transports that were passed in."""
        with anyio.move_on_after(_CLOSE_S, shield=True):
            await self._carrier.aclose()
            if self._other_hosts is not None:
                await self._other_hosts.aclose()

    async def send_once(self, request: httpx.Request, *, to_service: bool, with_key: bool) -> httpx.Response:
        """Sends a request exactly once: no retry, no redirect. The caller reads and closes the answer.

        `to_service` says that it goes to the service itself, `with_key` that it carries the key, which only goes to the
        service itself. Requests to other hosts use connections of their own, never the service's transport.

        Raises:
            httpx.RequestError: it could not be sent, or there was no answer.
        """
        if with_key and to_service:
            request.headers["Authorization"] = f"Bearer {self._key.reveal()}"
        if to_service:
            carrier = self._carrier
        else:
            self._other_hosts = self._other_hosts or httpx.AsyncHTTPTransport(
                trust_env=False, limits=httpx.Limits(max_connections=4)
            )
            carrier = self._other_hosts
        request.extensions = {**self._extensions, **request.extensions}
        response = await carrier.handle_async_request(request)
        response.request = request
        return response

    async def _repeated(self, wire: WireRequest, attempt: Callable[[WireRequest], Awaitable[T]]) -> T:
        attempts = RetryState(self._retries, repeatable=wire.repeatable, media=wire.media, draw=self._draw)
        while True:
            try:
                return await attempt(wire)
            except CallwrightError as error:
                wait_s = attempts.wait_s(error)
                if wait_s is None:
                    raise
            await self._sleep(wait_s)

    async def _exchange_once(self, wire: WireRequest) -> Answer:
        with self._translated(wire), anyio.fail_after(self._bounds.total_s):
            if self._direct is not None:
                headers = self._headers_of(wire)
                answer = await self._direct.answered(wire.method, wire.target, headers, wire.content)
                if answer is not None:
                    return self._success(answer)
            response = await self._sent(wire)
            try:
                if not response.is_success:
                    raise await failure_of(response)
                return Answer(
                    response.status_code, _headers(response), await read_whole(response, self._bounds.answer_bytes)
                )
            finally:
                await close_response(response)

    async def _open_once(self, wire: WireRequest) -> httpx.Response:
        with self._translated(wire), anyio.fail_after(self._bounds.total_s):
            response = await self._sent(wire)
            if response.is_success or response.status_code == 304:
                return response
            try:
                raise await failure_of(response)
            finally:
                await close_response(response)

    def _headers_of(self, wire: WireRequest) -> dict[str, str]:
        headers = {
            "Authorization": f"Bearer {self._key.reveal()}",
            "Accept": "application/json",
            "User-Agent": "callwright-client",
            **self._always,
            **wire.headers,
        }
        if (tool := tool_name.get()) is not None:
            headers["X-Callwright-Tool"] = tool
        return headers

    def _success(self, answer: Answer) -> Answer:
        if not 200 <= answer.status < 300:
            raise problem_of(answer.status, answer.headers, answer.body)
        if len(answer.body) > (limit_bytes := self._bounds.answer_bytes):
            request_id = answer.headers.get("x-request-id")
            raise AnswerTooLarge(limit_bytes=limit_bytes, status=answer.status, request_id=request_id)
        return answer

    async def _sent(self, wire: WireRequest) -> httpx.Response:
        request = httpx.Request(
            wire.method,
            _url(self.base_url + wire.target),
            headers=self._headers_of(wire),
            content=wire.content,
            extensions=dict(self._extensions),
        )
        response = await self._carrier.handle_async_request(request)
        response.request = request
        return response

    @contextmanager
    def _translated(self, wire: WireRequest) -> Generator[None]:
        try:
            yield
        except (TimeoutError, httpx.TimeoutException) as error:
            sent = not isinstance(error, _NEVER_SENT)
            message = f"{self._origin} did not {'answer' if sent else 'accept a connection'} in time"
            raise ServiceTimeout(message, request_sent=sent, repeatable=wire.repeatable) from error
        except httpx.DecodingError as error:
            raise UnexpectedAnswer(f"the answer of {self._origin} cannot be decoded") from error
        except httpx.RequestError as error:
            sent = not isinstance(error, _NEVER_SENT)
            message = f"{'lost the connection to' if sent else 'cannot connect to'} {self._origin}"
            raise ServiceUnreachable(message, request_sent=sent, repeatable=wire.repeatable) from error
        except httpx.InvalidURL:
            raise InvalidArguments(f"{wire.operation}: the arguments do not fit into a URL") from None


@lru_cache(_MOST_URLS)
def _url(text: str) -> httpx.URL:
    """The parsed URL, cached: parsing takes a fifth of the time to make a request. Raises `httpx.InvalidURL`."""
    return httpx.URL(text)


def _headers(response: Response) -> dict[str, str]:
    return {name.lower(): value for name, value in response.headers.items()}


async def read_whole(response: Response, limit_bytes: int) -> bytes:
    """The body of an answer. Raises `AnswerTooLarge` as soon as it exceeds `limit_bytes`."""
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > limit_bytes:
            raise AnswerTooLarge(
                limit_bytes=limit_bytes,
                status=response.status_code,
                request_id=response.headers.get("x-request-id"),
            )
    return bytes(body)


async def failure_of(response: httpx.Response) -> ServiceProblem | UnexpectedAnswer:
    """The error of an answer that is no success. Reads it."""
    if response.status_code < 400:
        message = f"the service answered with status {response.status_code}, which no operation gives"
        return UnexpectedAnswer(message, status=response.status_code, request_id=response.headers.get("x-request-id"))
    try:
        body = await read_whole(response, _PROBLEM_BYTES)
    except AnswerTooLarge:
        body = b""
    return problem_of(response.status_code, _headers(response), body)


async def close_response(response: Response) -> None:
    """Closes an answer within five seconds, even when the task is cancelled."""
    with anyio.move_on_after(_CLOSE_S, shield=True):
        await response.aclose()


def _checked_base(base_url: str) -> str:
    try:
        url = httpx.URL(base_url)
    except httpx.InvalidURL:
        raise InvalidArguments("base_url is not a URL") from None
    if url.scheme not in ("http", "https") or not url.host:
        raise InvalidArguments("base_url must be an http or https URL, for example http://127.0.0.1:8080/v1")
    if url.userinfo or "?" in base_url or "#" in base_url:
        raise InvalidArguments("base_url must not hold a user, a password, a query or a fragment")
    return str(url).rstrip("/")


def _origin(base_url: str) -> str:
    url = httpx.URL(base_url)
    return f"{url.scheme}://{url.netloc.decode('ascii')}"
