"""Asks the oracle and the gate the same questions, and says where they disagree."""

import os
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field

from tests.oracle.adapter import gate_answer
from tests.oracle.law import Answer, Question, may_call
from tests.oracle.questions import question

Asked = Callable[[Question], Answer]
PART = 500
"""Questions that one process takes at a time."""


@dataclass(frozen=True)
class Figures:
    """What a comparison found."""

    questions: int = 0
    allowed: int = 0
    rules: Counter[str] = field(default_factory=Counter[str])
    """How often each rule was the oracle's reason."""
    disagreements: tuple[str, ...] = ()
    """A line each."""

    def __add__(self, other: "Figures") -> "Figures":
        return Figures(
            self.questions + other.questions,
            self.allowed + other.allowed,
            self.rules + other.rules,
            self.disagreements + other.disagreements,
        )


def compared(*, seed: int, first: int, count: int, asked: Asked = gate_answer) -> Figures:
    """The figures of the questions from `first` on."""
    allowed, rules, lines = 0, Counter[str](), list[str]()
    for index in range(first, first + count):
        drawn = question(seed, index)
        law, gate = may_call(drawn), asked(drawn)
        allowed += law.allowed
        rules[law.rule.partition(" in ")[0].partition(",")[0] or "allowed"] += 1
        if law.allowed != gate.allowed:
            lines.append(_line(index, drawn, law, gate))
    return Figures(count, allowed, rules, tuple(lines))


def compared_on_all_cores(*, seed: int, count: int, heard: Callable[[Figures], None]) -> Figures:
    """The figures of many questions, by as many processes as there are cores; each part is heard when it is done."""
    figures = Figures()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        parts = [
            pool.submit(compared, seed=seed, first=first, count=min(PART, count - first))
            for first in range(0, count, PART)
        ]
        for part in parts:
            found = part.result()
            heard(found)
            figures += found
    return figures


def _line(index: int, drawn: Question, law: Answer, gate: Answer) -> str:
    earlier = " ".join(f"{at.isoformat()}={outcome}" for at, outcome in drawn.earlier)
    return (
        f"question {index}: {drawn.number} at {drawn.at.isoformat()} for {drawn.purpose}, state {drawn.state}, "
        f"zone {drawn.timezone}, consent {drawn.consent}, hours {drawn.calling_hours}, earlier [{earlier}]: "
        f"the oracle {_said(law)}, the gate {_said(gate)}"
    )


def _said(answer: Answer) -> str:
    return "allows it" if answer.allowed else f"forbids it ({answer.rule})"
