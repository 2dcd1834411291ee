"""The event loop's clock, moved by hand, so that what waits for a time finds that it has come."""

import asyncio
from collections.abc import Callable

import pytest


def moved_by_hand(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Puts the clock of the running loop forward by so many seconds, each time it is called."""
    loop = asyncio.get_running_loop()
    ahead_s, time = 0.0, loop.time
    monkeypatch.setattr(loop, "time", lambda: time() + ahead_s)

    def move(by_s: float) -> None:
        nonlocal ahead_s
        ahead_s += by_s

    return move
