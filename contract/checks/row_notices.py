"""What is said of rows of a file that are taken otherwise than they are written, in words that can be read back."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from callwright.contract.checks.counts import count_of

LINES_SAID = 10
_SAID = re.compile(
    r"(?P<count>\d+) rows?: (?P<what>.*); line (?P<lines>\d[\d,]*(?:, \d[\d,]*)*)(?: and \d+ more)?", re.DOTALL
)
_LINE = re.compile(r"\d+(?:,\d{3})*")


@dataclass(frozen=True)
class RowNotice:
    """What happened to `count` rows, and the lines in which the first ones begin."""

    what: str
    count: int
    lines: Sequence[int]

    def __str__(self) -> str:
        named = ", ".join(f"{line:,}" for line in self.lines[:LINES_SAID])
        more = self.count - min(len(self.lines), LINES_SAID)
        return f"{count_of(self.count, 'row')}: {self.what}; line {named}" + (f" and {more} more" if more > 0 else "")


def read_notice(text: str) -> RowNotice | None:
    """The notice that `str` wrote as this text; None for any other text."""
    found = _SAID.fullmatch(text)
    if found is None:
        return None
    lines = [int(line.replace(",", "")) for line in _LINE.findall(found["lines"])]
    return RowNotice(found["what"], int(found["count"]), lines)
