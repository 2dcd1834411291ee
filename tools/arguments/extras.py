"""Arguments that only this service takes: its OpenAPI document names them, and the contract does not.

They are checked against their type in the document and passed on unchanged.
"""

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, ParamSpec, TypeVar, cast

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import JsonValue

from callwright.client.compat.lenient_response import LenientResponse
from callwright.client.compat.upload_address import UploadState
from callwright.client.errors import DoesNotFit
from callwright.contract.declaration.model import Input
from callwright.contract.declaration.operation import AnyOperation, MediaStream, Operation
from callwright.tools.runtime.tool_context import Caller, Media, StreamedMedia
from callwright.tools.wording.cleaning import cleaned, with_texts

P = ParamSpec("P")
In = TypeVar("In", bound=Input)
Out = TypeVar("Out")
Json = dict[str, Any]
Extras = Mapping[str, Mapping[str, Json]]
"""JSON Schemas of extra arguments, by tool and name."""

_NAMES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


class ExtraCaller:
    """A caller that adds extra fields to each request of one operation."""

    def __init__(self, caller: Caller, operation: AnyOperation, extra: Mapping[str, JsonValue]) -> None:
        self._caller, self._operation, self._extra = caller, operation, extra

    async def ask(self, operation: Operation[P, In, Out], asked: In, /, *, idempotency_key: str | None = None) -> Out:
        """The answer of the service. Raises the errors of `callwright.client.errors`."""
        if operation.name != self._operation.name:
            return await self._caller.ask(operation, asked, idempotency_key=idempotency_key)
        found = await self.ask_lenient(operation, asked, idempotency_key=idempotency_key)
        if found.answer is None and operation.shape != "nothing":
            message = f"the answer to {operation.name} does not fit"
            raise DoesNotFit(message, operation=operation.name, data=found.data, status=None, request_id=None)
        return cast("Out", found.answer)

    async def ask_lenient(
        self,
        operation: Operation[P, In, Out],
        asked: In,
        /,
        *,
        idempotency_key: str | None = None,
        extra: Mapping[str, JsonValue] | None = None,
    ) -> LenientResponse[Out]:
        """The answer as it comes, whether the contract's model fits or not."""
        sent = {**(extra or {}), **self._extra} if operation.name == self._operation.name else extra
        return await self._caller.ask_lenient(operation, asked, idempotency_key=idempotency_key, extra=sent)

    def open(
        self, operation: Operation[P, In, MediaStream], asked: In, /
    ) -> AbstractAsyncContextManager[StreamedMedia]:
        """An answer in bytes, open inside `async with`."""
        return self._caller.open(operation, asked)

    def open_address(self, url: str, /, *, accepts: Callable[[str], bool]) -> AbstractAsyncContextManager[Media]:
        """Opens an address from an answer, if its media type is accepted."""
        return self._caller.open_address(url, accepts=accepts)

    async def send_part(self, url: str, content: bytes, /, *, begin: int, total: int) -> UploadState:
        """Sends bytes of a file to the `upload_url` of an import."""
        return await self._caller.send_part(url, content, begin=begin, total=total)


def with_extra(caller: Caller, operation: AnyOperation, extra: Mapping[str, JsonValue]) -> Caller:
    """The caller, adding these fields to the operation's requests."""
    return ExtraCaller(caller, operation, extra) if extra else caller


def separated(arguments: Mapping[str, Any], schemas: Mapping[str, Json]) -> tuple[Json, Json]:
    """Splits the arguments into those of the contract and those that only the service takes.

    Raises:
        ToolError: one of the latter is of another type than the service's document says.
    """
    own: Json = dict(arguments)
    further: Json = {}
    for name in [name for name in schemas if name in own]:
        value = own.pop(name)
        types = _types(schemas[name])
        value = _unwrapped(value, types)
        if types and not any(_is(value, kind) for kind in types):
            raise ToolError(f"Invalid arguments: {name}: should be of type {' or '.join(types)}")
        further[name] = value
    return own, further


def described(schema: Json) -> Json:
    """An extra argument as a model sees it: its texts cleaned, at every depth."""
    return cast("Json", with_texts(schema, cleaned))


def _types(schema: Json) -> list[str]:
    kind = schema.get("type")
    kinds: list[Any] = cast("list[Any]", kind) if isinstance(kind, list) else [kind]
    return [entry for entry in kinds if entry in _NAMES]


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if isinstance(value, float) and kind == "integer":
        return value.is_integer()
    return isinstance(value, _NAMES[kind])


def _unwrapped(value: Any, types: list[str]) -> Any:
    """Some hosts send an object or a list as JSON text."""
    if not isinstance(value, str) or value[:1] not in ("{", "[") or "string" in types or not types:
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value
