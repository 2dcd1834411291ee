"""A client transport to the service in this process, without HTTP in between."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from callwright.client.transport import Answer, ASGITransport, AsyncByteStream, DirectTransport, httpx

if TYPE_CHECKING:
    from callwright.service.app import Service
    from callwright.service.rest.answers import Answer as PipelineAnswer


class InProcessTransport(DirectTransport):
    """Passes requests to a service in this process.

    `personal` is a personal key, which the service accepts only from this transport: REST refuses such keys.
    """

    def __init__(self, service: "Service", *, personal: str | None = None) -> None:
        from callwright.service.accounts.principals import IN_PROCESS_KEY, InProcessKey

        self._service = service
        self._beside: dict[str, Any] = {} if personal is None else {IN_PROCESS_KEY: InProcessKey(personal)}
        self._over_asgi = ASGITransport(app=self._application)

    async def answered(self, method: str, target: str, headers: Mapping[str, str], content: bytes | None) -> Answer:
        """The service's answer. Not for recordings, which are streamed."""
        path, _, query = target.partition("?")
        raw = [(name.lower().encode("ascii"), text.encode("latin-1")) for name, text in headers.items()]
        found = await self._answered(method, unquote(path), query.encode("ascii"), raw, content or b"")
        return Answer(found.status, {name.lower(): text for name, text in found.headers.items()}, found.body)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Sends a request through the ASGI application. What is made while it is sent is read as it comes."""
        if request.method == "GET" and (streamed := await self._streamed(request)) is not None:
            return streamed
        return await self._over_asgi.handle_async_request(request)

    async def _streamed(self, request: httpx.Request) -> httpx.Response | None:
        """The answer of an operation that streams; None for others. An ASGI transport keeps a whole answer first."""
        from callwright.service.rest.routes import PREFIX
        from callwright.service.rest.tables.streams import TableStream

        path = request.url.path.removeprefix(PREFIX)
        if path == request.url.path or not self._service.pipeline.streams(path):
            return None
        raw = [(name.lower(), value) for name, value in request.headers.raw]
        found = await self._answered(request.method, path, request.url.query, raw, b"")
        if not isinstance(found.file, TableStream):
            return httpx.Response(found.status, headers=dict(found.headers), content=found.body)
        headers = {**found.file.headers, **found.headers}
        return httpx.Response(found.status, headers=headers, stream=_Pieces(found.file.pieces))

    async def _answered(
        self, method: str, path: str, query: bytes, headers: list[tuple[bytes, bytes]], content: bytes
    ) -> "PipelineAnswer":
        from callwright.service.rest.incoming import Incoming

        scope: dict[str, Any] = {
            "type": "http",
            "method": method,
            "path": path,
            "root_path": "",
            "query_string": query,
            "headers": headers,
            **self._beside,
        }

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": content, "more_body": False}

        return await self._service.pipeline.answer(Incoming(scope, receive))

    async def _application(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        await self._service.asgi({**scope, **self._beside}, receive, send)


class _Pieces(AsyncByteStream):
    """The body of an answer, made while it is read."""

    def __init__(self, pieces: AsyncGenerator[bytes]) -> None:
        self._pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._pieces:
            yield piece

    async def aclose(self) -> None:
        await self._pieces.aclose()
