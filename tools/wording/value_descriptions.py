"""Describes the values of a change, and the old ones, in a sentence that a person agrees to.

An object in a change replaces the old one, so a field that it leaves out goes back to its default. For such an object
the text has all fields that the change names, and all whose value then differs.
"""

from collections.abc import Mapping
from typing import Any, cast

from pydantic import ValidationError

from callwright.contract.checks.counts import count_of
from callwright.contract.checks.names import named, quoted
from callwright.contract.declaration.changes import Changes
from callwright.contract.declaration.field_types import Money, Spend
from callwright.contract.declaration.model import Input, Part
from callwright.contract.deployments.dialling import Window
from callwright.tools.wording.text import amount, listed

NOT_SHOWN: Any = object()
"""Stands for an old value that the service does not show. A field missing from a shown object means none."""
_MOST_WINDOWS = 4
_LONGEST_BEFORE = 100
"""The most characters of an old text; the new one is not cut."""


def as_stored(value: Any) -> Any:
    """A value of a change as the service stores it, as JSON: an object has its defaults, changes have none."""
    if isinstance(value, Changes):
        found = value.named()
        return {name: as_stored(found[name]) for name in value.changing() if name in found}
    return value.model_dump(mode="json") if isinstance(value, Part) and not isinstance(value, Spend) else value


def describe_change(name: str, now: Any, before: Any, given: Any) -> str:
    """The name and value of a field, as `as_stored` returns it, and the old value if it differs.

    `given` is the part that the change names.
    """
    if not isinstance(now, dict):
        words = _entry(name, now)
        if before is NOT_SHOWN or _same(now, before):
            return words
        was = _listed_value(name, before)
        # Lists are cut after a few entries, so different ones may read the same.
        return f"{words} instead of {'others' if words == was else was}"
    values = cast("dict[str, Any]", now)
    if not isinstance(before, dict):
        words = _entry(name, values)
        return words if before is NOT_SHOWN else f"{words} instead of {_listed_value(name, before)}"
    was, names = cast("dict[str, Any]", before), cast("Mapping[str, Any]", given if isinstance(given, dict) else {})
    every = [*values, *(one for one in was if one not in values)]
    shown = [one for one in every if one in names or not _same(values.get(one), was.get(one))] or every
    parts = [describe_change(one, values.get(one), was.get(one), names.get(one)) for one in shown]
    return f"{named(name)} ({', '.join(parts)})"


def describe_value(value: Any, *, most: int | None = None) -> str:
    """A value in a sentence. Texts in it are quoted, so that none reads as part of the sentence.

    Texts longer than `most` are cut.
    """
    if value is None:
        return "none"
    if isinstance(value, str):
        return named(value) if most is None or len(value) <= most else quoted(value, most=most)
    if isinstance(value, Spend | Money):
        return amount(Money(amount=value.amount, currency=value.currency))
    if isinstance(value, Input | Part):
        return describe_value(value.model_dump(mode="json", exclude_unset=True), most=most)
    if isinstance(value, list):
        return f"[{', '.join(describe_value(entry, most=most) for entry in cast('list[Any]', value))}]"
    if isinstance(value, dict):
        entries = cast("dict[str, Any]", value).items()
        return f"({', '.join(_entry(name, entry, most=most) for name, entry in entries)})"
    return str(value)


def _same(one: Any, other: Any) -> bool:
    """Whether two values are equal; times and amounts are if they read the same."""
    return one == other or (not isinstance(one, list | dict) and describe_value(one) == describe_value(other))


def _entry(name: str, value: Any, *, most: int | None = None) -> str:
    windows = _windows(name, value)
    return f"{named(name)} {describe_value(value, most=most)}" if windows is None else windows


def _listed_value(name: str, value: Any) -> str:
    windows = _windows(name, value)
    return describe_value(value, most=_LONGEST_BEFORE) if windows is None else windows


def _windows(name: str, value: Any) -> str | None:
    """Windows by their count and the first few; None for what is none."""
    if name != "windows" or not isinstance(value, list):
        return None
    try:
        found = [Window.model_validate(one) for one in cast("list[Any]", value)]
    except ValidationError:  # another service may write them in another form
        return None
    shown = [f"{'+'.join(one.days)} {one.start}-{one.end}" for one in found]
    return f"{count_of(len(found), 'window')} {listed(shown, most=_MOST_WINDOWS)}"
