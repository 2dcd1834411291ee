"""Endpoints that are opened with the first request: most processes that start never send an event."""

from collections.abc import Mapping
from types import TracebackType
from typing import Self

import anyio

from callwright.service.webhooks.transport.attempts import Posted
from callwright.service.webhooks.transport.endpoints import Endpoints


class OnDemandEndpoints:
    """Endpoints that are opened with the first request and closed at the end of the block."""

    def __init__(self, endpoints: Endpoints) -> None:
        self._endpoints = endpoints
        self._opened: Endpoints | None = None
        self._opening = anyio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes the endpoints, if they were opened."""
        if self._opened is not None:
            await self._opened.__aexit__(kind, error, trace)

    async def post(
        self, url: str, body: bytes, headers: Mapping[str, str], *, subscription: str | None = None
    ) -> Posted:
        """Sends a body once; see `Endpoints.post`."""
        if self._opened is None:
            async with self._opening:
                if self._opened is None:
                    self._opened = await self._endpoints.__aenter__()
        return await self._opened.post(url, body, headers, subscription=subscription)
