"""How long a person is on the line whom this process has called to take a call over: their carrier charges for it."""

from collections.abc import Callable
from dataclasses import replace

from callwright.service.rules.prices.transfer_prices import TransferLeg
from callwright.service.telephony.media.messages import PERSON_TOLD_EVERY_S, PersonOnLine
from callwright.service.telephony.media.sound.sound_clock import SoundClock


class TimeOnLine:
    """The people of one call, one after the other. `report` takes what the host is told."""

    def __init__(self, call_id: str, clock: SoundClock, report: Callable[[PersonOnLine], None]) -> None:
        self._call_id, self._clock, self._report = call_id, clock, report
        self._leg: TransferLeg | None = None
        """As it was told."""
        self._number = 0

    def answered(self, to: str) -> None:
        """A person has answered."""
        now_s = round(self._clock.now_s(), 3)
        self._number += 1
        self._tell(TransferLeg(to, now_s, now_s))

    def tick(self) -> None:
        """Tells of a person who is on the line, every few seconds."""
        if self._leg is not None and self._clock.now_s() - self._leg.ended_s >= PERSON_TOLD_EVERY_S:
            self._tell(self._leg)

    def gone(self) -> None:
        """The person, if there was one, is on no line of this process any more."""
        if self._leg is not None:
            self._tell(self._leg)
            self._leg = None

    def _tell(self, leg: TransferLeg) -> None:
        self._leg = replace(leg, ended_s=round(self._clock.now_s(), 3))
        self._report(PersonOnLine(call_id=self._call_id, number=self._number, leg=self._leg))
