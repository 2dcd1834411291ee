"""Waking the loops that wait for work."""

from math import inf

import anyio

PAUSE_S = 0.02
"""The minimum seconds between two checks for work in a loop. Every API write rings, and a check takes longer."""


class Alarm:
    """Wakes one waiting loop; ringing while nobody waits is remembered."""

    def __init__(self) -> None:
        self._event = anyio.Event()
        self._free_at = -inf

    def ring(self) -> None:
        """Wakes the loop now or at its next wait."""
        self._event.set()

    async def wait(self, most_s: float) -> None:
        """Returns when it rings or after `most_s`, but at most once in `PAUSE_S`, however often it rings."""
        with anyio.move_on_after(most_s):
            await self._event.wait()
        early_s = self._free_at - anyio.current_time()
        if early_s > 0:
            await anyio.sleep(early_s)
        self._free_at = anyio.current_time() + PAUSE_S
        if self._event.is_set():
            self._event = anyio.Event()


class Bell:
    """Rings the alarms that it made. Other processes do not hear it: they poll."""

    def __init__(self) -> None:
        self._alarms: list[Alarm] = []
        self._for_events: list[Alarm] = []

    def alarm(self, *, for_events: bool = False) -> Alarm:
        """An alarm for one waiting loop. With `for_events` it also rings after events were written."""
        alarm = Alarm()
        self._alarms.append(alarm)
        if for_events:
            self._for_events.append(alarm)
        return alarm

    def ring(self) -> None:
        """Rings all alarms: any kind of work may be due."""
        for alarm in self._alarms:
            alarm.ring()

    def ring_for_events(self) -> None:
        """Rings the alarms that wait for events. Call it after the transaction that wrote events is committed."""
        for alarm in self._for_events:
            alarm.ring()
