"""Writes that wait until the disk has room again: for what has to be done before anything else is."""

from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

import anyio
from sqlalchemy import Connection

from callwright.service.platform.database.database import Database
from callwright.service.platform.database.unavailable import StorageUnavailable

P = ParamSpec("P")
T = TypeVar("T")

ROOM_S = 1.0
"""Between two tries."""


async def write_once_there_is_room(
    database: Database, work: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
) -> T:
    """As `Database.write`, again and again while the storage cannot be written to."""
    while True:
        try:
            return await database.write(work, *args, **kwargs)
        except StorageUnavailable:
            await anyio.sleep(ROOM_S)
