"""Names that people give: what may stand in one, and how one stands in a sentence.

A sentence that somebody agrees to must read the same whatever things are called. So a name is one line of characters
that a person sees, and in a sentence it stands in quotation marks that nothing inside it can end.
"""

import re
import unicodedata
from typing import Annotated

from pydantic import AfterValidator, Field, JsonValue

from callwright.contract.checks.visible import cleaned, hidden_in, is_newer_emoji

LONGEST_NAME = 200
LONGEST_NOTE = 2_000
"""Characters of a name."""
_QUOTATION_MARKS = frozenset(
    '"\u00ab\u00bb\u02ba\u02dd\u02ee\u02f5\u02f6\u05f4\u2033\u2034\u2036\u2037\u2057\u226a\u226b'
    "\u275b\u275c\u275d\u275e\u275f\u2760\u27ea\u27eb\u3003\u300a\u300b\u301d\u301e\u301f\u309b\uff02"
    "\U0001f676\U0001f677\U0001f678"
)
"""Marks beside Unicode's own quotation marks that are, or look like, the end of a quotation."""
_LOOKING_LIKE_ONE = frozenset("\u05f2\u141e\u141f\u1420\u144a\u16cc\ua78b\ua78c\U00016f51\U00016f52")
"""Letters and marks that look like a quotation mark."""
_PUNCTUATION = frozenset("\u2022\u2026\u3001\u3002\u30fb\uff01\uff08\uff09\uff0c\uff0e\uff1a\uff1b\uff1f")
"""Punctuation beside that of ASCII that nobody takes for a quotation mark. Bullets hide the digits of a number."""
_LETTERS = frozenset("\u0640\u0e46\u0ec6\u17d7\u3005\u303b\u309d\u309e\u30fc\u30fd\u30fe\uff70")
"""Modifier letters that words are spelt with. Others look like marks."""
_SKIN_TONES = frozenset("\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff")
_KEPT = ("Lu", "Ll", "Lt", "Lo", "Nd", "Nl", "No", "Mn", "Mc", "Me", "So", "Sc", "Cf", "Pd", "Zs")
_RUN_OF_SINGLES = re.compile(r"'(?:\s?')+")
"""Single marks in a row look like a double one."""
_LOOSE_MARKS = re.compile(r"(?:^|(?<=\s))[\u0300-\u036f]+")
"""Accents on a blank: a double acute one looks like a quotation mark."""
_PLAIN = re.compile(r"\+?[\w-]+")


def checked_name(value: str) -> str:
    """The name itself.

    Raises ValueError where it is too long or blank, and for a character that is a control, changes the direction, is
    invisible or breaks the line, and for a code point without a character. The text says what is wrong in words that
    follow the name of the place.
    """
    if len(value) > LONGEST_NAME:
        raise ValueError(f"has {len(value)} characters; at most {LONGEST_NAME} are allowed")
    if not cleaned(_seen(value)).strip():
        raise ValueError("must not be blank")
    return value


def checked_label(value: str) -> str:
    """The label itself: as a name, and may be empty. Raises ValueError as `checked_name` does."""
    return checked_name(value) if value else value


def _lines(value: str) -> str:
    return _seen(value, lines=True)


def _seen(value: str, *, lines: bool = False) -> str:
    if (found := hidden_in(value, lines=lines)) is not None:
        raise ValueError(_hidden(*found))
    return value


def _hidden(index: int, char: str) -> str:
    named = unicodedata.name(char, "")
    said = f"U+{ord(char):04X} ({named})" if named else f"U+{ord(char):04X}"
    why = "no character is known by it" if unicodedata.category(char) == "Cn" else "people cannot see it"
    return f"must not contain the character {said}, at position {index + 1}: {why}"


def wrong_in_column(name: str) -> str | None:
    """What is wrong with the name of a column, in words that follow its place; None where nothing is.

    The same characters are refused as in other names, but for ends of lines: cells of spreadsheets have them.
    """
    if name.isascii() and name.isprintable():
        return None
    found = hidden_in(name, lines=True)
    return None if found is None else _hidden(*found)


def escaped(name: str) -> str:
    """The name with every character that nobody sees written as its code, such as `\\u202e`."""
    return "".join(char if char.isprintable() and cleaned(char) == char else ascii(char)[1:-1] for char in name)


ONE_LINE = r"^[^\u0000-\u001F\u007F-\u009F\u00AD\u061C\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF]*$"
"""One line of what people see, as far as a pattern can say it."""
_SHOWN: dict[str, JsonValue] = {"pattern": ONE_LINE, "examples": ["Spring check-in"]}

Name = Annotated[
    str, Field(min_length=1, max_length=LONGEST_NAME, json_schema_extra=_SHOWN), AfterValidator(checked_name)
]
"""What people call a thing."""
Label = Annotated[str, Field(max_length=LONGEST_NAME, json_schema_extra=_SHOWN), AfterValidator(checked_label)]
"""As a name, and may be empty."""
Text = Annotated[str, Field(max_length=LONGEST_NOTE), AfterValidator(_lines)]
"""Words for people, on any number of lines."""
SeenLines = AfterValidator(_lines)
"""Refuses what nobody sees in a text on any number of lines."""


def quoted(name: str, *, most: int | None = None) -> str:
    """The name in quotation marks, as it stands in a sentence: one line, and nothing in it ends them.

    It is whole, so that no two names read the same. `most` cuts what is no name, such as a greeting.
    """
    text = "".join(char if _is_plain(char) else "'" for char in cleaned(name))
    text = _LOOSE_MARKS.sub("", _RUN_OF_SINGLES.sub("'", " ".join(text.split())))
    return f'"{text}"' if most is None or len(text) <= most else f'"{text[: most - 1]}…"'


def named(name: str) -> str:
    """The name as it stands in a sentence: without marks where it is one plain word, else quoted."""
    return name if name.isascii() and _PLAIN.fullmatch(name) else quoted(name)


def _is_plain(char: str) -> bool:
    """Whether nobody can take the character for the end of a quotation."""
    if char in _QUOTATION_MARKS or char in _LOOKING_LIKE_ONE or char == "`":
        return False
    if char.isascii() or char in _PUNCTUATION or char in _LETTERS or char in _SKIN_TONES:
        return True
    return unicodedata.category(char) in _KEPT or is_newer_emoji(char)
