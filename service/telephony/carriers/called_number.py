"""Which of our numbers a trunk means, and who calls: trunks write numbers in the forms of their countries."""

from collections.abc import Collection, Sequence

from callwright.service.platform.phone import Dialable, number_facts, read_number

_FEWEST = 7
"""Digits by whose end alone a number is known: fewer could be those of an extension."""


def own_number(called: Sequence[str], numbers: Collection[str], *, account: str = "") -> str | None:
    """The first of our numbers (E.164) that is called; None if none is.

    It may be written without its +, with 00 in its place, or as in its country. Trunks that log in may call the
    `account` alone, which says which number only where there is one.
    """
    for text in called:
        digits = _digits(text)
        for number in numbers:
            if digits in (number[1:], f"00{number[1:]}"):
                return number
        end = digits.lstrip("0")
        ending = [number for number in numbers if number.endswith(end)] if len(end) >= _FEWEST else []
        if len(ending) == 1:
            return ending[0]
    return next(iter(numbers)) if len(numbers) == 1 and account and account in called else None


def caller_number(caller: str, called: Sequence[str], own: str) -> str:
    """The caller's number in E.164; empty if it is withheld, or no number of the telephone network."""
    digits = _digits(caller)
    if not digits:
        return ""
    forms = [caller if caller.startswith("+") else f"+{digits[2:]}" if digits.startswith("00") else digits]
    if not caller.startswith(("+", "0")):
        # A trunk that leaves the + out of our number does so with the caller's.
        bare_first = own[1:] in called
        forms = [f"+{digits}", digits] if bare_first else [digits, f"+{digits}"]
    for form in forms:
        read = read_number(form, number_facts(own).country)
        if isinstance(read, Dialable):
            return read.e164
    return ""


def _digits(text: str) -> str:
    """The digits of a written number; empty for what is a name."""
    bare = text.lstrip("+")
    kept = bare.translate(str.maketrans("", "", " -.()"))
    return kept if kept.isascii() and kept.isdigit() else ""
