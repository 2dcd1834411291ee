"""Whether the other side of a call sends sound, and what it means if it does not."""

from callwright.service.telephony.media.findings import End
from callwright.service.telephony.media.messages import BeginCall


class SoundWatch:
    """Watches one call. Times are seconds of one monotonic clock."""

    def __init__(self, begin: BeginCall, now: float) -> None:
        self._hears = begin.services.hearing is not None
        self._rings_telephone = begin.transport != "websocket"
        self._most_s = begin.limits.no_audio_s
        self._last_at = now
        self._had_sound = False
        self.had_message = False
        """Whether something came that is no sound: who types or presses keys need not have a microphone."""

    def sound(self, now: float) -> None:
        """Sound came."""
        self._had_sound, self._last_at = True, now

    def message(self) -> None:
        """Something came that is no sound."""
        self.had_message = True

    def begins(self, now: float) -> None:
        """Sound is waited for from now on."""
        self._last_at = now

    def end(self, now: float) -> End | None:
        """How a call without sound ends now; None if it goes on."""
        # A telephone always sends some at first, also where nothing hears it.
        waits = self._hears or (self._rings_telephone and not self._had_sound)
        if not waits or now - self._last_at <= self._most_s or (self.had_message and not self._had_sound):
            return None
        return End("network_error", "carrier") if self._had_sound else End("no_audio", "platform")
