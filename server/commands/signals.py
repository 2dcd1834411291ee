"""Signals that end a command which runs until it is told to stop."""

import signal
import sys
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager

import anyio


@contextmanager
def stop_signals() -> Generator[Callable[[], Awaitable[object]]]:
    """Something to await until Ctrl-C or SIGTERM has come; one that came before it is awaited counts too."""
    if sys.platform == "win32":  # asyncio cannot watch signals there; Ctrl-C raises in the loop instead
        yield anyio.sleep_forever
        return
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        yield signals.__anext__
