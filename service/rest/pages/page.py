"""A page for people as one HTTP answer: everything it needs stands in it, and its policy admits nothing else."""

from base64 import b64encode
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from callwright.appearance.sheet import style_sheet

FOLDER = Path(__file__).parent
NETWORK = {False: "Simulated network", True: "Real and simulated calls"}
"""What pages say of the network, by whether telephones may ring."""
_ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' "
    "rx='8' fill='%232a5bd7'/%3E%3Cpath d='M8 13v6M14 8v16M20 11v10M26 14v4' stroke='white' stroke-width='3' "
    "stroke-linecap='round'/%3E%3C/svg%3E"
)
_HEADERS = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-cache"}
_SKELETON = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="{icon}">
<style>{style}</style>
</head>
<body>
{body}
{script}</body>
</html>
"""


@dataclass(frozen=True)
class Page:
    """The bytes of a page with the headers that belong to it, among them an `ETag`."""

    content: bytes
    media_type: str
    headers: dict[str, str] = field(default_factory=dict[str, str])

    def response(self, request: Request) -> Response:
        """The answer to a request: the page, or 304 without a body if the client has it already."""
        etag = f'"{sha256(self.content).hexdigest()[:32]}"'
        headers = {**_HEADERS, **self.headers, "ETag": etag}
        known = {tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")}
        if etag in known or "*" in known:
            return Response(status_code=304, headers=headers)
        return Response(self.content, headers=headers, media_type=self.media_type)


def html_page(
    title: str,
    body: str,
    *,
    styles: tuple[str | Path, ...] = (),
    script: str | Path = "",
    submits: bool = False,
    loads_scripts: bool = False,
    connects: bool = False,
) -> Page:
    """A page of HTML. `styles` and `script` are files, beside this module if only named; `body` is HTML already.

    With `submits` its forms may be sent to the service, with `loads_scripts` it may load scripts of the service, and
    with `connects` it may open connections to it.
    """
    style = "\n".join((style_sheet(), *(part(name) for name in ("pages.css", *styles))))
    code = part(script) if script else ""
    content = _SKELETON.format(
        title=escape(title),
        icon=_ICON,
        style=style,
        body=body,
        script=f"<script>{code}</script>\n" if code else "",
    )
    directives = ["default-src 'none'", f"style-src {_hash(style)}", "img-src data:"]
    if code:
        from_here = " 'self'" if loads_scripts else ""
        directives.append(f"script-src {_hash(code)}{from_here}")
    if connects:
        directives.append("connect-src 'self'")
    directives += ["frame-ancestors 'none'", "base-uri 'none'", f"form-action '{'self' if submits else 'none'}'"]
    return Page(content.encode(), "text/html", {"Content-Security-Policy": "; ".join(directives)})


@cache
def part(name: str | Path) -> str:
    """The text of a file, beside this module if it is only named."""
    return (FOLDER / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
