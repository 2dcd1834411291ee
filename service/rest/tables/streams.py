"""Tables that are sent while they are read, so that the first row leaves at once however long the table is.

Whoever receives slowly is waited for, and nothing is read ahead of them. When they go away the reading stops. A table
that cannot be read to its end is cut off: its last chunk never comes, so that nobody takes it for whole.
"""

import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from callwright.service.handlers.request_context import TableRequest
from callwright.service.platform.database.database import Database
from callwright.service.platform.database.unavailable import StorageUnavailable
from callwright.service.platform.refusals import Refusal
from callwright.service.platform.table_columns import MEDIA_TYPES
from callwright.service.rest.tables.pieces import begun, pieces_of

log = logging.getLogger(__name__)


class TableStream(StreamingResponse):
    """Sends the pieces of a table as they come, and ends the reading when nobody takes them any more."""

    def __init__(self, pieces: AsyncGenerator[bytes], *, headers: Mapping[str, str], media_type: str) -> None:
        super().__init__(pieces, headers=headers, media_type=media_type)
        self.pieces = pieces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with aclosing(self.pieces):
            await super().__call__(scope, receive, send)


async def table_stream(database: Database, wanted: TableRequest, *, is_head: bool) -> Response:
    """The answer that writes a table while it is sent; for HEAD its headers alone.

    Raises:
        StorageUnavailable: its first rows cannot be read.
    """
    headers = {"Content-Disposition": f'attachment; filename="{wanted.file_name}"'} if wanted.file_name else {}
    media_type = MEDIA_TYPES[wanted.form]
    if is_head:
        return Response(b"", headers=headers, media_type=media_type)
    pieces = await begun(pieces_of(database, wanted))
    return TableStream(_told(pieces), headers=headers, media_type=media_type)


async def _told(pieces: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
    """The pieces, with a line in the log where the database goes away meanwhile, or the key is revoked."""
    async with aclosing(pieces):
        try:
            async for piece in pieces:
                yield piece
        except (StorageUnavailable, Refusal) as error:
            log.warning("a table was cut off while it was sent: %s", error)
            raise
