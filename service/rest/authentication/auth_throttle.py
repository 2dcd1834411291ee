"""Limits failed attempts with keys by address, to slow down guessing. Valid keys are never limited by it."""

from collections import OrderedDict

from callwright.service.platform.clock.clock import SECOND
from callwright.service.rules.request_rate import RateLimitState

ALLOWED = 30
"""Unknown keys that one address may send in a minute."""
WINDOW_MS = 60_000
MOST_ADDRESSES = 10_000
"""The most addresses remembered; beyond that the one whose window began first is forgotten."""


class FailedAttempts:
    """Counts failed attempts of each address in windows of a minute. One for each process, in memory."""

    def __init__(self) -> None:
        self._windows: OrderedDict[str, tuple[int, int]] = OrderedDict()

    def note(self, address: str, now_ms: int) -> RateLimitState | None:
        """Counts one more attempt. Returns the state of the limit if it is exceeded, else None."""
        begun_ms, count = self._windows.get(address, (now_ms, 0))
        if not 0 <= now_ms - begun_ms < WINDOW_MS:
            begun_ms, count = now_ms, 0
        if count == 0:
            self._windows.pop(address, None)
            if len(self._windows) >= MOST_ADDRESSES:
                self._windows.popitem(last=False)
        self._windows[address] = (begun_ms, count + 1)
        if count < ALLOWED:
            return None
        end_ms = begun_ms + WINDOW_MS
        return RateLimitState(ALLOWED, 0, end_ms, end_ms, WINDOW_MS // SECOND, refused="second")
