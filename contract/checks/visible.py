"""What can be seen of a text, and what hides in it.

Characters that a person would not see are taken out of what is shown, because they can carry orders that only a model
reads, or change how the words around them read.

What people need to spell their languages stays: marks, letters that run from right to left, joiners between letters
that take a joined or a separate form (Persian, Hindi, …) and between the parts of an emoji, Mongolian variants. What
goes besides: variation selectors, so that an emoji may be drawn in black, and tag characters, so that the flag of
Scotland becomes a plain flag.
"""

import re
import unicodedata
from functools import lru_cache

_ODD = re.compile(r"[^\x20-\x7e]{1,2000}")
"""Characters that are no plain ones, in a row."""
_ODD_IN_A_LINE = re.compile(r"[^\x20-\x7e\n]{1,2000}")
_VISIBLE_FORMATS = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
"""Format characters that are drawn: number signs of Arabic, Syriac and Kaithi."""
_JOINERS = "\u200c\u200d"
_EMOJI_JOINER = "\u200d"
_MONGOLIAN_VARIANTS = "\u180b\u180c\u180d\u180e\u180f"
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")
"""Letters and marks that are drawn as nothing."""
_BLANK_PATTERN = "\u2800"
"""A pattern of Braille without dots: a space to the eye."""
_FIRST_JOINING_SCRIPT = 0x0600
"""Scripts that need joiners to be spelt right begin here (Arabic); Latin, Greek and Cyrillic come before."""
_UNKNOWN = "\ufffd"
"""Stands for a code point that has no character, as far as Python knows."""
_NEWER_EMOJI = (range(0x1F6D8, 0x1F6E0), range(0x1FA70, 0x1FB00))
"""Where emoji of coming years go. They are drawn, so each stays itself: two names with different ones differ."""
_MOST_MARKS = 8
"""Marks on one letter. No spelling needs more; piles of them cover the lines around."""
_NAME_SELECTORS = "\ufe0e\ufe0f"
"""Draw an emoji as text or in colour. Telephones put the latter behind most of them."""
_IDEOGRAPH_SELECTORS = range(0xE0100, 0xE01F0)
"""Choose the form of an ideograph; Japanese names are spelt with them."""


def cleaned(text: str) -> str:
    """The text on one line, without invisible and direction-changing characters. Joiners stay where needed."""
    if text.isascii() and text.isprintable():
        return text
    return _ODD.sub(lambda run: _shown(run[0]), text)


@lru_cache(maxsize=4_096)
def _shown(run: str) -> str:
    """What is left of characters none of which is a plain one. What one looks like depends on its neighbours here."""
    kept: list[str] = []
    marks = 0
    for char in run:
        if char in _JOINERS or char in _MONGOLIAN_VARIANTS:
            if kept and _shapes(char, kept[-1]):
                kept.append(char)
        elif char.isspace() or char == _BLANK_PATTERN:
            marks = 0
            kept.append(" ")
        elif unicodedata.category(char) == "Cn" and not _ignorable(ord(char)) and not is_newer_emoji(char):
            marks = 0
            kept.append(_UNKNOWN)
        elif not _invisible(char):
            marks = marks + 1 if unicodedata.category(char)[0] == "M" else 0
            if marks <= _MOST_MARKS:
                kept.append(char)
    return "".join(kept)


def cleaned_lines(text: str) -> str:
    """The text cleaned line by line; the lines themselves stay."""
    return _ODD_IN_A_LINE.sub(lambda run: _shown(run[0]), text)


def hidden_in(text: str, *, lines: bool = False) -> tuple[int, str] | None:
    """The first character that has no place in a name, with its index; None where every character has.

    A name is one line of what a person sees. Code points without a character are refused, since all look the same. It
    may have what people need to spell theirs: joiners where they shape a letter or an emoji, one variation selector
    behind an emoji or an ideograph, spaces of every width. With `lines` it may have tabs and ends of lines.
    """
    if text.isascii() and text.isprintable():
        return None
    before = ""
    for index, char in enumerate(text):
        if not _belongs(char, before) and not (lines and char in "\t\r\n"):
            return index, char
        before = char
    return None


def _belongs(char: str, before: str) -> bool:
    """Whether a character may stand in a name behind the one before it."""
    if char in _JOINERS or char in _MONGOLIAN_VARIANTS:
        return bool(before) and (_shapes(char, before) or (char == _EMOJI_JOINER and before in _NAME_SELECTORS))
    if char in _NAME_SELECTORS:
        return bool(before) and (unicodedata.category(before)[0] in "SPN" or is_newer_emoji(before))
    if ord(char) in _IDEOGRAPH_SELECTORS:
        return bool(before) and unicodedata.category(before) == "Lo"
    if char == _BLANK_PATTERN or _ignorable(ord(char)):
        return False
    category = unicodedata.category(char)
    return category == "Zs" or not (_invisible(char) or category[0] == "Z")


def _shapes(char: str, before: str) -> bool:
    """Whether an invisible character changes how the one before it is written."""
    code = ord(before)
    if char in _MONGOLIAN_VARIANTS:
        return 0x1820 <= code <= 0x18AA
    category = unicodedata.category(before)
    if category in ("So", "Sk") or is_newer_emoji(before):
        return char == _EMOJI_JOINER and code >= _FIRST_JOINING_SCRIPT
    return code >= _FIRST_JOINING_SCRIPT and category[0] in "LM" and before not in _MONGOLIAN_VARIANTS


def is_newer_emoji(char: str) -> bool:
    """Whether a character that Python does not know stands where new emoji go."""
    return unicodedata.category(char) == "Cn" and any(ord(char) in block for block in _NEWER_EMOJI)


def _ignorable(code: int) -> bool:
    """Whether a code point without a character is set aside for what is not drawn, or can never be a character."""
    never = code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF
    return never or code == 0x2065 or 0xFFF0 <= code <= 0xFFF8 or 0xE0000 <= code <= 0xE0FFF


def _invisible(char: str) -> bool:
    if char in _VISIBLE_FORMATS or is_newer_emoji(char):
        return False
    if char in _BLANK or 0xFE00 <= ord(char) <= 0xFE0F or 0xE0100 <= ord(char) <= 0xE01EF:
        return True
    return unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn")
