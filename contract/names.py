"""Names that people give: what may stand in one, and how one stands in a sentence.

A sentence that somebody agrees to must read the same whatever things are called. So a name is one line of characters
that a person sees, and in a sentence it stands in quotation marks that nothing inside it can end.
"""

import re
import unicodedata
from typing import Annotated

from pydantic import AfterValidator, Field, JsonValue

from .visible import cleaned, hidden_in

LONGEST_IN_A_SENTENCE = 80
_QUOTATION_MARKS = frozenset(
    '"\u00ab\u00bb\u02ba\u02dd\u02ee\u02f5\u02f6\u05f4\u2033\u2034\u2036\u2037\u2057\u226a\u226b'
    "\u275d\u275e\u2760\u27ea\u27eb\u3003\u300a\u300b\u301d\u301e\u301f\u309b\uff02"
    "\U0001f676\U0001f677\U0001f678"
)
"""Marks beside Unicode's own quotation marks that are, or look like, the end of a quotation."""
_SINGLE = (
    "'`\u00b4\u02b9\u02bb\u02bc\u02bd\u02bf\u02c8\u02ca\u02cb\u02f4\u05f3\u2032\u2035\u2575\uff07\uff40\ua78b\ua78c"
)
_RUN_OF_SINGLES = re.compile(f"[{_SINGLE}](?:\\s?[{_SINGLE}])+")
"""Single marks in a row look like a double one."""
_LOOSE_MARKS = re.compile(r"(?:^|(?<=\s))[\u0300-\u036f]+")
"""Accents on a blank: a double acute one looks like a quotation mark."""
_PLAIN = re.compile(r"\+?[\w-]+")


def _one_line(value: str) -> str:
    return _seen(value, hidden_in(value))


def _not_blank(value: str) -> str:
    if not cleaned(value).strip():
        raise ValueError("must not be blank")
    return value


def _lines(value: str) -> str:
    return _seen(value, hidden_in(value, lines=True))


def _seen(value: str, found: tuple[int, str] | None) -> str:
    if found is not None:
        index, char = found
        named = unicodedata.name(char, "")
        said = f"U+{ord(char):04X} ({named})" if named else f"U+{ord(char):04X}"
        raise ValueError(f"must not contain the character {said}, at position {index + 1}: people cannot see it")
    return value


ONE_LINE = r"^[^\u0000-\u001F\u007F-\u009F\u00AD\u061C\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF]*$"
"""As far as a pattern can say it."""
OneLine = AfterValidator(_one_line)
"""Refuses control, direction-changing, invisible and line-breaking characters, and says which and where."""
_SHOWN: dict[str, JsonValue] = {"pattern": ONE_LINE, "examples": ["Spring check-in"]}

Name = Annotated[
    str, Field(min_length=1, max_length=200, json_schema_extra=_SHOWN), OneLine, AfterValidator(_not_blank)
]
"""What people call a thing."""
Label = Annotated[str, Field(max_length=200, json_schema_extra=_SHOWN), OneLine]
"""As a name, and may be empty."""
Text = Annotated[str, Field(max_length=2000), AfterValidator(_lines)]
"""Words for people, on any number of lines."""


def quoted(name: str, *, most: int = LONGEST_IN_A_SENTENCE) -> str:
    """The name in quotation marks, as it stands in a sentence: one line, short, and nothing in it ends them."""
    text = "".join("'" if _ends_quotation(char) else char for char in cleaned(name))
    text = _LOOSE_MARKS.sub("", _RUN_OF_SINGLES.sub("'", " ".join(text.split())))
    return f'"{text}"' if len(text) <= most else f'"{text[: most - 1]}…"'


def named(name: str, *, most: int = LONGEST_IN_A_SENTENCE) -> str:
    """The name as it stands in a sentence: without marks where it is one plain word, else quoted."""
    return name if name.isascii() and len(name) <= most and _PLAIN.fullmatch(name) else quoted(name, most=most)


def _ends_quotation(char: str) -> bool:
    return char in _QUOTATION_MARKS or (not char.isascii() and unicodedata.category(char) in ("Pi", "Pf"))
