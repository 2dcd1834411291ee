"""Digits that are a time, a fraction or a change, and not part of a telephone number."""

import re
from collections.abc import Iterable

CUT = "\ufffe"
"""Replaces each of their characters: not a letter, not a digit, and nothing that people write."""
_NOT_BEHIND_DIGITS = "".join(rf"(?<!\d[\W_]{{{many}}})" for many in range(9))
"""Prevents matches in the middle of a number."""
_NOT_BEHIND_A_PLUS = r"(?<![+\x1f])(?<![+\x1f]\W)"
_ALONE = r"(?![\W_]{0,8}\d)"
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_DATE = (
    rf"(?:(?:19|20)\d\d(?:-(?:0?[1-9]|1[0-2])-|/(?:0?[1-9]|1[0-2])/|\.(?:0?[1-9]|1[0-2])\.){_DAY}"
    rf"|{_DAY}(?:-{_DAY}-|/{_DAY}/|\.{_DAY}\.)(?:19|20)\d\d)(?![\d:]|[\-./]\d)"
)
_QUARTER = "(?:00|15|30|45)"
_OFFSET = (
    rf"(?:[+\-\u2212](?:0\d|1[0-4])(?::?{_QUARTER})?|[ \xa0][+\-\u2212](?:0\d(?::?{_QUARTER})?|1[0-4]:{_QUARTER}))"
    r"(?![\d:]|[.,]\d)"
)
_TIME = rf"(?:[01]?\d|2[0-4]):[0-5]\d(?::[0-5]\d(?:[.,]\d{{1,9}})?)?(?![\d:]|[.,]\d)(?:{_OFFSET})?"
_MOMENTS = rf"(?:[^\w+]{{1,3}}(?:{_DATE}|{_TIME}))*+"
_SIGN = r"[+\-\u2212]"
_BELOW_180 = r"(?:1[0-7]\d|[1-9]?\d|180(?=\.0))"
_NEXT = r"(?:[,;/|]\s{0,2}|\s{1,2})"
_FRACTION = rf"{_SIGN}{_BELOW_180}\.\d{{1,7}}(?!\d)(?: ?[\xb0%])?"
_REPEATED_FRACTION = rf"{_BELOW_180}\.\d\d?(?!\d)"
_CHANGE = r"\+[1-9]\d\d(?!\d)"
_SMALL_CHANGE = r"\+[1-9]\d(?!\d)"
_OTHERS = re.compile(
    rf"(?=[\d+])(?:(?<!\d)(?<!\d[\-./:,]){_DATE}{_MOMENTS}"
    rf"|(?=\d\d?:){_NOT_BEHIND_DIGITS}{_NOT_BEHIND_A_PLUS}{_TIME}{_MOMENTS}"
    rf"|(?=\+\d){_NOT_BEHIND_DIGITS}(?:{_FRACTION}(?:{_NEXT}{_FRACTION})*+"
    rf"|{_CHANGE}(?:{_NEXT}{_CHANGE})++|{_SMALL_CHANGE}(?:{_NEXT}{_SMALL_CHANGE})++){_ALONE}"
    rf"|(?=\d{{1,3}}\.){_NOT_BEHIND_DIGITS}{_NOT_BEHIND_A_PLUS}"
    rf"{_REPEATED_FRACTION}(?:[,;]\s{{1,2}}{_REPEATED_FRACTION})++{_ALONE})"
)
"""Dates; times and the times after them, with their offsets; fractions between -180 and 180, such as coordinates and
degrees, with a sign or several in a row; changes with a plus each and the same number of digits.
"""


def without_others(plain: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text with such digits of the spans replaced by `CUT`; its length does not change."""
    parts: list[str] = []
    end = 0
    for first, last in spans:
        for other in _OTHERS.finditer(plain, max(end, first - 1), last):
            parts += plain[end : other.start()], CUT * len(other[0])
            end = other.end()
    return "".join((*parts, plain[end:])) if parts else plain
