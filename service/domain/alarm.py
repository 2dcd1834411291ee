"""Waking the loops that wait for work."""

import anyio


class Alarm:
    """Wakes one waiting loop; ringing while nobody waits is remembered."""

    def __init__(self) -> None:
        self._event = anyio.Event()

    def ring(self) -> None:
        """Wakes the loop now or at its next wait."""
        self._event.set()

    async def wait(self, most_s: float) -> None:
        """Returns when it rings, or after the time."""
        with anyio.move_on_after(most_s):
            await self._event.wait()
        if self._event.is_set():
            self._event = anyio.Event()


class Bell:
    """Rings every alarm that was made of it."""

    def __init__(self) -> None:
        self._alarms: list[Alarm] = []

    def alarm(self) -> Alarm:
        """An alarm for one waiting loop."""
        self._alarms.append(Alarm())
        return self._alarms[-1]

    def ring(self) -> None:
        """Rings them all."""
        for alarm in self._alarms:
            alarm.ring()
