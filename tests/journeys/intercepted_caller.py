"""A way to the service on which something happens at a chosen moment: when the request of an operation comes by."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

from callwright.client.compat.lenient_response import LenientResponse
from callwright.client.compat.upload_address import UploadState
from callwright.contract.declaration.operation import Operation
from callwright.tools.runtime.tool_context import Caller, Media, StreamedMedia
from tests.journeys.hosts import nothing

Change = Callable[[], Awaitable[Any]]


@dataclass
class InterceptedCaller:
    """The way to the service, on which something happens when the first request of an operation comes by."""

    way: Caller
    operation: str = ""
    happens: Change = nothing

    def before(self, operation: str, happens: Change) -> None:
        """Says what happens before which operation."""
        self.operation, self.happens = operation, happens

    async def _passed(self, operation: str) -> None:
        if operation == self.operation:
            self.operation = ""
            await self.happens()

    async def ask(
        self, operation: Operation[Any, Any, Any], asked: Any, /, *, idempotency_key: str | None = None
    ) -> Any:
        await self._passed(operation.name)
        return await self.way.ask(operation, asked, idempotency_key=idempotency_key)

    async def ask_lenient(
        self,
        operation: Operation[Any, Any, Any],
        asked: Any,
        /,
        *,
        idempotency_key: str | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> LenientResponse[Any]:
        await self._passed(operation.name)
        return await self.way.ask_lenient(operation, asked, idempotency_key=idempotency_key, extra=extra)

    def open(self, operation: Operation[Any, Any, Any], asked: Any, /) -> AbstractAsyncContextManager[StreamedMedia]:
        return self.way.open(operation, asked)

    def open_address(self, url: str, /, *, accepts: Callable[[str], bool]) -> AbstractAsyncContextManager[Media]:
        return self.way.open_address(url, accepts=accepts)

    async def send_part(self, url: str, content: bytes, /, *, begin: int, total: int) -> UploadState:
        return await self.way.send_part(url, content, begin=begin, total=total)
