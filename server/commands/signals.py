"""Signals that stop a long-running command."""

import signal
import sys
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager

import anyio


@contextmanager
def stop_signals() -> Generator[Callable[[], Awaitable[object]]]:
    """Yields a function to await until Ctrl-C or SIGTERM; a signal that came earlier counts too."""
    if sys.platform == "win32":  # asyncio cannot watch signals there; Ctrl-C raises in the loop instead
        yield anyio.sleep_forever
        return
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        yield signals.__anext__
