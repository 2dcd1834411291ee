"""When calling ends that goes on in open hours, and only so long within any 24 hours."""

from bisect import insort
from collections.abc import Iterable, Sequence
from sys import maxsize

from callwright.service.platform.clock.clock import DAY
from callwright.service.rules.open_hours import OpenHours, Span

Allowance = tuple[int, int]
"""From a moment on, in milliseconds since the epoch, so many milliseconds of calling."""


class CappedCalling:
    """Calling in the open hours of one place. Whatever calling was made may be made again 24 hours later."""

    def __init__(self, allowances: Sequence[Allowance]) -> None:
        self._free = sorted(allowances)

    def finish_ms(self, begin_ms: int, calling_ms: int, hours: OpenHours) -> int | None:
        """When further calling ends that begins at `begin_ms` and takes `calling_ms`.

        None when that is more than 100 days ahead.
        """
        left_ms = calling_ms
        for start_ms, end_ms in hours.spans(begin_ms):
            at_ms = max(start_ms, begin_ms)
            while left_ms and (part := self._take(at_ms, end_ms, left_ms)) is not None:
                at_ms, left_ms = part[1], left_ms - (part[1] - part[0])
            if not left_ms:
                return at_ms
        return None

    def within_ms(self, spans: Iterable[Span]) -> int:
        """How much calling is possible within these stretches of time, which are in order."""
        found_ms = 0
        for start_ms, end_ms in spans:
            at_ms = start_ms
            while (part := self._take(at_ms, end_ms, maxsize)) is not None:
                at_ms, found_ms = part[1], found_ms + part[1] - part[0]
        return found_ms

    def _take(self, at_ms: int, end_ms: int, most_ms: int) -> Span | None:
        """The next stretch of calling from `at_ms` on and before `end_ms`, at most `most_ms` long; None if none is."""
        if not self._free:
            return None
        free_ms, allowed_ms = self._free[0]
        begin_ms = max(at_ms, free_ms)
        if begin_ms >= end_ms:
            return None
        used_ms = min(allowed_ms, end_ms - begin_ms, most_ms)
        self._free[:1] = [(free_ms, allowed_ms - used_ms)] if used_ms < allowed_ms else []
        self._give_back(begin_ms + DAY, used_ms)
        return begin_ms, begin_ms + used_ms

    def _give_back(self, from_ms: int, calling_ms: int) -> None:
        """Allows the calling again. What follows another stretch without a gap is one with it, so that few are kept."""
        before_ms, allowed_ms = self._free[-1] if self._free else (0, 0)
        if before_ms <= from_ms <= before_ms + allowed_ms:
            self._free[-1] = (before_ms, allowed_ms + calling_ms)
        else:
            insort(self._free, (from_ms, calling_ms))
