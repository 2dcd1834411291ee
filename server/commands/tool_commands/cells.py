"""The values of an answer as a person reads them: money, moments, lists, without control characters."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any, cast

MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)")
IDENTIFIER = re.compile(r"[a-z]{2,4}_[0-9A-Za-z]{16,}")
NOTHING: tuple[Any, ...] = (None, "", [], {})
"""Values that a person is not told of."""
_MONEY = {"amount", "currency"}
REFERENCE = {"type", "id"}
"""The fields of a value that names a thing."""
_YEAR = len("2026-")
_DAY = len("2026-11-21")


def visible(text: str) -> str:
    """A text without characters that a terminal executes. Line breaks stay."""
    return "".join(one if one == "\n" or one.isprintable() else "\ufffd" for one in text)


def said(value: Any) -> str:
    """A value in words. A line break stays where the text has one."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, list):
        return _list(cast("list[Any]", value))
    if isinstance(value, dict):
        return _object(cast("dict[str, Any]", value))
    text = str(value)
    return moment(text) if MOMENT.fullmatch(text) else visible(text)


def heading(name: str) -> str:
    """The name of a field as a heading: `contact_name` is `contact name`."""
    return visible(name).replace("_", " ")


def moment(text: str) -> str:
    """A moment in UTC to the minute, for example `2026-11-21 09:30Z`; the text itself if it is none."""
    try:
        return datetime.fromisoformat(text).astimezone(UTC).strftime("%Y-%m-%d %H:%MZ")
    except ValueError:
        return visible(text)


def brief_moment(words: str) -> str:
    """A moment as `moment` gives it without year and zone, for narrow tables: `11-21 09:30`."""
    return words[_YEAR:].removesuffix("Z")


def day_of(words: str) -> str:
    """The day of a moment as `moment` gives it: `2026-11-21`."""
    return words[:_DAY]


def _list(values: list[Any]) -> str:
    inner = "; " if any(isinstance(value, dict | list) for value in values) else ", "
    return inner.join(" ".join(said(value).split("\n")) for value in values)


def _object(value: Mapping[str, Any]) -> str:
    """Money as an amount, something said as its words, what is true by its name; else each name with its value.

    Of counts, those of nothing are left out.
    """
    if value.keys() >= _MONEY:
        rest = _object({name: one for name, one in value.items() if name not in _MONEY})
        return f"{money(value)} ({rest})" if rest else money(value)
    if set(value) == REFERENCE:
        return visible(f"{value['type']} {value['id']}")
    if isinstance(value.get("text"), str):
        return visible(f"{value['role']}: {value['text']}" if "role" in value else value["text"])
    if value and all(isinstance(one, bool) for one in value.values()):
        return ", ".join(heading(name) for name, is_so in value.items() if is_so) or "none"
    parts: list[str] = []
    for name, one in value.items():
        if one in (*NOTHING, 0) and one is not False:
            continue
        words = " ".join(said(one).split("\n"))
        nested = isinstance(one, dict) and not is_money(one)
        parts.append(f"{heading(name)} ({words})" if nested else f"{heading(name)} {words}")
    return ", ".join(parts)


def is_money(value: Any) -> bool:
    """Whether an object is an amount with its currency, and perhaps more."""
    return isinstance(value, dict) and cast("dict[str, Any]", value).keys() >= _MONEY


def money(value: Mapping[str, Any]) -> str:
    """An amount, for example `12.40 USD`: at least two decimals, without further trailing zeros."""
    try:
        amount = Decimal(str(value["amount"])).normalize()
    except InvalidOperation:
        return visible(f"{value['amount']} {value['currency']}")
    exponent = amount.as_tuple().exponent
    places = max(2, -exponent if isinstance(exponent, int) else 0)
    return visible(f"{amount:.{places}f} {value['currency']}")
