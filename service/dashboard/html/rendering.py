"""Turns a template and its data into an answer, with the policy that every page of the dashboard has."""

from collections.abc import Mapping
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from markupsafe import Markup
from starlette.responses import HTMLResponse, Response

from callwright.appearance.sheet import FILE
from callwright.contract.checks.counts import count_of
from callwright.service.dashboard.html import cells
from callwright.service.dashboard.html.explanations import contact_words, problem_words, reason_words, rule_words
from callwright.service.dashboard.html.field_names import label_of
from callwright.service.dashboard.html.formats import (
    duration,
    exact_moment,
    marked,
    masked_numbers,
    moment,
    money,
    number,
    share,
    tone,
    words,
)
from callwright.service.dashboard.html.navigation import NAVIGATION

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER = Path(__file__).parent.parent
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
        "exact_moment": exact_moment,
        "number": number,
        "words": words,
        "label_of": label_of,
        "marked": marked,
        "tone": tone,
        "length_of": duration,
        "counted": count_of,
        "share": share,
        "masked_numbers": masked_numbers,
        "reason_words": reason_words,
        "contact_words": contact_words,
        "rule_words": rule_words,
        "problem_words": problem_words,
    }
    functions |= {
        "static": static_address,
        "mark": cells.mark,
        "cell": cells.cell,
        "table": cells.table,
        "options": cells.options,
        "navigation": _navigation,
    }
    return found


def page(template: str, context: Mapping[str, Any], *, status: int = 200) -> Response:
    """The answer of a template."""
    return HTMLResponse(rendered(template, context), status, HEADERS)


def rendered(template: str, context: Mapping[str, Any]) -> str:
    """The text of a template."""
    return _templates().get_template(template).render(context)


@lru_cache(512)
def _navigation(here: str, waiting: int) -> Markup:
    """The addresses that every page leads to. `waiting` confirmations are counted beside theirs."""
    return Markup(rendered("navigation.html", {"groups": NAVIGATION, "here": here, "waiting": waiting}))


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
