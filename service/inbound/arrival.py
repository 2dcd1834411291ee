"""Somebody calls a number: who, when, and what the number's routing webhook said."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from callwright.service.inbound.routing.asking import Asked
from callwright.service.inbound.routing.question import Question


@dataclass(frozen=True)
class Arrival:
    """One caller. `from_number` is empty if it is withheld; `at_ms` is by the clock of the deployment."""

    call_id: str
    from_number: str
    at_ms: int
    steering: Mapping[str, str] = field(default_factory=dict[str, str])
    question: Question | None = None
    asked: Asked | None = None
    """What the webhook said; None where it was not asked."""
