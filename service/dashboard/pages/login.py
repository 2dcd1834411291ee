"""Getting in and out: the link's code becomes a session, sessions end, another organization is shown."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from callwright.service.accounts import sessions
from callwright.service.dashboard.relying_party import possible
from callwright.service.dashboard.serving import Pages, said, shown
from callwright.service.dashboard.session_cookie import delete_cookie, set_cookie
from callwright.service.dashboard.visitors import (
    LOGIN_PATH,
    FormRefused,
    Visitor,
    Visitors,
    one,
    read_form,
)
from callwright.service.platform.refusals import Refusal
from callwright.service.rest.authentication.auth_throttle import FailedAttempts
from callwright.service.services import Services

_HOME = "/campaigns"
_USED = "This link is unknown, was used, or is older than 15 minutes. Make another one with `callwright open`."


def routes(pages: Pages) -> list[Route]:
    """The routes."""
    login = LoginPage(pages.visitors)

    async def log_out(request: Request, visitor: Visitor) -> Response:
        fields = await pages.visitors.form(request, visitor)
        database = pages.visitors.services.database
        if one(fields, "everywhere"):
            await database.write(sessions.log_out_everywhere, visitor.user_id)
        else:
            await database.write(sessions.log_out, visitor.session_id)
        found = RedirectResponse(LOGIN_PATH, 303)
        delete_cookie(pages.visitors.services, found)
        return found

    async def session(request: Request, visitor: Visitor) -> Response:
        if request.method == "POST":
            fields = await pages.visitors.form(request, visitor)
            chosen = (visitor.session_id, visitor.user_id, one(fields, "org_id"))
            await pages.visitors.services.database.write(sessions.show_organization, *chosen)
            return RedirectResponse(_HOME, 303)
        found = await pages.visitors.services.database.read(sessions.organizations_of_user, visitor.user_id)
        context = {"organizations": [{"id": row.id, "name": row.name, "role": row.role} for row in found]}
        return shown(visitor, "", "session.html", "Sessions and organizations", context)

    return [
        Route(LOGIN_PATH, login.page, methods=["GET"]),
        Route(LOGIN_PATH, login.enter, methods=["POST"]),
        pages.route("/logout", log_out, methods=("POST",)),
        pages.route("/settings/session", session, methods=("GET", "POST")),
    ]


class LoginPage:
    """The page where one logs in. Wrong codes of an address are counted, as wrong keys are."""

    def __init__(self, visitors: Visitors) -> None:
        self._visitors = visitors
        self._failed = FailedAttempts()

    async def page(self, request: Request) -> Response:
        """Where one logs in; who is logged in goes on."""
        with self._visitors.services.database.limited():
            if await self._visitors.visitor(request) is not None:
                return RedirectResponse(own_address(request.query_params.get("next", _HOME)), 303)
        return self._shown(request, request.query_params.get("next", _HOME))

    def _shown(self, request: Request, target: str, refused: str = "", *, status: int = 200) -> Response:
        return login_page(self._visitors.services, request, target, refused, status=status)

    async def enter(self, request: Request) -> Response:
        """Begins a session with the code of a link."""
        services = self._visitors.services
        now_ms, target = services.clock.now_ms(), _HOME
        try:
            self._visitors.check_origin(request)
            fields = await read_form(request)
            code, target = one(fields, "code"), own_address(one(fields, "next", _HOME))
            with services.database.limited():
                made = await services.database.write(sessions.log_in, services.ids, code, now_ms)
        except FormRefused as refused:
            return said(None, "Not done", str(refused), status=403, back=(LOGIN_PATH, "Back"))
        except sessions.LoginRefused:
            address = None if request.client is None else request.client.host
            limit = None if address is None else self._failed.note(address, now_ms)
            if limit is not None:
                words = "Too many wrong codes came from this address. Wait a minute."
                found = self._shown(request, target, words, status=429)
                found.headers.update(limit.refusal_headers(now_ms))
                return found
            return self._shown(request, target, _USED, status=401)
        except Refusal as refusal:
            return self._shown(request, _HOME, refusal.message, status=refusal.problem.status)
        found = RedirectResponse(target, 303)
        set_cookie(services, found, made.secret)
        return found


def login_page(services: Services, request: Request, target: str, refused: str = "", *, status: int = 200) -> Response:
    """Where one logs in. `target` is opened after that."""
    company = services.settings.company_login
    context = {
        "next": own_address(target),
        "refused": refused.replace("`", ""),
        "company": None if company is None else company.name,
        **possible(services, request),
    }
    return shown(None, "", "login.html", "Log in", context, status=status)


def own_address(address: str) -> str:
    """An address of this service; anything else is the first page, so that a link leads to no other site."""
    is_own = address.startswith("/") and not address.startswith(("//", "/\\")) and "\n" not in address
    return address if is_own else _HOME
