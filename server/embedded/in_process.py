"""A client transport to the service in this process, without HTTP in between."""

from collections.abc import Mapping, MutableMapping
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from callwright.client.transport import Answer, ASGITransport, DirectTransport, httpx

if TYPE_CHECKING:
    from callwright.service.app import Service


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
        from callwright.service.rest.incoming import Incoming

        path, _, query = target.partition("?")
        scope: dict[str, Any] = {
            "type": "http",
            "method": method,
            "path": unquote(path),
            "root_path": "",
            "query_string": query.encode("ascii"),
            "headers": [(name.lower().encode("ascii"), text.encode("latin-1")) for name, text in headers.items()],
            **self._beside,
        }

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": content or b"", "more_body": False}

        found = await self._service.pipeline.answer(Incoming(scope, receive))
        return Answer(found.status, {name.lower(): text for name, text in found.headers.items()}, found.body)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Sends a request through the ASGI application."""
        return await self._over_asgi.handle_async_request(request)

    async def _application(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        await self._service.asgi({**scope, **self._beside}, receive, send)
