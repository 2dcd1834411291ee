"""How values of the API read on a page: amounts, moments, numbers, words, lengths."""

import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from html import escape
from typing import Any

from markupsafe import Markup

from callwright.appearance.tones import TONES
from callwright.service.platform.phone import masked

ABSENT = "–"
_CENT = Decimal("0.01")
_E164 = re.compile(r"\+\d{7,15}")


def money(amount: Mapping[str, Any] | None) -> str:
    """An amount of the API: `12.50 USD`. Fractions of a cent are shown only below one cent."""
    return ABSENT if amount is None else _amount(str(amount["amount"]), str(amount["currency"]))


@lru_cache(4_096)
def _amount(text: str, currency: str) -> str:
    value = Decimal(text)
    shown = f"{value.normalize():f}" if 0 < abs(value) < _CENT else f"{value:,.2f}"
    return f"{shown} {currency}"


def small_money(amount: Mapping[str, Any] | None) -> str:
    """An amount of a list of small ones, to a hundredth of a cent: `-0.0052 USD`."""
    return ABSENT if amount is None else f"{Decimal(str(amount['amount'])):,.4f} {amount['currency']}"


def moment(text: str | None) -> Markup:
    """A moment of the API, in UTC for readers without a script; `dashboard.js` shows it in their own zone."""
    if text is None:
        return Markup('<span class="quiet">–</span>')
    if not text.endswith("Z"):
        text = datetime.fromisoformat(text).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    safe = escape(text)
    return Markup(f'<time datetime="{safe}">{safe[:10]} {safe[11:16]} UTC</time>')


def exact_moment(text: str) -> Markup:
    """A moment of the API to the second."""
    safe = escape(text)
    return Markup(f'<time datetime="{safe}" data-exact>{safe[:10]} {safe[11:19]} UTC</time>')


def number(text: str | None) -> str:
    """A telephone number with its middle hidden. Words that stand in its place stay."""
    if not text:
        return ABSENT
    return masked(text) if text[0] == "+" or any(one.isdigit() for one in text) else text


def masked_numbers(text: str, *, but: Collection[str] = ()) -> str:
    """A text in which telephone numbers have their middle hidden, `but` these: an organization's own."""
    return _E164.sub(lambda found: found[0] if found[0] in but else masked(found[0]), text)


def words(text: str | None) -> str:
    """A word of the API as people read it: `goal_met` is `goal met`."""
    return ABSENT if text is None else text.replace("_", " ")


def marked(text: str, wanted: str) -> Markup:
    """A text with the words that were looked for marked."""
    parts = sorted({re.escape(part) for part in wanted.replace('"', " ").split()}, key=len, reverse=True)
    if not parts:
        return Markup(escape(text))
    found = re.split(rf"(\b(?:{'|'.join(parts)})\b)", text, flags=re.IGNORECASE)
    return Markup("").join(
        Markup("<mark>{}</mark>").format(piece) if place % 2 else piece for place, piece in enumerate(found)
    )


def tone(text: str | None) -> str:
    """The colour of a state."""
    return TONES.get(text or "", "")


def duration(seconds: float | None) -> str:
    """A length of time: `1:05`."""
    if seconds is None:
        return ABSENT
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def share(part: float, whole: float) -> float:
    """Percent, for the width of a bar."""
    return 0.0 if whole <= 0 else round(min(100.0, 100.0 * part / whole), 2)
