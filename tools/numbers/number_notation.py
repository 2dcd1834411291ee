"""Finds telephone numbers in a text, in any notation.

One rule: a number is a run of digits with anything but letters between them, up to `_APART` characters at a time, that
follows a sign or a word which marks it as a number, and has enough digits. The signs are a plus, two zeros, a picture
of a telephone and, on request, the zero of an area code; the words are in `telephone_words`.
"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from callwright.tools.numbers.escapes import FoundNumber, also_escaped
from callwright.tools.numbers.other_digits import CUT, without_others
from callwright.tools.numbers.plain_digits import PICTURE, as_plain, with_signs
from callwright.tools.numbers.telephone_words import MARKS, Label, label_of, say_others

BETWEEN = (
    r"[\s._()\[\]/\-\u00b7\u058a\u05be\u1806\u2010-\u2015\u2043\u2212\u2e3a\u2e3b\u301c\u3030"
    r"\ufe58\ufe63\uff0d\uff0e\uff0f"
    r"\u00ad\u0300-\u036f\u061c\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u20d0-\u20ff\ufe00-\ufe0f\ufeff]"
)
"""Characters that people usually write between the digits of a number: blanks, dashes, dots, brackets, slashes,
underscores; and characters that are invisible there, or drawn over a digit.
"""
_APART = "{0,8}"
"""How many characters may be between two digits of a number."""
_LEAD = "{0,12}"
"""How many may be between a sign or a word and the first digit."""
_ENOUGH = 8
"""A number with this many digits may end where a sentence goes on. One with fewer continues there."""
_MOST = 17
_FEWEST: Mapping[Label, int] = {"telephone": 6, "call": 7, "mobile": 9}
_FEWEST_MORE = 9
"""The fewest digits of a further number after the same word."""
_USUAL = re.compile(rf"{BETWEEN}*")
_BESIDE = 4
"""The most characters between several order numbers, and between the word and the first of them."""
_USUAL_DIGITS = re.compile(rf"(?:{BETWEEN}?\d)*+")
_STRETCH = re.compile(rf"\d(?=(?:[\W_]{_APART}\d){{5}})[\W\d_]*")
"""Six digits near to each other, and everything after them up to a letter."""
_GROUP = re.compile(rf"([\W_]{_APART}+)(\d{{1,{_MOST + 1}}}+)")
_LOOKS_BACK = 80
_WORD_BACKWARDS = rf"((?:[^\W\d_]|[{MARKS}]){{1,20}}+)"
_WORDS_BACKWARDS = re.compile(
    rf"((?:{CUT}++|[^\w{MARKS}{CUT}]|_){{0,13}}+)(?:{_WORD_BACKWARDS})?"
    + rf"(?:(?:[^\w,;!?\n{MARKS}]|_){{1,4}}+{_WORD_BACKWARDS})?" * 3
)
_BEGINS = (
    rf"(?<!\d)\+(?=[\W_]{_LEAD}\d)|(?<=\d)\+(?=[+\x1f]*[1-9](?:{BETWEEN}{_APART}\d){{7}})|\u260e(?=[\W_]{_LEAD}\d)"
)
_ZEROS = rf"(?<!\w)(?<!\d[.,:'\-])(?<![A-Fa-f]-)00(?=(?:[\W_]{_LEAD}| ?\(0\) ?)[1-9])"
_BEGINS_ABROAD = re.compile(rf"{_BEGINS}|{_ZEROS}")
_BEGINS_ANYWHERE = re.compile(rf"{_BEGINS}|{_ZEROS}|(?<![\w+\-/\u2022])(?<!\d[.,])\(?0(?![.,])")
_DIRECTLY = re.compile(rf"\+(?:\+*|{BETWEEN}{_LEAD})(?=\d)")
_TO_DIGITS = re.compile(r"[\W_]*")
_PLUSES = re.compile(r"\++")
_TO_OPEN = re.compile(r"[\W_]*?(?=\(?\d)")
_OPEN = re.compile(r"\(")
_FIRST = re.compile(r"\(?(?=\d)")
_OF_A_CELL = re.compile(r"\+?\(?(?=\d)")
_DATE = re.compile(
    r"(?:(?:19|20)\d\d([./-])(?:0?[1-9]|1[0-2])\1(?:0?[1-9]|[12]\d|3[01])|\d\d?([./-])\d\d?\2(?:19|20)\d\d)(?!\d)"
)
_MOMENT = re.compile(rf"{_DATE.pattern}|\d\d?:\d\d(?::\d\d(?:[.,:]\d+)?)?(?=$|[\s,;.)\]\-\u2013\u2014/]|[^\W\d_])")
"""A date or a time. They may begin with zeros or follow a word, and are not numbers."""
_PART = re.compile(r"\d{1,5}[.,]\d\d?(?![^\w\s]{0,8}\d)")
"""An amount that begins with zeros."""
_ZONE = re.compile(
    rf"\+(?:1[0-4]|0?\d)(?::?[0-5]\d)?(?!\d)(?:(?!{BETWEEN}{_APART}\d)|(?={BETWEEN}{_APART}(?:{_MOMENT.pattern})))"
)
_MARK = re.compile(r"\++[,;.:)!?\"']+(?:\s|$)|\+\+\s")
"""A plus that belongs to the letter before it, as in `C++` and `A+`."""
_SUM = re.compile(
    r"\+?\d{1,3}(?:,\d{3})+\.\d\d(?![.,]?\d)|\+?\d{1,3}(?:\.\d{3})+,\d\d(?![.,]?\d)"
    r"|\+\d{1,5}[.,]\d\d?(?=[,;]?\s{1,2}[+\-\u2212]\d)"
)
"""An amount with thousands and cents, or one of several changes."""
_THOUSANDS = re.compile(r"(?:\d,\d{3}|\d{1,3}),\d{3}(?![\W_]{0,2}\d)")
_PLACE = re.compile(r"[1-9]\d?\s?[:)]\s{1,3}(?=[+(]?\d)")
"""The index of a number in a list, as in `Phone 1: 416 …`."""
_COMPACT_DATE = re.compile(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?!\d)")
_OTHER_NUMBER = re.compile(r"00(?:[1-9]\d{6}|[\W_])")
_MIDDLE = "\u2022" * 3
"""The hidden part of a masked number."""


def numbers_of(text: str, *, national: bool = False, labelled: bool = True) -> Iterator[FoundNumber]:
    """The telephone numbers in a text: after a sign and, if `labelled`, after a word such as `tel`.

    With `national`, the zero of an area code is a sign too.
    """

    def found_in(written: str) -> Iterator[FoundNumber]:
        plain = with_signs(as_plain(written))
        spans = [stretch.span() for stretch in _STRETCH.finditer(plain)]
        if (left := without_others(plain, spans)) is not plain:
            plain, spans = left, [stretch.span() for stretch in _STRETCH.finditer(left)]
        for start, end in spans:
            yield from _in_stretch(plain, start, end, national=national, labelled=labelled)

    return also_escaped(text, found_in)


def cell_numbers(text: str, *, fewest: int) -> Iterator[FoundNumber]:
    """Every run of at least `fewest` digits, in a text whose digits are known to be telephone numbers."""

    def found_in(written: str) -> Iterator[FoundNumber]:
        plain, at = with_signs(as_plain(written)), 0
        while (first := _OF_A_CELL.search(plain, at)) is not None:
            read = _read(plain, first.end(), fewest=fewest, among=fewest)
            if read.found:
                yield FoundNumber(first.start(), read.end, plain[first.start() : read.end])
            at = read.end

    return also_escaped(text, found_in)


class _NumberMatch(NamedTuple):
    """Whether the digits at a place are a number, and the end of the text that was examined."""

    found: bool
    end: int


def _in_stretch(plain: str, start: int, end: int, *, national: bool, labelled: bool) -> Iterator[FoundNumber]:
    words, at = _before(plain, start)
    label = label_of(words) if labelled and words else None
    fewest, more = _FEWEST[label] if label is not None else 0, False
    others = start + _BESIDE if say_others(words) else 0
    begins = _BEGINS_ANYWHERE if national else _BEGINS_ABROAD
    sign = begins.search(plain, at, end)
    while sign is not None or label is not None:
        begin = end if sign is None else sign.start()
        reach = begin + len(sign[0]) if sign is not None and sign[0] not in ("+", PICTURE) and not more else begin
        if label is not None and (first := _FIRST.search(plain, at, reach)) is not None:
            begin, read = first.start(), _labelled(plain, first.end(), label, fewest)
        elif sign is None:
            return
        elif sign[0] == PICTURE:
            begin = _past(_TO_OPEN, plain, sign.end())
            labels = labelled and "+" not in plain[sign.end() : begin]
            read = (
                _labelled(plain, _past(_OPEN, plain, begin), "telephone", 6)
                if labels
                else _NumberMatch(found=False, end=sign.end())
            )
        elif begin < others and sign[0] != "+":
            read = _NumberMatch(found=False, end=_past(_USUAL_DIGITS, plain, begin))
            others = read.end + _BESIDE
        else:
            read = _signed(plain, begin, sign[0], national=national)
        if read.found:
            yield FoundNumber(begin, read.end, plain[begin : read.end])
            fewest, more = _FEWEST_MORE, True
        at = read.end
        if sign is not None and sign.start() < at:
            sign = begins.search(plain, at, end)


def _before(plain: str, start: int) -> tuple[tuple[str, ...], int]:
    """The words directly before a place, the nearest first, and the start of the non-letters before it."""
    backwards = _WORDS_BACKWARDS.match(plain[max(0, start - _LOOKS_BACK) : start][::-1])
    if backwards is None:
        return (), start
    words = tuple(word[::-1].lower() for word in backwards.groups()[1:] if word)
    return words, start - len(backwards[1])


def _past(pattern: re.Pattern[str], plain: str, at: int) -> int:
    found = pattern.match(plain, at)
    return at if found is None else found.end()


def _signed(plain: str, begin: int, sign: str, *, national: bool) -> _NumberMatch:
    """Reads a number that begins with a plus, or with zeros."""
    if sign == "+":
        return _behind_a_plus(plain, begin)
    if (other := _MOMENT.match(plain, begin) or _PART.match(plain, begin)) is not None:
        return _NumberMatch(found=False, end=other.end())
    if sign == "00":
        read = _read(plain, _past(_TO_DIGITS, plain, begin + 2), fewest=7, among=_ENOUGH)
        if read.found or not national:
            return read
    return _read(plain, _past(_OPEN, plain, begin), fewest=7, among=None)


def _behind_a_plus(plain: str, begin: int) -> _NumberMatch:
    nothing = _NumberMatch(found=False, end=_past(_PLUSES, plain, begin))
    if _SUM.match(plain, begin) is not None:
        return _NumberMatch(found=False, end=_past(_SUM, plain, begin))
    first = _past(_TO_DIGITS, plain, begin)
    before = plain[begin - 1] if begin else " "
    if plain[first] == "0":
        return _read(plain, first, fewest=7, among=None) if _DIRECTLY.match(plain, begin) else nothing
    if before.isalpha():
        zone = plain[max(0, begin - 3) : begin] in ("UTC", "GMT") and _ZONE.match(plain, begin) is not None
        if zone or _MARK.match(plain, begin) is not None:
            return nothing
    return _read(plain, first, fewest=7, among=_ENOUGH)


def _labelled(plain: str, first: int, label: Label, fewest: int) -> _NumberMatch:
    """Reads a number after a word or a picture that marks it as a telephone number."""
    for other in (_PLACE, _MOMENT, _THOUSANDS, _COMPACT_DATE):
        if (found := other.match(plain, first)) is not None:
            return _NumberMatch(found=False, end=found.end())
    return _read(plain, first, fewest=fewest, among=max(fewest, _FEWEST["call"]), ends_at_moments=True)


def _read(plain: str, first: int, *, fewest: int, among: int | None, ends_at_moments: bool = False) -> _NumberMatch:
    """Reads digits from a place on: at least `fewest` in a usual notation, `among` with other text between them."""
    digits, at, usual = 0, first, True
    gaps: set[str] = set()
    while (group := _GROUP.match(plain, at)) is not None:
        gap, more = group.groups()
        unusual = _USUAL.fullmatch(gap) is None
        if digits:
            if unusual and among is None:
                break
            if _is_masked(plain, gap, digits, more, group.end()):
                return _NumberMatch(found=False, end=group.end())
            new = gap not in gaps
            moment = _DATE if digits < _ENOUGH else _MOMENT
            apart = unusual and new and any(map(str.isspace, gap))
            comes = (ends_at_moments or digits >= _ENOUGH or apart) and moment.match(plain, group.start(2))
            if comes or (digits >= _ENOUGH and new and _ends(gap, plain, group.start(2), unusual=unusual)):
                break
            gaps.add(gap)
        if digits + len(more) > _MOST and not (unusual and digits >= _ENOUGH):
            at = max(at, group.end() if not digits else at)
            break
        digits, at, usual = digits + len(more), group.end(), usual and not (unusual and digits)
    return _NumberMatch(found=digits >= (fewest if usual or among is None else among), end=max(at, first))


def _ends(gap: str, plain: str, after: int, *, unusual: bool) -> bool:
    """Whether a number with enough digits ends at the text between it and the next digit."""
    if "\n" in gap or "+" in gap or PICTURE in gap:
        return True
    if unusual:
        return any(char.isspace() for char in gap)
    return _OTHER_NUMBER.match(plain, after) is not None


def _is_masked(plain: str, gap: str, digits: int, more: str, end: int) -> bool:
    return gap == _MIDDLE and digits <= 4 and len(more) in (2, 4) and not plain.startswith(_MIDDLE, end)
