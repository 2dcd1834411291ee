"""The difference between two texts, line by line, as a person reads it."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

LONG_LINE = 160
"""A line of more characters is compared sentence by sentence: prompts are often one paragraph."""
AROUND = 2
"""Equal lines that are shown on each side of a change."""
MOST_COMPARED = 300
"""If more lines than this differ in a text, all of the old ones are shown and then all of the new ones. Otherwise a
comparison could take seconds, since its time grows with the square of the lines and more."""
LEFT_OUT = "…"
_SENTENCE_END = re.compile(r"(?<=[.!?…。！？])\s+(?=\S)")


def differences(before: str, after: str) -> str:
    """The lines of both texts: `- ` before what only the first has, `+ ` before what only the second has.

    Equal lines begin with two spaces; those far from a change are left out, with `…` in their place. Empty for equal
    texts.
    """
    if before == after:
        return ""
    old, new = _lines(before), _lines(after)
    if old == new:  # they differ in line ends or in white space between sentences alone
        old, new = before.split("\n"), after.split("\n")
    first = _equal(old, new)
    last = _equal(old[first:][::-1], new[first:][::-1])
    shown = [f"  {line}" for line in old[:first]]
    shown += _changed(old[first : len(old) - last], new[first : len(new) - last])
    shown += [f"  {line}" for line in old[len(old) - last :]]
    return "\n".join(_near_changes(shown))


def _lines(text: str) -> list[str]:
    found: list[str] = []
    for line in text.splitlines():
        found += _SENTENCE_END.split(line) if len(line) > LONG_LINE else [line]
    return found


def _equal(old: Sequence[str], new: Sequence[str]) -> int:
    """How many lines both begin with."""
    count = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            break
        count += 1
    return count


def _changed(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    if max(len(old), len(new)) > MOST_COMPARED:
        yield from (f"- {line}" for line in old)
        yield from (f"+ {line}" for line in new)
        return
    for kind, begin, end, new_begin, new_end in SequenceMatcher(None, old, new).get_opcodes():
        if kind == "equal":
            yield from (f"  {line}" for line in old[begin:end])
            continue
        yield from (f"- {line}" for line in old[begin:end])
        yield from (f"+ {line}" for line in new[new_begin:new_end])


def _near_changes(lines: Sequence[str]) -> Iterator[str]:
    changes = [place for place, line in enumerate(lines) if not line.startswith("  ")]
    near = {place for change in changes for place in range(change - AROUND, change + AROUND + 1)}
    skipping = False
    for place, line in enumerate(lines):
        if place in near:
            yield line
        elif not skipping:
            yield LEFT_OUT
        skipping = place not in near
