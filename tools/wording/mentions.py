"""Removes sentences from texts that name a switched-off tool.

A model that reads of a tool it does not have tries to call it. So texts are written as short sentences, each naming the
tools it needs, and a sentence that names an absent one is left out.
"""

import re
from collections.abc import Callable, Iterable
from functools import cache

from callwright.tools.toolsets import known_tools

Offers = Callable[[str], bool]
"""Whether a tool is switched on."""

_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_CLAUSE = re.compile(r";\s+")


def everything(_: str) -> bool:
    """Every tool is switched on."""
    return True


def named_in(text: str) -> frozenset[str]:
    """The tools that a text names."""
    return frozenset(_pattern().findall(text))


def offered_words(text: str, offers: Offers) -> str:
    """The text without sentences, clauses after semicolons, and asides that name a switched-off tool.

    An aside is a tool in brackets, or `, from` and a tool, as at the end of descriptions of ids. Its sentence stays.
    """
    absent = {name for name in named_in(text) if not offers(name)}
    if not absent:
        return text
    return " ".join(
        kept for sentence in _SENTENCE.split(_without_asides(text, absent)) if (kept := _kept(sentence, absent))
    )


def _without_asides(text: str, absent: Iterable[str]) -> str:
    one = rf"(?:{'|'.join(sorted(absent))})\b"
    return re.sub(rf" \({one}\)|, from {one}", "", text)


def _kept(sentence: str, absent: Iterable[str]) -> str:
    clauses = _CLAUSE.split(sentence)
    left = [clause for clause in clauses if not named_in(clause) & set(absent)]
    if not left:
        return ""
    if left == clauses:
        return sentence
    joined = "; ".join(left)
    joined = joined[:1].upper() + joined[1:]
    return joined if joined.endswith((".", "!", "?")) else f"{joined}."


@cache
def _pattern() -> re.Pattern[str]:
    names = sorted((tool.name for tool in known_tools()), key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(names)})\b")
