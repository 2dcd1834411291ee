"""Makes routes of pages: who is logged in, what a refusal looks like, and what every page shows."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from callwright.contract.checks.tracebacks import without_tracebacks
from callwright.service.accounts.errors import AccountError, sentence
from callwright.service.dashboard.asking import Refused, SessionEnded
from callwright.service.dashboard.html import rendering
from callwright.service.dashboard.visitors import (
    LOGIN_PATH,
    FormRefused,
    Visitor,
    Visitors,
    context_of,
    login_address,
)
from callwright.service.platform.refusals import Refusal

log = logging.getLogger(__name__)
_NOT_HERE = 404
_VIEWER = "Your role is viewer, which changes nothing. Ask a member or an owner of {}."

View = Callable[[Request, Visitor], Awaitable[Response]]


def shown(
    visitor: Visitor | None, here: str, template: str, title: str, context: Mapping[str, Any], *, status: int = 200
) -> Response:
    """A page. `here` is the entry of the navigation to which it belongs."""
    everywhere = {"here": here, "title": title, "visitor": None}
    own = {} if visitor is None else context_of(visitor)
    return rendering.page(template, {**everywhere, **own, **context}, status=status)


def keeping(query: QueryParams) -> Callable[..., str]:
    """Makes the query of the next page of a list: the same filters, from another cursor on."""
    kept = {name: value for name, value in query.items() if value and name != "cursor"}

    def following(*, cursor: str) -> str:
        return urlencode({**kept, "cursor": cursor})

    return following


def said(
    visitor: Visitor | None,
    title: str,
    words: str,
    *,
    status: int,
    tone: str = "bad",
    back: tuple[str, str] = ("/campaigns", "To the campaigns"),
    refused: Refused | None = None,
) -> Response:
    """A page that only says something: what was refused, and where to go on."""
    faults = refused.faults if refused is not None and len(refused.faults) > 1 else ()
    context = {"said": words, "tone": tone, "faults": faults, "back": back[0], "back_words": back[1]}
    return shown(visitor, "", "said.html", title, context, status=status)


class Pages:
    """Makes the routes of pages that ask who is logged in."""

    def __init__(self, visitors: Visitors) -> None:
        self.visitors = visitors

    def route(
        self,
        path: str,
        view: View,
        *,
        methods: tuple[str, ...] = ("GET",),
        here: str = "/campaigns",
        logged_out: Callable[[Request], Response] | None = None,
        for_members: bool = False,
    ) -> Route:
        """The route of a page. A refusal is a page that says it, and leads to `here`.

        `logged_out` is what a GET without a session shows; without it, it leads to where one logs in. A GET of what
        takes forms alone leads to the page above it: browsers ask for it when somebody opens the address again.

        `for_members`: a viewer is told so at once, and not after a form is filled in.
        """
        takes_forms_alone = methods == ("POST",)

        async def answered(request: Request) -> Response:
            visitor: Visitor | None = None
            try:
                with self.visitors.services.database.limited():
                    visitor = await self.visitors.visitor(request)
                    if visitor is None and logged_out is not None and request.method != "POST":
                        return logged_out(request)
                    if visitor is None:
                        return RedirectResponse(login_address(request), 303)
                    if takes_forms_alone and request.method != "POST":
                        return RedirectResponse(request.url.path.rpartition("/")[0] or here, 303)
                    if for_members and not visitor.may_change:
                        return said(
                            visitor, "Not done", _VIEWER.format(visitor.org_name), status=403, back=(here, "Back")
                        )
                    return await view(request, visitor)
            except Exception as error:
                return self._failed(request, visitor, error, here)

        return Route(path, answered, methods=["GET", "POST"] if takes_forms_alone else list(methods))

    def open_route(self, path: str, view: Callable[[Request], Awaitable[Response]]) -> Route:
        """The route of a page, with a form, for people who are not logged in. A refusal is a page that says it."""

        async def answered(request: Request) -> Response:
            try:
                with self.visitors.services.database.limited():
                    return await view(request)
            except Exception as error:
                return self._failed(request, None, error, LOGIN_PATH)

        return Route(path, answered, methods=["GET", "POST"])

    def _failed(self, request: Request, visitor: Visitor | None, error: Exception, here: str) -> Response:
        back = (here, "Back")
        if isinstance(error, SessionEnded):
            return RedirectResponse(login_address(request), 303)
        if isinstance(error, FormRefused):
            return said(visitor, "Not done", str(error), status=403, back=back)
        if isinstance(error, AccountError):
            return said(visitor, "Not done", sentence(error), status=409, back=back)
        if isinstance(error, Refused):
            title = "Not here" if error.status == _NOT_HERE else "Not done"
            return said(visitor, title, error.message, status=error.status, back=back, refused=error)
        refusal = self.visitors.pipeline.refusal_of(error, self.visitors.services.ids.new("req"))
        without_tracebacks(error)
        return _refusal(visitor, refusal, back)


def _refusal(visitor: Visitor | None, refusal: Refusal, back: tuple[str, str]) -> Response:
    found = said(visitor, "Not done", refusal.message, status=refusal.problem.status, back=back)
    for name, text in refusal.headers.items():
        found.headers[name] = text
    return found
