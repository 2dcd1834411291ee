"""Files of the API as pages give them on: sound, and tables to download."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from callwright.contract.declaration.operation import AnyOperation
from callwright.service.dashboard.visitors import Visitor
from callwright.service.rest.answers import Answer

_FOLLOWED = ("range", "if-none-match", "if-range")
"""Headers of a request for a file that its answer depends on."""
_KEPT_BY_NOBODY = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))


class FileAnswer(Response):
    """An answer of the request pipeline as it is. No browser and no proxy keeps it, as they keep no page."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(status_code=answer.status)
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:

        async def send_headed(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *_KEPT_BY_NOBODY]}
            await send(message)

        await self._answer.send(scope, receive, send_headed)


async def file_answer(request: Request, visitor: Visitor, operation: AnyOperation, **fields: Any) -> Response:
    """A file of the API, in the parts that the browser asks for."""
    sent = request.headers
    headers = [(name.encode(), sent[name].encode("latin-1")) for name in _FOLLOWED if name in sent]
    return FileAnswer(await visitor.ask.answer(operation, headers=headers, **fields))
