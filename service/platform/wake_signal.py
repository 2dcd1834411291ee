"""Waking the loops that wait for work."""

from math import inf

import anyio

PAUSE_S = 0.02
"""The minimum seconds between two checks for work in a loop. Every API write notifies, and a check takes longer."""


class WakeSignal:
    """Wakes one waiting loop; a notification while nobody waits is remembered."""

    def __init__(self) -> None:
        self._event = anyio.Event()
        self._free_at = -inf

    def notify(self) -> None:
        """Wakes the loop now or at its next wait."""
        self._event.set()

    async def wait(self, most_s: float) -> None:
        """Returns when notified or after `most_s`, but at most once in `PAUSE_S`, however often it is notified."""
        with anyio.move_on_after(most_s):
            await self._event.wait()
        early_s = self._free_at - anyio.current_time()
        if early_s > 0:
            await anyio.sleep(early_s)
        self._free_at = anyio.current_time() + PAUSE_S
        if self._event.is_set():
            self._event = anyio.Event()


class WakeNotifier:
    """Notifies the loops of this process. Other processes are not notified: they poll."""

    def __init__(self) -> None:
        self._signals: list[WakeSignal] = []
        self._for_events: list[WakeSignal] = []

    def signal(self, *, for_events: bool = False) -> WakeSignal:
        """A signal for one waiting loop. With `for_events` it is also notified after events were written."""
        signal = WakeSignal()
        self._signals.append(signal)
        if for_events:
            self._for_events.append(signal)
        return signal

    def notify(self) -> None:
        """Notifies all loops: any kind of work may be due."""
        for signal in self._signals:
            signal.notify()

    def notify_of_events(self) -> None:
        """Notifies the loops that wait for events. Call it after the transaction that wrote events is committed."""
        for signal in self._for_events:
            signal.notify()
