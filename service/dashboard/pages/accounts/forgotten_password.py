"""A forgotten password: a link by mail, or on the terminal of the service, with which a new one is set.

The answer is the same whether there is such a user or not, and is given before anything is looked up.
"""

import logging
from collections.abc import Mapping

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from callwright.service.accounts import passwords
from callwright.service.accounts.errors import AccountError, sentence
from callwright.service.accounts.password_rules import LONGEST, SHORTEST, checked_password, normalized
from callwright.service.accounts.principals import fingerprint
from callwright.service.dashboard.serving import Pages, said, shown
from callwright.service.dashboard.visitors import LOGIN_PATH, Visitors, as_typed, one, read_form
from callwright.service.platform.outgoing.mail import MailFailed
from callwright.service.platform.refusals import Refusal

PATH, RESET_PATH = "/forgot", "/reset"
log = logging.getLogger(__name__)
_MAIL = """Somebody, probably you, wants to set a new password for Callwright.

{link}

The link works once, for one hour. Without it nothing changes: if it was not you, do nothing.
"""
_USED = "This link is unknown, was used, or is older than one hour."


def routes(pages: Pages) -> list[Route]:
    """The routes."""
    visitors = pages.visitors

    async def forgotten(request: Request) -> Response:
        if request.method != "POST":
            return shown(
                None, "", "forgotten_password.html", "Forgot the password?", {"mails": visitors.mailer is not None}
            )
        visitors.check_origin(request)
        email, now_ms = one(await read_form(request), "email"), visitors.services.clock.now_ms()
        limit = visitors.attempts.of_address(address_of(request), now_ms)
        if limit is not None:
            words = "Too many attempts came from this address. Wait a minute."
            found = said(None, "Not done", words, status=429, back=(LOGIN_PATH, "Back"))
            found.headers.update(limit.refusal_headers(now_ms))
            return found
        where = "goes to it" if visitors.mailer is not None else "is on the terminal of the service, for who runs it"
        words = f"If there is a user with this address, a link {where}. It works once, for one hour."
        found = said(None, "Look for the link", words, status=200, tone="good", back=(LOGIN_PATH, "To the login"))
        found.background = BackgroundTask(_make_link, visitors, email)
        return found

    async def reset(request: Request) -> Response:
        if request.method != "POST":
            return code_page(RESET_PATH, "Set a new password")
        visitors.check_origin(request)
        fields = await read_form(request)
        code, services = one(fields, "code"), visitors.services
        try:
            who = await services.database.read(passwords.whose_link, code, services.clock.now_ms())
            context = {"code": code, "email": who.email, "shortest": SHORTEST, "longest": LONGEST}
            context |= {"fault": "", "fault_again": ""}
            if "new_password" not in fields:
                return shown(None, "", "reset_password.html", "Set a new password", context)
            new, faults = new_password_of(fields, who.email)
            if faults:
                return shown(None, "", "reset_password.html", "Set a new password", {**context, **faults}, status=400)
            given = (services.ids, code, await visitors.hashing.hashed(new), services.clock.now_ms())
            await services.database.write(passwords.set_by_link, *given)
        except passwords.LinkRefused:
            return wrong_code(visitors, request, RESET_PATH, "Set a new password", _USED)
        words = "The password is set, and all your sessions have ended. Log in with it."
        return said(None, "Done", words, status=200, tone="good", back=(LOGIN_PATH, "Log in"))

    return [pages.open_route(PATH, forgotten), pages.open_route(RESET_PATH, reset)]


async def _make_link(visitors: Visitors, email: str) -> None:
    """Makes a link for the user with an address, if there is one, and sends or shows it."""
    services = visitors.services
    now_ms, show = services.clock.now_ms(), services.terminal.show
    if visitors.mailer is None and show is None:
        return
    if not visitors.attempts.of_link(fingerprint(email.lower()), now_ms):
        return
    try:
        with services.database.limited():
            code = await services.database.write(passwords.make_password_link, email, now_ms)
        if code is None:
            return
        link = f"{services.own_address.root}{RESET_PATH}#{code}"
        if visitors.mailer is not None:
            await visitors.mailer.send(email.lower(), "Set a new password", _MAIL.format(link=link))
        elif show is not None:
            show(f"Somebody forgot the password of {email.lower()}. To set a new one, within one hour: {link}")
    except MailFailed as failed:
        log.warning("a link for a forgotten password was not sent: %s", failed)
    except Refusal as refused:
        log.warning("a link for a forgotten password was not made: %s", refused.problem.code)


def address_of(request: Request) -> str | None:
    """The address that a request comes from."""
    return None if request.client is None else request.client.host


def code_page(path: str, title: str, refused: str = "", *, status: int = 200) -> Response:
    """The page that takes the code behind the # of a link."""
    return shown(None, "", "link_code.html", title, {"path": path, "refused": refused}, status=status)


def wrong_code(visitors: Visitors, request: Request, path: str, title: str, words: str) -> Response:
    """What a wrong code is answered with. Those of one address are counted."""
    now_ms = visitors.services.clock.now_ms()
    limit = visitors.attempts.of_address(address_of(request), now_ms)
    if limit is None:
        return code_page(path, title, words, status=401)
    found = code_page(path, title, "Too many wrong codes came from this address. Wait a minute.", status=429)
    found.headers.update(limit.refusal_headers(now_ms))
    return found


def new_password_of(fields: Mapping[str, list[str]], email: str | None) -> tuple[str, dict[str, str]]:
    """A new password that was typed twice, as it is hashed, and what is wrong with it."""
    try:
        new = checked_password(as_typed(fields, "new_password"), email)
    except AccountError as refused:
        return "", {"fault": sentence(refused)}
    if new != normalized(as_typed(fields, "again")):
        return "", {"fault_again": "This is not the same password."}
    return new, {}
