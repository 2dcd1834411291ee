"""Logging in by the company's login service: the browser goes there, comes back with a code, and a session begins.

State, nonce and the verifier of PKCE follow from one secret, which only the cookie of this browser holds.
"""

import base64
import hashlib
import hmac
import re
import secrets

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from callwright.service.accounts import company_logins
from callwright.service.accounts.company_logins import CompanyLoginRefused, NewPeople
from callwright.service.dashboard.company.asked_provider import ProviderFailed
from callwright.service.dashboard.company.provider import Provider
from callwright.service.dashboard.pages.accounts.login import own_address
from callwright.service.dashboard.serving import Pages, said
from callwright.service.dashboard.session_cookie import is_secure, set_cookie
from callwright.service.dashboard.visitors import LOGIN_PATH, Visitors
from callwright.service.platform.refusals import Refusal
from callwright.service.rest.authentication.auth_throttle import FailedAttempts
from callwright.service.settings import CompanyLoginSettings

PATH = f"{LOGIN_PATH}/company"
LONGEST_S = 600
"""How long somebody may take at the company's login service."""
_CODE = re.compile(r"[a-z_]{1,40}")
_BACK = (LOGIN_PATH, "To the login page")
_OTHER_BROWSER = "This login began in another browser, or more than ten minutes ago. Begin again."


def routes(pages: Pages) -> list[Route]:
    """The routes; none where no company is set."""
    settings = pages.visitors.services.settings.company_login
    if settings is None:
        return []
    login = CompanyLogin(pages.visitors, settings)
    return [Route(PATH, login.leave, methods=["GET"]), Route(f"{PATH}/back", login.come_back, methods=["GET"])]


class CompanyLogin:
    """The way there and back. Failed logins of an address are counted, as wrong keys are."""

    def __init__(self, visitors: Visitors, settings: CompanyLoginSettings) -> None:
        self._services, self._settings = visitors.services, settings
        self._provider = Provider(settings, visitors.services.clock)
        self._failed = FailedAttempts()

    async def leave(self, request: Request) -> Response:
        """Sends the browser to the company's login service."""
        secret, target = secrets.token_hex(32), own_address(request.query_params.get("next", ""))
        verifier = _derived(secret, "verifier")
        challenge = _text(hashlib.sha256(verifier.encode()).digest())
        try:
            address = await self._provider.address(
                state=_derived(secret, "state"), nonce=_derived(secret, "nonce"), challenge=challenge, back=self._back
            )
        except ProviderFailed as failed:
            return self._refused(request, f"The login of {self._settings.name} does not work: {failed}.", 502)
        found = RedirectResponse(address, 303)
        kept = f"{secret}.{_text(target.encode())}"
        found.set_cookie(self._cookie, kept, LONGEST_S, path="/", secure=self._is_secure, httponly=True, samesite="lax")
        return found

    async def come_back(self, request: Request) -> Response:
        """Begins a session of whom the company has verified."""
        query, services = request.query_params, self._services
        secret, _, coded = request.cookies.get(self._cookie, "").partition(".")
        state = query.get("state", "")
        if not secret or not hmac.compare_digest(state.encode(), _derived(secret, "state").encode()):
            return self._refused(request, _OTHER_BROWSER, 401)
        try:
            await self._provider.check_sender(query.get("iss"))
            if "error" in query:
                return self._refused(request, self._words_of(query["error"]), 401)
            person = await self._provider.person(
                query.get("code", ""),
                verifier=_derived(secret, "verifier"),
                nonce=_derived(secret, "nonce"),
                back=self._back,
            )
            new_people = NewPeople(self._settings.organization, self._settings.role)
            with services.database.limited():
                given = (services.ids, person, new_people, services.clock.now_ms())
                made = await services.database.write(company_logins.log_in, *given)
        except ProviderFailed as failed:
            return self._refused(request, f"The login of {self._settings.name} does not work: {failed}.", 401)
        except CompanyLoginRefused as refused:
            return self._refused(request, str(refused), 403)
        except Refusal as refusal:
            return self._refused(request, refusal.message, refusal.problem.status)
        found = RedirectResponse(own_address(_read(coded)), 303)
        self._forget(found)
        set_cookie(services, found, made.secret)
        return found

    def _words_of(self, error: str) -> str:
        if error == "access_denied":
            return f"{self._settings.name} says that you may not log in here, or you did not agree."
        named = f" ({error})" if _CODE.fullmatch(error) else ""
        return f"{self._settings.name} refuses this login{named}. Try again, or ask who runs it."

    def _refused(self, request: Request, words: str, status: int) -> Response:
        now_ms = self._services.clock.now_ms()
        limit = None if request.client is None else self._failed.note(request.client.host, now_ms)
        if limit is not None:
            words, status = "Too many logins from this address failed. Wait a minute.", 429
        found = said(None, "Not logged in", words, status=status, back=_BACK)
        if limit is not None:
            found.headers.update(limit.refusal_headers(now_ms))
        self._forget(found)
        return found

    def _forget(self, answer: Response) -> None:
        answer.delete_cookie(self._cookie, path="/", secure=self._is_secure, httponly=True, samesite="lax")

    @property
    def _back(self) -> str:
        return f"{self._services.own_address.root}{PATH}/back"

    @property
    def _is_secure(self) -> bool:
        return is_secure(self._services)

    @property
    def _cookie(self) -> str:
        return "__Host-callwright_company" if self._is_secure else "callwright_company"


def _derived(secret: str, what: str) -> str:
    return _text(hmac.new(secret.encode(), f"callwright {what}".encode(), hashlib.sha256).digest())


def _text(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def _read(coded: str) -> str:
    try:
        return base64.urlsafe_b64decode(coded + "=" * (-len(coded) % 4)).decode()
    except ValueError:
        return ""
