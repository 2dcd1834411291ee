"""Who opens a page: the session of its cookie, and the checks of forms.

A form is taken only from a page of this service: by the origin that the browser names, and by a token that follows from
the session, which another site cannot read. Sources: OWASP Cross-Site Request Forgery Prevention; RFC 6265bis, cookie
prefixes.
"""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from sqlalchemy import Connection, Row
from starlette.requests import Request

from callwright.service.accounts import confirmations, sessions
from callwright.service.accounts.errors import AccountError
from callwright.service.accounts.memberships import OWNER, VIEWER
from callwright.service.accounts.password_hashing import PasswordHashing
from callwright.service.accounts.principals import SESSION_PREFIX
from callwright.service.dashboard.asking import Operations
from callwright.service.dashboard.session_cookie import cookie_name, is_secure
from callwright.service.platform.database.units import brief
from callwright.service.platform.money import written_micros
from callwright.service.platform.outgoing.mail import Mailer
from callwright.service.rest.authentication.auth_throttle import LoginAttempts
from callwright.service.rest.incoming import Incoming
from callwright.service.rest.pipeline import RequestPipeline
from callwright.service.services import Services

LOGIN_PATH = "/login"
TOKEN_FIELD = "form_token"
MOST_FIELDS = 500
_TOKEN_OF = b"callwright form token"


class FormRefused(Exception):
    """A form did not come from a page of this service, or from an old one."""


@dataclass(frozen=True)
class Visitor:
    """Who is logged in, in the organization that the session shows."""

    session_id: str
    user_id: str
    org_id: str
    org_name: str
    user_name: str
    email: str | None
    role: str
    plan: str
    waiting: int
    """How many questions of assistants wait for an answer."""
    ask: Operations
    secret: str = field(repr=False)

    @property
    def form_token(self) -> str:
        """What every form of this session sends along."""
        return hmac.new(self.secret.encode(), _TOKEN_OF, hashlib.sha256).hexdigest()

    @property
    def is_owner(self) -> bool:
        """Whether keys and people may be changed."""
        return self.role == OWNER

    @property
    def may_change(self) -> bool:
        """Whether anything may be changed."""
        return self.role != VIEWER


class Visitors:
    """Finds who opens a page. One for all pages."""

    def __init__(self, services: Services, pipeline: RequestPipeline) -> None:
        self.services, self.pipeline = services, pipeline
        self.hashing, self.attempts = PasswordHashing(), LoginAttempts()
        mail = services.settings.mail
        self.mailer = None if mail is None else Mailer(mail)

    def secret_of(self, request: Request) -> str | None:
        """The session's secret in the cookie, if it has the form of one."""
        found = request.cookies.get(cookie_name(is_secure=is_secure(self.services)))
        return found if found is not None and found.startswith(SESSION_PREFIX) else None

    async def visitor(self, request: Request) -> Visitor | None:
        """Who is logged in; None if nobody is."""
        secret = self.secret_of(request)
        if secret is None:
            return None
        services, now_ms = self.services, self.services.clock.now_ms()
        found = await services.database.read(_session, secret, now_ms)
        if found is None:
            return None
        row, waiting = found
        if now_ms - row.last_seen_at >= sessions.SEEN_EVERY_MS:
            await services.database.write(sessions.note_seen, row.id, now_ms)
        return Visitor(
            row.id,
            row.user_id,
            row.org_id,
            row.org_name,
            row.user_name,
            row.email,
            row.role,
            row.plan,
            waiting,
            Operations(self.pipeline, secret),
            secret,
        )

    async def form(self, request: Request, visitor: Visitor) -> Mapping[str, list[str]]:
        """The fields of a form that a page of this session sent. Raises `FormRefused`."""
        self.check_origin(request)
        fields = await read_form(request)
        check_token(fields, visitor)
        return fields

    def check_origin(self, request: Request) -> None:
        """Raises `FormRefused` unless the browser says that the form is on a page of this service."""
        origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
        if origin is not None:
            if origin not in self._origins(request):
                raise FormRefused("This form was sent from another site.")
        elif site not in (None, "same-origin", "none"):
            raise FormRefused("This form was sent from another site.")

    def _origins(self, request: Request) -> set[str]:
        """The origins of this service: the public one and, on this machine, any name of the loopback. Without a public
        one, what the request was sent to.
        """
        own, host = urlsplit(self.services.own_address.root), request.headers.get("host", "")
        found = {f"{own.scheme}://{own.netloc}"}
        named = urlsplit(f"//{host}").hostname
        if self.services.own_address.public_url is None or named in ("localhost", "127.0.0.1", "::1"):
            found.add(f"{request.url.scheme}://{host}")
        return found


@brief
def _session(connection: Connection, secret: str, now_ms: int) -> tuple[Row[Any], int] | None:
    """The session of a secret, and how many questions wait for an answer in the organization that it shows."""
    row = sessions.session_of(connection, secret, now_ms)
    return None if row is None else (row, confirmations.count_waiting(connection, row.org_id, now_ms))


def check_token(fields: Mapping[str, list[str]], visitor: Visitor) -> None:
    """Raises `FormRefused` unless a page of this session made the form."""
    sent = fields.get(TOKEN_FIELD, [""])[0]
    if not hmac.compare_digest(sent.encode(), visitor.form_token.encode()):
        raise FormRefused("This form belongs to another session. Open the page again.")


async def read_form(request: Request) -> Mapping[str, list[str]]:
    """The fields of a form, as browsers write them without files. Raises `FormRefused`."""
    body = await Incoming(request.scope, request.receive).body()
    try:
        return parse_qs(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS)
    except ValueError as error:
        raise FormRefused("This form cannot be read.") from error


def login_address(request: Request) -> str:
    """Where one logs in, with the page that is opened after that: the same, or the one with the form that was sent."""
    target = _path_of(request.url.path, request.url.query) if request.method == "GET" else _sent_from(request)
    return LOGIN_PATH if target == "/" else f"{LOGIN_PATH}?next={quote(target, safe='')}"


def _sent_from(request: Request) -> str:
    """The page of ours on which a form stands, `/` where the browser does not say it."""
    try:
        page = urlsplit(request.headers.get("referer", ""))
    except ValueError:
        return "/"
    return _path_of(page.path, page.query) if page.netloc == request.headers.get("host") else "/"


def _path_of(path: str, query: str) -> str:
    return f"{path or '/'}?{query}" if query else path or "/"


def one(fields: Mapping[str, list[str]], name: str, default: str = "") -> str:
    """The first value of a field, without blanks around it."""
    return fields.get(name, [default])[0].strip()


def as_typed(fields: Mapping[str, list[str]], name: str) -> str:
    """The first value of a field as it was typed: blanks of a password count."""
    return fields.get(name, [""])[0]


def dollars(text: str, what: str) -> int:
    """Micros of an amount that stands in a form. Raises `AccountError`, which names `what` is meant."""
    try:
        return written_micros(text, what)
    except ValueError as error:
        raise AccountError(str(error)) from error


def context_of(visitor: Visitor) -> dict[str, Any]:
    """What every page of a visitor shows."""
    return {"visitor": visitor, "token_field": TOKEN_FIELD, "form_token": visitor.form_token}
