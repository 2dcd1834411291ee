"""Files of the API as pages give them on: sound, and tables to download."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from callwright.contract.declaration.operation import AnyOperation
from callwright.service.dashboard.visitors import Visitor
from callwright.service.rest.answers import Answer

_FOLLOWED = ("range", "if-none-match", "if-range")
"""Headers of a request for a file that its answer depends on."""


class FileAnswer(Response):
    """An answer of the request pipeline as it is."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(status_code=answer.status)
        self._answer = answer

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self._answer.send(scope, receive, send)


async def file_answer(request: Request, visitor: Visitor, operation: AnyOperation, **fields: Any) -> Response:
    """A file of the API, in the parts that the browser asks for."""
    sent = request.headers
    headers = [(name.encode(), sent[name].encode("latin-1")) for name in _FOLLOWED if name in sent]
    return FileAnswer(await visitor.ask.answer(operation, headers=headers, **fields))
