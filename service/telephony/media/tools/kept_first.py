"""A request that goes out is kept by the host before it is sent.

A booking may be done although its answer never comes. So that nobody looks at a call in vain for what it did, the use
of a tool is in what the host keeps of the call before the address is asked.
"""

from collections.abc import Callable

import anyio

from callwright.service.telephony.engine import Turn
from callwright.service.telephony.media.messages import ToolAsks

KEPT_WITHIN_S = 5.0
"""Seconds in which the host must have kept it; else nothing is sent."""


class KeptFirst:
    """The requests of one call. `report` takes what the host is to keep."""

    def __init__(self, call_id: str, report: Callable[[ToolAsks], None]) -> None:
        self._call_id, self._report = call_id, report
        self._waiting: dict[int, anyio.Event] = {}

    async def kept(self, turn: Turn) -> bool:
        """Whether the host has kept this turn."""
        is_kept = self._waiting[turn.index] = anyio.Event()
        self._report(ToolAsks(call_id=self._call_id, turn=turn))
        try:
            with anyio.move_on_after(KEPT_WITHIN_S):
                await is_kept.wait()
        finally:
            del self._waiting[turn.index]
        return is_kept.is_set()

    def is_kept(self, turn_index: int) -> None:
        """The host has kept the turn with this index. What nobody waits for is dropped."""
        if turn_index in self._waiting:
            self._waiting[turn_index].set()
