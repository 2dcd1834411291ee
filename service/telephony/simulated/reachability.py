"""Whether a number can be reached, and the timing until it answers. This module does not know conversations."""

import re
from dataclasses import dataclass, fields

from callwright.service.telephony.simulated.chance import Chance
from callwright.service.telephony.simulated.reserved import LineOutcome

# E.164 (ITU-T): a plus, a country code that does not begin with 0, 15 digits at most. North American numbers are
# ten digits after the country code.
_POSSIBLE = re.compile(r"\+(?:1[0-9]{10}|[2-9][0-9]{6,14})")


def is_possible(number: str) -> bool:
    """Whether the number has the shape of an E.164 number at all."""
    return _POSSIBLE.fullmatch(number) is not None


@dataclass(frozen=True, kw_only=True)
class ReachabilityProfile:
    """How often a first attempt ends each way; the six shares sum to 1. They are assumptions, not forecasts.

    `persistence` is how much depends on the number and not on the attempt: 0 makes attempts independent, 1 makes every
    attempt end like the first. Raises ValueError when a share is out of range or the sum is not 1.
    """

    answered: float = 0.46
    voicemail: float = 0.24
    no_answer: float = 0.18
    busy: float = 0.06
    invalid_number: float = 0.03
    rejected: float = 0.03
    persistence: float = 0.45

    def __post_init__(self) -> None:
        for each in fields(self):
            value: float = getattr(self, each.name)
            if not 0 <= value <= 1:
                raise ValueError(f"{each.name} must lie between 0 and 1, and is {value}")
        total = self.answered + self.voicemail + self.no_answer + self.busy + self.invalid_number + self.rejected
        if abs(total - 1) > 1e-6:
            raise ValueError(f"the shares must sum to 1, and sum to {total:.4f}")

    @property
    def valid_shares(self) -> tuple[tuple[LineOutcome, float], ...]:
        """The shares among numbers that exist."""
        return (
            ("answered", self.answered),
            ("voicemail", self.voicemail),
            ("no_answer", self.no_answer),
            ("busy", self.busy),
            ("rejected", self.rejected),
        )


DEFAULT_PROFILE = ReachabilityProfile()


def line_outcome_of(profile: ReachabilityProfile, *, person: Chance, moment: Chance) -> LineOutcome:
    """How the line reacts. `person` is the same on every attempt to a number, `moment` is not.

    Whatever the persistence, each attempt taken alone follows the profile.
    """
    if person.happens(profile.invalid_number):
        return "invalid_number"
    shares = profile.valid_shares
    habit = person.weighted(shares)
    today = moment.weighted(shares)
    # Two attempts agree by habit when both follow it, hence the root.
    return habit if moment.happens(profile.persistence**0.5) else today


@dataclass(frozen=True, slots=True)
class RingTiming:
    """The timing of a call up to the answer, in seconds after dialling began. `None` for what did not happen."""

    line_outcome: LineOutcome
    initiated_s: float
    ringing_s: float | None
    answered_s: float | None
    ended_s: float
    """When an unanswered call ended; for an answered call, when it was answered."""


def ring_timing(
    line_outcome: LineOutcome, moment: Chance, *, timeout_s: float, must_answer: bool = False
) -> RingTiming:
    """The timing of an outcome. Ringing longer than `timeout_s` becomes `no_answer`, unless the call `must_answer`."""
    initiated = round(moment.between(0.15, 0.5), 3)
    delay = moment.between(1.4, 3.6)
    patience = moment.log_normal(8.5, 0.5)
    timeout_s = max(timeout_s, 0.001)
    if line_outcome == "invalid_number":
        return RingTiming(line_outcome, initiated, None, None, round(initiated + 0.25 * delay, 3))
    if line_outcome == "busy":
        return RingTiming(line_outcome, initiated, None, None, round(initiated + delay, 3))
    if line_outcome == "unreachable":
        return RingTiming(line_outcome, initiated, None, None, round(initiated + 2 * delay, 3))
    ringing = round(initiated + delay, 3)
    if line_outcome == "no_answer":
        return RingTiming(line_outcome, initiated, ringing, None, round(ringing + timeout_s, 3))
    if line_outcome == "rejected":
        rings_for = min(0.5 * patience, timeout_s)
        return RingTiming(line_outcome, initiated, ringing, None, round(ringing + rings_for, 3))
    # A machine picks up after about 20 s, a person mostly within 15 s and never after 27 s.
    rings_for = 18.0 + delay if line_outcome == "voicemail" else min(max(patience, 1.8), 27.0)
    if rings_for > timeout_s:
        if not must_answer:
            return RingTiming("no_answer", initiated, ringing, None, round(ringing + timeout_s, 3))
        rings_for = timeout_s
    answered = round(ringing + rings_for, 3)
    return RingTiming(line_outcome, initiated, ringing, answered, answered)
