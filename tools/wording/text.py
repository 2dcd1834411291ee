"""Short, readable lines for a model: one entry a line, two spaces between facts, absent values left out."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal

from callwright.contract.declaration.field_types import Money
from callwright.tools.wording.cleaning import cleaned


def masked(phone_number: str) -> str:
    """The number with at least three digits in its middle hidden: +12025550100 becomes +1202•••0100. Words that stand
    in its place, as withheld, stay."""
    if phone_number.isascii() and phone_number.isalpha():
        return phone_number
    sign = "+" if phone_number.startswith("+") else ""
    digits = phone_number.removeprefix("+")
    tail = 4 if len(digits) >= 10 else 2
    head = max(0, min(4, len(digits) - tail - 3))
    return f"{sign}{digits[:head]}•••{digits[-tail:]}" if len(digits) > tail else "•••"


def named_id(external_id: str | None) -> str | None:
    """The list's own id of a person, with its name; None if there is none."""
    return f"external_id {shortened(external_id, 60)}" if external_id else None


def line(*facts: str | None) -> str:
    """The given facts, two spaces apart, on one line; line breaks in them are removed."""
    return "  ".join(cleaned(fact) for fact in facts if fact)


def lines(*found: str | None) -> str:
    """The given lines, without empty ones."""
    return "\n".join(entry for entry in found if entry)


def amount(money: Money) -> str:
    """For example `12.40 USD`: at least two decimals, without further trailing zeros."""
    return f"{_plain(money.amount)} {money.currency}"


def percent(part: int, whole: int) -> str:
    """A part of a whole that is not 0, such as `21.2%`, rounded half up from the counts themselves."""
    return f"{(Decimal(100 * part) / whole).quantize(Decimal('0.1'), ROUND_HALF_UP)}%"


def moment(value: datetime | None) -> str | None:
    """A time in UTC to the minute, for example `2026-11-21 09:30Z`."""
    return value.strftime("%Y-%m-%d %H:%MZ") if value else None


def counted(counts: Mapping[str, int], *, most: int = 20) -> str:
    """The largest count first, for example `answered 41, busy 7`, cut after `most`."""
    found = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return listed([f"{name} {count}" for name, count in found], most=most)


def listed(words: Sequence[str], *, most: int = 20) -> str:
    """The words separated by commas, cut after `most`."""
    rest = len(words) - most
    return ", ".join(words[:most]) + (f" and {rest} more" if rest > 0 else "")


def shortened(text: str, most: int) -> str:
    """The text in at most `most` characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def clock_time(seconds: float) -> str:
    """Minutes and seconds, for example `1:05`."""
    whole = int(seconds)
    return f"{whole // 60}:{whole % 60:02d}"


def _plain(decimal_text: str) -> str:
    value = Decimal(decimal_text).normalize()
    exponent = value.as_tuple().exponent
    places = -exponent if isinstance(exponent, int) else 2
    return f"{value:.{max(2, places)}f}"


def json_bytes(value: object) -> int:
    """The bytes of a value as JSON in UTF-8."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))
