"""Turns a template and its data into an answer, with the policy that every page of the dashboard has."""

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from markupsafe import Markup
from starlette.responses import HTMLResponse, Response

from callwright.appearance.sheet import FILE
from callwright.appearance.tones import TONES
from callwright.contract.checks.counts import count_of
from callwright.service.platform.phone import masked

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER = Path(__file__).parent
TEMPLATES, STATIC = FOLDER / "templates", FOLDER / "static"
POLICY = "; ".join(
    (
        "default-src 'self'",
        "img-src 'self' data:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
"""Nothing comes from another host, no script stands in a page, and no page stands in a frame."""
_CENT = Decimal("0.01")
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}


@cache
def _templates() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape  # a start does not wait for it

    found = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    filters, functions = cast("dict[str, Any]", found.filters), cast("dict[str, Any]", found.globals)
    filters |= {
        "money": money,
        "moment": moment,
        "number": number,
        "words": words,
        "tone": tone,
        "length_of": duration,
        "counted": count_of,
        "share": share,
    }
    functions["static"] = static_address
    return found


def page(template: str, context: Mapping[str, Any], *, status: int = 200) -> Response:
    """The answer of a template."""
    return HTMLResponse(rendered(template, context), status, HEADERS)


def rendered(template: str, context: Mapping[str, Any]) -> str:
    """The text of a template."""
    return _templates().get_template(template).render(context)


@cache
def static_file(name: str) -> tuple[bytes, str] | None:
    """A file that pages load, with its tag; None if there is none of this name."""
    known = {FILE.name: FILE} | {
        path.relative_to(STATIC).as_posix(): path for path in STATIC.rglob("*") if path.is_file()
    }
    if name not in known:
        return None
    content = known[name].read_bytes()
    return content, sha256(content).hexdigest()[:16]


def static_address(name: str) -> str:
    """The address of a file that pages load. It changes with the content, so that browsers may keep it for good."""
    found = static_file(name)
    if found is None:
        raise ValueError(f"there is no static file {name!r}")
    return f"/static/{name}?{found[1]}"


def money(amount: Mapping[str, Any] | None) -> str:
    """An amount of the API: `12.50 USD`. Fractions of a cent are shown only below one cent."""
    if amount is None:
        return "–"
    value = Decimal(str(amount["amount"]))
    shown = f"{value.normalize():f}" if 0 < abs(value) < _CENT else f"{value:,.2f}"
    return f"{shown} {amount['currency']}"


def moment(text: str | None) -> Markup:
    """A moment of the API, in UTC for readers without a script; `dashboard.js` shows it in their own zone."""
    if text is None:
        return Markup('<span class="quiet">–</span>')
    at = datetime.fromisoformat(text).astimezone(UTC)
    return Markup('<time datetime="{}">{}</time>').format(text, at.strftime("%Y-%m-%d %H:%M UTC"))


def number(text: str | None) -> str:
    """A telephone number with its middle hidden. Words that stand in its place stay."""
    if not text:
        return "–"
    return masked(text) if any(one.isdigit() for one in text) else text


def words(text: str | None) -> str:
    """A word of the API as people read it: `goal_met` is `goal met`."""
    return "–" if text is None else text.replace("_", " ")


def tone(text: str | None) -> str:
    """The colour of a state."""
    return TONES.get(text or "", "")


def duration(seconds: float | None) -> str:
    """A length of time: `1:05`."""
    if seconds is None:
        return "–"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def share(part: float, whole: float) -> float:
    """Percent, for the width of a bar."""
    return 0.0 if whole <= 0 else round(min(100.0, 100.0 * part / whole), 2)
