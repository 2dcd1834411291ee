"""Values of the API as HTML, alone and as a table.

A page of a list has hundreds of them, which is why no template makes them: that took longer than what the page asks.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from html import escape
from typing import Any, NamedTuple, Protocol

from markupsafe import Markup

from callwright.service.dashboard.html.explanations import contact_mark, reason_words, rule_words
from callwright.service.dashboard.html.field_names import label_of
from callwright.service.dashboard.html.formats import ABSENT, duration, moment, money, number, small_money, tone, words
from callwright.service.dashboard.html.places import country_name

_ABSENT = f'<span class="quiet">{ABSENT}</span>'
_FIGURES = ("count", "money", "small_money", "length")
"""Kinds whose values stand on one line."""
_LONGEST_CHANGE = 80
_SECOND = ' class="second"'
_AS_JSON = json.JSONEncoder(ensure_ascii=False).encode
_CHOSEN = Markup(" selected")


class Cell(NamedTuple):
    """A value, and where it leads."""

    value: Any
    link: str | None


class ShownColumn(Protocol):
    """A column: its heading, how its values are shown, and whether a narrow window leaves it out."""

    @property
    def heading(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def is_second(self) -> bool: ...


@lru_cache(512)
def mark(word: str | None) -> Markup:
    """A state in its colour."""
    return Markup(f'<span class="state" data-tone="{tone(word)}">{escape(words(word))}</span>')


def changes(found: Mapping[str, Any]) -> Markup:
    """The fields of an audit entry, each before and after, in a line of its own."""
    lines = "<br>".join([escape(f"{label_of(name)}: {_changed(value)}") for name, value in found.items()])
    return Markup(f'<span class="changes">{lines}</span>')


@lru_cache(512)
def sample(name: str, note: str, address: str) -> Markup:
    """A voice that one can hear."""
    return Markup(
        f'<p class="player"><span>{escape(name)} <span class="quiet small">{escape(note)}</span></span> '
        f'<audio controls preload="none" src="{escape(address)}" aria-label="{escape(name)}"></audio></p>'
    )


def _changed(value: Any) -> str:
    if isinstance(value, Mapping) and "after" in value:
        after = _short(value["after"])  # pyright: ignore[reportUnknownArgumentType]
        return f"{_short(value['before'])} → {after}" if "before" in value else after  # pyright: ignore[reportUnknownArgumentType]
    return _short(value)


def _short(value: Any) -> str:
    if value is None or value == "":
        return "nothing"
    text = value if isinstance(value, str) else _AS_JSON(value)
    return text if len(text) <= _LONGEST_CHANGE else f"{text[:_LONGEST_CHANGE]}…"


@lru_cache(512)
def options(choices: tuple[tuple[str, str], ...], chosen: str | None) -> Markup:
    """The options of a choice: each value with its words. There are two hundred countries."""
    return Markup("").join(
        Markup('<option value="{}"{}>{}</option>').format(value, _CHOSEN if value == chosen else "", words_)
        for value, words_ in choices
    )


_SHOWN: Mapping[str, Callable[[Any], str]] = {
    "state": mark,
    "contact": contact_mark,
    "reason": reason_words,
    "rule": rule_words,
    "words": words,
    "moment": moment,
    "money": money,
    "small_money": small_money,
    "number": number,
    "length": duration,
    "count": "{:,}".format,
    "code": lambda value: Markup(f"<code>{escape(str(value))}</code>"),
    "list": ", ".join,
    "country": country_name,
    "changes": changes,
    "flag": lambda value: "yes" if value else "no",
}
"""A kind that is not here is shown as it is."""


def cell(kind: str, value: Any) -> Markup:
    """A value, escaped."""
    return Markup(_html(kind, value))


def _html(kind: str, value: Any) -> str:
    return _shown(_SHOWN.get(kind, str), value)


def _shown(show: Callable[[Any], str], value: Any) -> str:
    if value is None or value == "" or value == {}:
        return _ABSENT
    shown = show(value)
    return shown if isinstance(shown, Markup) else escape(shown)


def table(columns: Sequence[ShownColumn], rows: Sequence[Sequence[Cell]], label: str) -> Markup:
    """A table. In a narrow window each row is a card, with the heading before each value."""
    made = [
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(label)}">\n'
        '<table class="rows">\n  <thead><tr>'
    ]
    kinds: list[tuple[str, Callable[[Any], str]]] = []
    for column in columns:
        second = _SECOND if column.is_second else ""
        made.append(f'<th scope="col"{second}>{escape(column.heading)}</th>')
        figure = ' data-kind="figure"' if column.kind in _FIGURES else ""
        kinds.append((f'<td{second}{figure} data-label="{escape(column.heading)}">', _SHOWN.get(column.kind, str)))
    made.append("</tr></thead>\n  <tbody>\n")
    for row in rows:
        made.append("    <tr>")
        for (begin, show), (value, link) in zip(kinds, row, strict=True):
            shown = _shown(show, value)
            made.append(f'{begin}<a href="{escape(link)}">{shown}</a></td>' if link else f"{begin}{shown}</td>")
        made.append("</tr>\n")
    made.append("  </tbody>\n</table>\n</div>\n")
    return Markup("".join(made))
