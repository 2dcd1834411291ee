"""How long a unit of work on Postgres may take. One that takes longer is cut off, which frees its place.

Otherwise a driver could wait forever for a server that was stopped or a network that loses packets.
"""

import os
import socket
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from math import inf
from typing import Any

from sqlalchemy import Engine, event

LIMIT_S = 14.0
"""The limit in seconds for one unit of work, and for all units of one request together."""
LOOK_EVERY_S = 0.25
"""Seconds between two checks for units in threads that take too long."""
_until: ContextVar[float] = ContextVar("until", default=inf)


@contextmanager
def limited(limit_s: float = LIMIT_S) -> Generator[None]:
    """Units of work that begin in the block end within `limit_s` seconds, all together."""
    token = _until.set(min(_until.get(), time.monotonic() + limit_s))
    try:
        yield
    finally:
        _until.reset(token)


@contextmanager
def uncounted() -> Generator[None]:
    """The time that the block takes is not counted: units of work after it have as long as they had before it."""
    began = time.monotonic()
    try:
        yield
    finally:
        _until.set(_until.get() + time.monotonic() - began)


def deadline(limit_s: float = LIMIT_S) -> float:
    """When a unit of work that begins now has to end, by `time.monotonic`."""
    return min(_until.get(), time.monotonic() + limit_s)


@dataclass(slots=True)
class _Use:
    """A connection, by a second handle on its socket: shutting that down wakes the thread that waits for it."""

    handle: socket.socket
    until: float = inf


class ThreadLimits:
    """Cuts off the units of work in threads that take too long. Any thread may use it."""

    def __init__(self) -> None:
        self.limit_s = LIMIT_S
        self._uses: dict[Any, _Use] = {}

    def watch(self, engine: Engine) -> None:
        """Watches an engine's connections. Call it before the engine makes the first one."""
        event.listen(engine, "connect", self._on_connect)
        event.listen(engine, "checkout", self._on_checkout)
        event.listen(engine, "checkin", self._on_checkin)
        event.listen(engine, "close", self._on_close)

    def shorten(self, limit_s: float) -> None:
        """From now on no unit of work may take longer than this, those under way included."""
        self.limit_s = limit_s
        latest = time.monotonic() + limit_s
        for use in list(self._uses.values()):
            if use.until != inf:
                use.until = min(use.until, latest)

    def cut_off(self) -> None:
        """Breaks the connections of units that take too long."""
        now = time.monotonic()
        for use in list(self._uses.values()):
            if use.until <= now:
                use.until = inf
                with suppress(OSError):  # it is broken already
                    use.handle.shutdown(socket.SHUT_RDWR)

    def _on_connect(self, connection: Any, record: Any) -> None:
        self._uses[record] = _Use(socket.socket(fileno=os.dup(connection.fileno())), deadline(self.limit_s))

    def _on_checkout(self, _: Any, record: Any, __: Any) -> None:
        self._uses[record].until = deadline(self.limit_s)

    def _on_checkin(self, _: Any, record: Any) -> None:
        if (use := self._uses.get(record)) is not None:
            use.until = inf

    def _on_close(self, _: Any, record: Any) -> None:
        if (use := self._uses.pop(record, None)) is not None:
            use.handle.close()
