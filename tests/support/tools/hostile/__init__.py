"""What people may say or write to take over an assistant, as data, and what must hold of any answer that carries it."""

import json
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

_FILE = Path(__file__).with_name("cases.json")
_MARK = re.compile(r"<(/?)untrusted-([^<>\s]*)>")
_JOINERS = "\u200c\u200d"
_MONGOLIAN = "\u180b\u180c\u180d\u180e\u180f"
_DRAWN = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
"""Format characters with a shape of their own."""


@dataclass(frozen=True)
class Case:
    """Words from outside. `kept` says that nothing may be taken out of them: they are how a language is written."""

    name: str
    text: str
    kept: bool = False


def _cases() -> tuple[Case, ...]:
    found = json.loads(_FILE.read_text(encoding="ascii"))
    return tuple(Case(one["name"], one["text"] * one.get("times", 1), one.get("kept", False)) for one in found)


CASES = _cases()


@dataclass(frozen=True)
class Fence:
    """What stands between two marks with the same tag."""

    tag: str
    body: str


def fences_of(text: str) -> list[Fence]:
    """The fences of a text. Fails unless each mark is one of a pair with a tag of its own, side by side."""
    marks = list(_MARK.finditer(text))
    assert len(marks) % 2 == 0, "a mark has no other one"
    pairs = list(zip(marks[::2], marks[1::2], strict=True))
    fences: list[Fence] = []
    for opening, closing in pairs:
        assert (opening[1], closing[1]) == ("", "/")
        assert opening[2] == closing[2] != ""
        assert text[opening.start() - 1] == "\n" == text[opening.end()], "the opening mark has a line of its own"
        assert text[closing.start() - 1] == "\n", "the closing mark begins a line"
        fences.append(Fence(opening[2], text[opening.end() + 1 : closing.start() - 1]))
    tags = [fence.tag for fence in fences]
    assert len(set(tags)) == len(tags), "two fences have the same tag"
    return fences


def outside(text: str) -> str:
    """The text without what stands in fences."""
    for fence in fences_of(text):
        text = text.replace(f"<untrusted-{fence.tag}>\n{fence.body}\n</untrusted-{fence.tag}>", "")
    return text


def unseen(text: str, *, lines: bool = False) -> list[str]:
    """The characters of a text that a person would not see. `lines` allows line feeds, which separate lines."""
    return [f"U+{ord(char):04X}" for place, char in enumerate(text) if _is_unseen(text, place, lines)]


def _is_unseen(text: str, place: int, lines: bool) -> bool:
    char = text[place]
    before = text[place - 1] if place else " "
    if char in _JOINERS:
        return ord(before) < 0x600 or unicodedata.category(before)[0] not in "LMS"
    if char in _DRAWN:
        return False
    if char in _MONGOLIAN:
        return not 0x1820 <= ord(before) <= 0x18AA
    if char == "\n":
        return not lines
    code = ord(char)
    if (
        0xFE00 <= code <= 0xFE0F
        or 0xE0000 <= code <= 0xE0FFF
        or char in "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
    ):
        return True
    if 0x1F6D8 <= code <= 0x1F6DF or 0x1FA70 <= code <= 0x1FAFF:
        return False  # emoji, of which a newer Unicode than Python's may have more
    return unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
