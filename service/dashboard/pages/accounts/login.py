"""Getting in and out: the link's code becomes a session, sessions end, another organization is shown."""

from functools import partial

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from callwright.service.accounts import passwords, sessions
from callwright.service.accounts.principals import fingerprint
from callwright.service.dashboard.relying_party import possible
from callwright.service.dashboard.serving import Pages, said, shown
from callwright.service.dashboard.session_cookie import delete_cookie, set_cookie
from callwright.service.dashboard.visitors import (
    LOGIN_PATH,
    FormRefused,
    Visitor,
    Visitors,
    as_typed,
    one,
    read_form,
)
from callwright.service.platform.refusals import Refusal
from callwright.service.rest.authentication.auth_throttle import FailedAttempts
from callwright.service.rules.request_rate import RateLimitState
from callwright.service.services import Services

_HOME = "/campaigns"
_NOWHERE = "You are in no organization any more, or your password has just been changed. Ask an owner to invite you."
_WRONG = "This e-mail address and this password do not belong together."
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
        """Where one logs in. Who is logged in goes on, unless they came by a link, whose code no server sees here."""
        target = request.query_params.get("next", _HOME)
        with self._visitors.services.database.limited():
            visitor = await self._visitors.visitor(request)
        if visitor is not None:
            return shown(visitor, "", "login_anew.html", "You are logged in", {"next": own_address(target), "code": ""})
        return self._shown(request, target)

    def _shown(
        self, request: Request, target: str, refused: str = "", *, email: str = "", status: int = 200
    ) -> Response:
        return login_page(self._visitors.services, request, target, refused, email=email, status=status)

    async def enter(self, request: Request) -> Response:
        """Begins a session with the code of a link, or with an e-mail address and a password."""
        services = self._visitors.services
        now_ms, target, email = services.clock.now_ms(), _HOME, ""
        address = None if request.client is None else request.client.host
        try:
            self._visitors.check_origin(request)
            fields = await read_form(request)
            target, email = own_address(one(fields, "next", _HOME)), one(fields, "email")
            with services.database.limited():
                if "password" in fields:
                    return await self._by_password(request, email, as_typed(fields, "password"), target, address)
                code, visitor = one(fields, "code"), await self._visitors.visitor(request)
                if visitor is not None and not one(fields, "anew"):
                    meant = await services.database.read(sessions.user_of_link, code, now_ms)
                    if meant not in (None, visitor.user_id):  # a link that somebody sent logs nobody in as them unasked
                        context = {"next": target, "code": code}
                        return shown(visitor, "", "login_anew.html", "This link is somebody else's", context)
                made = await services.database.write(sessions.log_in, services.ids, code, now_ms)
                if visitor is not None:
                    await services.database.write(sessions.log_out, visitor.session_id)
        except FormRefused as refused:
            return said(None, "Not done", str(refused), status=403, back=(LOGIN_PATH, "Back"))
        except sessions.LoginRefused:
            limit = None if address is None else self._failed.note(address, now_ms)
            if limit is not None:
                return self._limited(
                    request, limit, now_ms, target, "Too many wrong codes came from this address. Wait a minute."
                )
            return self._shown(request, target, _USED, status=401)
        except Refusal as refusal:
            return self._shown(request, target, refusal.message, email=email, status=refusal.problem.status)
        return self.entered(made, target)

    async def _by_password(
        self, request: Request, email: str, password: str, target: str, address: str | None
    ) -> Response:
        """Begins a session with an e-mail address and a password. A wrong one and an unknown address look the same."""
        visitors, services, now_ms = self._visitors, self._visitors.services, self._visitors.services.clock.now_ms()
        account = fingerprint(email.lower())
        limit = visitors.attempts.of_address(address, now_ms)
        if limit is not None:
            words = "Too many attempts came from this address. Wait a minute."
            return self._limited(request, limit, now_ms, target, words, email=email)
        limit = visitors.attempts.of_account(account, now_ms)
        if limit is not None:
            words = "Too many wrong passwords. Wait a quarter of an hour, or log in with a link."
            return self._limited(request, limit, now_ms, target, words, email=email)
        known = await services.database.read(passwords.login_of, email)
        is_right = await visitors.hashing.matches(password, None if known is None else known.hash)
        if known is None or not is_right:
            return self._shown(request, target, _WRONG, email=email, status=401)
        new_hash = await visitors.hashing.hashed(password) if visitors.hashing.is_old(known.hash) else None
        write = partial(sessions.log_in_by_password, new_hash=new_hash)
        try:
            made = await services.database.write(write, services.ids, known.user_id, known.hash, now_ms)
        except sessions.LoginRefused:  # the password is right, so this tells nobody about somebody else
            return self._shown(request, target, _NOWHERE, email=email, status=401)
        visitors.attempts.right(account, address)
        return self.entered(made, target)

    def _limited(
        self, request: Request, limit: RateLimitState, now_ms: int, target: str, words: str, *, email: str = ""
    ) -> Response:
        found = self._shown(request, target, words, email=email, status=429)
        found.headers.update(limit.refusal_headers(now_ms))
        return found

    def entered(self, made: sessions.NewSession, target: str) -> Response:
        """Leads to a page with the cookie of a session that has just begun."""
        found = RedirectResponse(target, 303)
        set_cookie(self._visitors.services, found, made.secret)
        return found


def login_page(
    services: Services, request: Request, target: str, refused: str = "", *, email: str = "", status: int = 200
) -> Response:
    """Where one logs in. `target` is opened after that."""
    company = services.settings.company_login
    context = {
        "next": own_address(target),
        "refused": refused.replace("`", ""),
        "email": email,
        "company": None if company is None else company.name,
        **possible(services, request),
    }
    return shown(None, "", "login.html", "Log in", context, status=status)


def own_address(address: str) -> str:
    """An address of this service; anything else is the first page, so that a link leads to no other site."""
    is_own = address.startswith("/") and not address.startswith(("//", "/\\", LOGIN_PATH)) and "\n" not in address
    return address if is_own else _HOME
