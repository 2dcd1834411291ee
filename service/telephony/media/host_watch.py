"""Whether the host of a media process lives. Its calls end without it, for nobody would know what came of them."""

from callwright.service.telephony.media.messages import HOST_SILENT_S

TICK_S = 1.0
HOST_SILENT = "The call ended because the process that follows it stood still for more than ten seconds."
"""The warning of calls that end so."""


class HostWatch:
    """Counts the seconds in which nothing came from the host, from its first `Alive` on.

    It counts its own ticks and not the time: a process that was frozen with its host has not waited for it.
    """

    def __init__(self) -> None:
        self._silent_s: float | None = None

    def heard(self, *, is_alive: bool) -> None:
        """An order came; `is_alive`: it says that the host lives, and will say so again."""
        if is_alive or self._silent_s is not None:
            self._silent_s = 0.0

    def tick(self) -> bool:
        """A tick is over. True, once, when the host counts as gone."""
        if self._silent_s is None:
            return False
        self._silent_s += TICK_S
        if self._silent_s <= HOST_SILENT_S:
            return False
        self._silent_s = None
        return True
