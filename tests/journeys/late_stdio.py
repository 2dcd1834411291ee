"""`callwright mcp` in a time of its own: ten minutes and a second pass between a question and its answer."""

import sys
import time

import anyio

from callwright.server.commands.mcp import run

LATE_S = 601.0


class LateClock:
    """Each look at it comes ten minutes and a second after the one before; who waits so long has waited already."""

    def __init__(self) -> None:
        self._now = 1_795_262_400.0

    def monotonic(self) -> float:
        """Seconds that only grow."""
        return time.monotonic()

    def time(self) -> float:
        """Seconds since the epoch."""
        self._now += LATE_S
        return self._now

    async def sleep(self, seconds: float, /) -> None:
        """Waits, but not for what has passed already."""
        await anyio.sleep(0 if seconds <= LATE_S else seconds)


if __name__ == "__main__":
    raise SystemExit(run(sys.argv[1:], clock=LateClock()))
