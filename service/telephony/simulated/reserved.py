"""Numbers that always behave the same way. They are valid and belong to nobody: 555-01XX is reserved for fiction."""

from dataclasses import dataclass
from typing import Final, Literal

from callwright.service.telephony.simulated.steering import Intent

RESERVED_PREFIX: Final = "+120255501"

LineOutcome = Literal["answered", "voicemail", "no_answer", "busy", "invalid_number", "rejected", "unreachable"]
"""How the line reacts, before anybody has spoken."""


@dataclass(frozen=True)
class ReservedNumber:
    """What a reserved number forces."""

    line_outcome: LineOutcome
    intent: Intent | None = None
    hangs_up_early: bool = False
    asks_about_robot: bool = False


_RESERVED: dict[str, ReservedNumber] = {
    "00": ReservedNumber("answered", "yes"),
    "01": ReservedNumber("busy"),
    "02": ReservedNumber("no_answer"),
    "03": ReservedNumber("voicemail"),
    "04": ReservedNumber("answered", "opt_out"),
    "05": ReservedNumber("answered", "wrong_number"),
    "06": ReservedNumber("answered", "no"),
    "07": ReservedNumber("answered", "wants_human"),
    "08": ReservedNumber("answered", "yes", hangs_up_early=True),
    "09": ReservedNumber("unreachable"),
    "10": ReservedNumber("rejected"),
    "11": ReservedNumber("answered", "yes", asks_about_robot=True),
    "12": ReservedNumber("answered", "other_language"),
}


def reserved(number: str) -> ReservedNumber | None:
    """What the E.164 number forces, or `None` for an ordinary one."""
    if len(number) == 12 and number.startswith(RESERVED_PREFIX):
        return _RESERVED.get(number[10:])
    return None
