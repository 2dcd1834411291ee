"""The person to whom a simulated call is transferred: answers, is busy, does not pick up, or hangs up again."""

from collections.abc import Callable, Sequence
from typing import Literal, Protocol, get_args

from callwright.contract.agents.call_tools import TRANSFER
from callwright.contract.transfers import TransferCause
from callwright.service.platform.json_text import json_text
from callwright.service.rules.prices.transfer_prices import TransferLeg
from callwright.service.telephony.engine import ToolCall
from callwright.service.telephony.simulated.chance import Chance
from callwright.service.telephony.transfers import CallTransfer, Destination, result_of

PersonsAnswer = Literal["answered", "busy", "no_answer", "rejected", "unreachable", "hung_up"]
ANSWERS: tuple[PersonsAnswer, ...] = get_args(PersonsAnswer)
_CAUSES: dict[PersonsAnswer, TransferCause] = {
    "busy": "busy",
    "no_answer": "no_answer",
    "rejected": "rejected",
    "unreachable": "unreachable",
    "hung_up": "hung_up",
}
_SHARES: Sequence[tuple[PersonsAnswer, float]] = [
    ("answered", 0.7),
    ("no_answer", 0.14),
    ("busy", 0.08),
    ("rejected", 0.04),
    ("hung_up", 0.03),
    ("unreachable", 0.01),
]
HOLD_S = 8.0
"""Seconds after which somebody who holds hears a word again."""


class Holding(Protocol):
    """The call of the contact who holds."""

    now_s: float
    cut: bool

    def wait(self, seconds: float) -> None:
        """Lets time pass."""
        ...


class Person:
    """Somebody who takes calls over. `answer` is what they do; None: chance decides at each call."""

    def __init__(self, chance: Chance, answer: PersonsAnswer | None) -> None:
        self._chance = chance
        self._answer: PersonsAnswer | None = answer
        self.legs: list[TransferLeg] = []
        """Their calls, as far as they answered and nobody else pays for them."""

    def called(
        self, destination: Destination, line: Holding, from_number: str, ask_to_hold: Callable[[], None] | None
    ) -> CallTransfer:
        """What comes of a transfer that begins now. In a warm one the contact holds meanwhile, and hears a word now and
        then from `ask_to_hold`."""
        started_s = line.now_s
        if not destination.may_be_called(from_number):
            return _transfer(destination, "not_allowed", started_s, started_s)
        answer = self._answer or self._chance.weighted(_SHARES)
        self._wait(self._rings_s(answer, destination.ring_timeout_s), line, ask_to_hold)
        if answer in ("answered", "hung_up") and destination.kind == "warm":
            answered_s = line.now_s
            self._wait(self._chance.between(4.0, 9.0), line, ask_to_hold)  # the person hears what it is about
            if destination.to is not None:
                self.legs.append(TransferLeg(destination.to, round(answered_s, 3), round(line.now_s, 3)))
        cause: TransferCause | None = None
        if line.cut:
            cause = "hung_up"
        elif answer != "answered":
            cause = _CAUSES[answer]
        return _transfer(destination, cause, started_s, line.now_s)

    def _rings_s(self, answer: PersonsAnswer, timeout_s: float) -> float:
        if answer == "no_answer":
            return timeout_s
        longest = 3.0 if answer in ("busy", "unreachable") else 14.0
        return min(self._chance.between(1.5, longest), timeout_s)

    def _wait(self, seconds: float, line: Holding, ask_to_hold: Callable[[], None] | None) -> None:
        until_s = line.now_s + seconds
        while ask_to_hold is not None and until_s - line.now_s > HOLD_S and not line.cut:
            line.wait(HOLD_S)
            ask_to_hold()
        line.wait(max(until_s - line.now_s, 0.0))


def _transfer(destination: Destination, cause: TransferCause | None, started_s: float, at_s: float) -> CallTransfer:
    return CallTransfer(
        kind=destination.kind,
        to=destination.to,
        name=destination.name,
        status="failed" if cause else "bridged",
        cause=cause,
        started_s=started_s,
        at_s=at_s,
    )


def rehearsed_transfer(transfer: CallTransfer) -> ToolCall:
    """The call of the tool by which an agent transfers, as the transcript has it."""
    return ToolCall(
        name=TRANSFER,
        arguments=json_text({"destination": transfer.name}),
        result=result_of(transfer.cause),
        ok=transfer.is_bridged,
        latency_ms=round((transfer.at_s - transfer.started_s) * 1_000),
    )
