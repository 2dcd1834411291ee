"""Decodes characters that are escaped as in JSON, HTML, a URL, a program or an e-mail."""

import re
from collections.abc import Callable, Iterator, Sequence
from html.entities import html5
from typing import NamedTuple

_HEX = "[0-9A-Fa-f]"
_BACKSLASHES = r"\\{1,8}+"
_AND = "&(?:amp;){0,3}"


def _bytes(before: str, ascii_byte: str) -> str:
    """A pattern for one character whose UTF-8 bytes are all escaped, or for the no-break space of Latin-1."""
    more = f"{before}[89ABab]{_HEX}"
    two, three = f"{before}[CDcd]{_HEX}{more}", f"{before}[Ee]{_HEX}(?:{more}){{2}}"
    return f"{before}{ascii_byte}|{two}|{three}|{before}[Ff][0-4](?:{more}){{3}}|{before}[Aa]0"


_ESCAPE = re.compile(
    rf"{_BACKSLASHES}(?:(?P<letter>n(?!um)|r(?!uf)|t(?!el))|u\{{(?P<braced>{_HEX}{{1,6}})\}}|U(?P<long>{_HEX}{{8}})"
    rf"|u(?P<unit>[Dd][89ABab]{_HEX}{{2}}{_BACKSLASHES}u[Dd][C-Fc-f]{_HEX}{{2}}|{_HEX}{{4}}))"
    rf"|(?P<program>{_bytes(_BACKSLASHES + 'x', f'[0-7]{_HEX}')})"
    rf"|(?P<address>{_bytes('%(?:25){0,3}', f'[0-7]{_HEX}')})"
    rf"|(?P<mail>{_bytes('=', '[2-7][A-F]')})"
    rf"|{_AND}(?:#(?:(?P<decimal>\d{{1,7}}+)|[Xx](?P<hexadecimal>{_HEX}{{1,6}}+))(?:;|(?!\w))"
    rf"|(?P<name>[A-Za-z]{{2,31}}+);|(?P<blank>nbsp))"
)
r"""`\tel`, `\number` and `\ruf` are words and not escapes. An escape of an e-mail has a letter: `tel=55…` is none."""
_LETTERS = {"n": "\n", "r": "\r", "t": "\t"}
_LIKE_DIGITS = ("address", "decimal", "mail")


class FoundNumber(NamedTuple):
    """A number in a text: its place, and its notation with digits and plus signs in ASCII."""

    start: int
    end: int
    written: str


class Unescaped(NamedTuple):
    """A text without escapes. `places` maps each of its characters, and its end, to the original text."""

    text: str
    places: Sequence[int]
    digits_may_be_meant: bool
    """Whether a decoded escape may be digits with a percent sign, `&#` or `=` between them."""


def unescaped(text: str) -> Unescaped | None:
    """The text with escapes of digits, signs and blanks decoded; None if there are none."""
    if "\\" not in text and "%" not in text and "&" not in text and "=" not in text:
        return None
    parts: list[str] = []
    places: list[int] = []
    end, doubt = 0, False
    for found in _ESCAPE.finditer(text):
        char = _character(found)
        if char is None:
            continue
        parts += text[end : found.start()], char
        places += range(end, found.start() + 1)
        end, doubt = found.end(), doubt or found.lastgroup in _LIKE_DIGITS
    if not parts:
        return None
    places += range(end, len(text) + 1)
    return Unescaped("".join((*parts, text[end:])), places, doubt)


def _character(found: re.Match[str]) -> str | None:
    """The character of an escape; None for letters, and for characters that do not occur in a number."""
    kind = str(found.lastgroup)
    written = found[kind]
    if kind == "letter":
        return _LETTERS[written]
    if kind == "name":
        char = html5.get(f"{written};", "")
    elif kind == "blank":
        char = " "
    elif kind == "unit":
        char = bytes.fromhex(re.sub(r"\\+u", "", written)).decode("utf-16-be", "replace")
    elif kind in ("program", "address", "mail"):
        char = _of_bytes(bytes.fromhex(re.sub(rf"\\+x|%(?:25)*(?={_HEX}{{2}})|=", "", written)))
    else:
        code = int(written, 10 if kind == "decimal" else 16)
        char = chr(code) if code <= 0x10FFFF else ""
    seen = len(char) == 1 and not char.isalpha() and (char.isprintable() or char.isspace() or ord(char) > 0x7F)
    return char if seen else None


def _of_bytes(given: bytes) -> str:
    return " " if given == b"\xa0" else given.decode("utf-8", "replace")


def also_escaped(text: str, found_in: Callable[[str], Iterator[FoundNumber]]) -> Iterator[FoundNumber]:
    """The numbers in a text after its escapes are decoded, with their places in the original text.

    Where an escape may also be digits with something between them, numbers found without decoding count as well.
    """
    read = unescaped(text)
    if read is None:
        return found_in(text)
    places = read.places
    found = [FoundNumber(places[one.start], places[one.end], one.written) for one in found_in(read.text)]
    if read.digits_may_be_meant:
        taken, at = tuple(found), 0
        for one in found_in(text):
            while at < len(taken) and taken[at].end <= one.start:
                at += 1
            if at == len(taken) or one.end <= taken[at].start:
                found.append(one)
    return iter(sorted(found))
