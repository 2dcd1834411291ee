"""The page on which a person talks to an agent."""

from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from callwright.service.rest.pages.page import Page, html_page
from callwright.service.rest.talks.websocket import PATH

_HERE = Path(__file__).parent


def talk_routes() -> list[Route]:
    """The routes of the page. Whatever the call is, the page is the same: its websocket needs the token."""

    async def page(request: Request) -> Response:
        return _page().response(request)

    async def sound(request: Request) -> Response:
        return _sound().response(request)

    return [Route(f"{PATH}sound.js", sound), Route(f"{PATH}{{call_id}}", page)]


@cache
def _page() -> Page:
    return html_page(
        "Talk to the agent · Callwright",
        (_HERE / "talk.html").read_text(encoding="utf-8"),
        styles=(_HERE / "talk.css",),
        script=_HERE / "talk.js",
        loads_scripts=True,
        connects=True,
    )


@cache
def _sound() -> Page:
    return Page((_HERE / "sound.js").read_bytes(), "text/javascript")
