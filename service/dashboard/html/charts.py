"""Charts of calls: what their bars show, and what they find, in a sentence. `charts.html` draws each, with a table."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from callwright.contract.checks.counts import count_of

ENOUGH_CALLS = 5
"""A bar with fewer calls is not named as the best one: its share may be chance."""


@dataclass
class Bar:
    """Calls that are alike."""

    label: str
    calls: int = 0
    answered: int = 0
    goal_met: int = 0

    @property
    def share(self) -> str:
        """Of its calls, how many were answered."""
        return f"{self.answered / self.calls:.0%}" if self.calls else "–"


@dataclass(frozen=True)
class Chart:
    """Bars beside each other, or below each other with their words (`is_list`)."""

    title: str
    of: str
    """What the first column of the table is."""
    bars: Sequence[Bar]
    finding: str
    marks: Sequence[str] = ()
    """What stands below the bars, from the first to the last."""
    is_list: bool = False
    toned: bool = False
    """Whether the labels are states, which have colours."""

    @property
    def most(self) -> int:
        """The calls of the highest bar."""
        return max((bar.calls for bar in self.bars), default=0)


def tallied(groups: Iterable[Mapping[str, Any]], label_of: Callable[[Mapping[str, Any]], str | None]) -> dict[str, Bar]:
    """Groups of statistics as bars by their label; groups without one are left out."""
    found: dict[str, Bar] = {}
    for group in groups:
        label = label_of(group)
        if label is not None:
            bar = found.setdefault(label, Bar(label))
            bar.calls += group["calls"]
            bar.answered += group["answered"]
            bar.goal_met += group["goal_met"] or 0
    return found


def best_answered(bars: Sequence[Bar], *, named: Callable[[str], str] = str) -> str:
    """Where most calls were answered, of the bars with enough calls."""
    enough = [bar for bar in bars if bar.calls >= ENOUGH_CALLS]
    if not enough:
        return f"Too few calls to compare: fewer than {ENOUGH_CALLS} in each."
    best = max(enough, key=lambda bar: (bar.answered / bar.calls, bar.calls))
    worst = min(enough, key=lambda bar: (bar.answered / bar.calls, -bar.calls))
    if best.answered == 0:
        return "No call was answered."
    if len(enough) == 1:
        return f"Answered {named(best.label)}: {best.share} of {count_of(best.calls, 'call')}."
    if best.answered * worst.calls == worst.answered * best.calls:
        return f"Answered equally often: {best.share}."
    return (
        f"Answered most often {named(best.label)}: {best.share} of {count_of(best.calls, 'call')}; "
        f"least often {named(worst.label)}: {worst.share} of {worst.calls:,}."
    )


def most_frequent(bars: Sequence[Bar], total: int) -> str:
    """Which bar has most calls."""
    top = max(bars, key=lambda bar: bar.calls)
    return f"Most often {top.label.replace('_', ' ')}: {top.calls:,} of {count_of(total, 'call')}."
