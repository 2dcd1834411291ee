"""Passkeys of who is logged in, and logging in with one."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from callwright.service.accounts import passkeys, sessions
from callwright.service.accounts.errors import AccountError, sentence
from callwright.service.accounts.passkeys import PasskeyRefused
from callwright.service.dashboard.html import rendering
from callwright.service.dashboard.pages.accounts.login import login_page, own_address
from callwright.service.dashboard.relying_party import NoPasskeys, possible, relying_party
from callwright.service.dashboard.serving import Pages, said, shown
from callwright.service.dashboard.session_cookie import set_cookie
from callwright.service.dashboard.visitors import LOGIN_PATH, FormRefused, Visitor, Visitors, one, read_form
from callwright.service.platform.clock.clock import iso_milliseconds
from callwright.service.platform.refusals import Refusal
from callwright.service.rest.authentication.auth_throttle import FailedAttempts
from callwright.service.services import Services

HERE = "/settings/account/passkeys"
_TOO_MANY = "Too many attempts came from this address. Wait a minute."


def routes(pages: Pages) -> list[Route]:
    """The routes."""
    services, login = pages.visitors.services, PasskeyLogin(pages.visitors)
    database = services.database

    async def own(request: Request, visitor: Visitor) -> Response:
        if request.method != "POST":
            return await show(request, visitor)
        fields = await pages.visitors.form(request, visitor)
        name, answer = one(fields, "name"), one(fields, "credential")
        now_ms, by = services.clock.now_ms(), (visitor.org_id, visitor.user_id)
        try:
            party = relying_party(services, request)
            passkeys.checked_passkey_name(name)
            challenge = await database.write(passkeys.use_challenge, answer, visitor.user_id, now_ms)
            await database.write(passkeys.add, services.ids, by, name, answer, challenge, party, now_ms)
        except (PasskeyRefused, AccountError, NoPasskeys) as refused:
            words = sentence(refused)
            return await show(request, visitor, refused=words, name=name, status=409)
        return RedirectResponse(HERE, 303)

    async def show(request: Request, visitor: Visitor, *, status: int = 200, **more: str) -> Response:
        context = {**await passkeys_context(services, request, visitor), **more}
        return shown(visitor, "", "passkeys.html", "Passkeys", context, status=status)

    async def options(request: Request, visitor: Visitor) -> Response:
        await pages.visitors.form(request, visitor)
        try:
            party = relying_party(services, request)
            given = (visitor.user_id, party, services.clock.now_ms())
            text = await database.write(passkeys.challenge_to_add, *given)
        except (AccountError, NoPasskeys) as refused:
            return _words(sentence(refused), 409)
        return Response(text, headers=rendering.HEADERS, media_type="application/json")

    async def remove(request: Request, visitor: Visitor) -> Response:
        found = await database.read(passkeys.passkeys_of, visitor.user_id)
        wanted = next((row for row in found if row.id == request.path_params["id"]), None)
        if wanted is None:
            return said(visitor, "Not here", "You have no such passkey.", status=404, back=(HERE, "To your passkeys"))
        if request.method != "POST":
            return shown(visitor, "", "passkey_remove.html", "Remove a passkey", {"passkey": _shown(wanted)})
        await pages.visitors.form(request, visitor)
        by = (visitor.org_id, visitor.user_id)
        await database.write(passkeys.remove, services.ids, by, wanted.id, services.clock.now_ms())
        return RedirectResponse(HERE, 303)

    return [
        pages.route(HERE, own, methods=("GET", "POST"), here=HERE),
        pages.route(f"{HERE}/options", options, methods=("POST",), here=HERE),
        pages.route(HERE + "/{id}/remove", remove, methods=("GET", "POST"), here=HERE),
        Route(f"{LOGIN_PATH}/passkey/options", login.options, methods=["POST"]),
        Route(f"{LOGIN_PATH}/passkey", login.enter, methods=["POST"]),
    ]


async def passkeys_context(services: Services, request: Request, visitor: Visitor) -> Mapping[str, Any]:
    """What `passkeys_section.html` shows: the passkeys of a user, and whether others can be added at this address."""
    found = await services.database.read(passkeys.passkeys_of, visitor.user_id)
    context = {"passkeys": [_shown(row) for row in found], "most_passkeys": passkeys.MOST_PASSKEYS}
    return {**context, **possible(services, request), "refused": "", "name": ""}


class PasskeyLogin:
    """Logging in with a passkey. Challenges and wrong answers of an address are counted, as wrong keys are."""

    def __init__(self, visitors: Visitors) -> None:
        self._visitors, self._services = visitors, visitors.services
        self._asked, self._failed = FailedAttempts(), FailedAttempts()

    async def options(self, request: Request) -> Response:
        """A challenge, as JSON."""
        services = self._services
        now_ms = services.clock.now_ms()
        if self._is_beyond(self._asked, request, now_ms):
            return _words(_TOO_MANY, 429)
        try:
            self._visitors.check_origin(request)
            party = relying_party(services, request)
            with services.database.limited():
                text = await services.database.write(passkeys.challenge_to_log_in, party, now_ms)
        except FormRefused as refused:
            return _words(str(refused), 403)
        except NoPasskeys as refused:
            return _words(str(refused), 409)
        except Refusal as refusal:
            return _words(refusal.message, refusal.problem.status)
        return Response(text, headers=rendering.HEADERS, media_type="application/json")

    async def enter(self, request: Request) -> Response:
        """Begins a session with a browser's answer to a challenge."""
        services, database = self._services, self._services.database
        now_ms, target = services.clock.now_ms(), ""
        show = partial(login_page, services, request)
        try:
            self._visitors.check_origin(request)
            fields = await read_form(request)
            answer, target = one(fields, "credential"), own_address(one(fields, "next"))
            party = relying_party(services, request)
            with database.limited():
                challenge = await database.write(passkeys.use_challenge, answer, None, now_ms)
                made = await database.write(passkeys.log_in, services.ids, answer, challenge, party, now_ms)
        except FormRefused as refused:
            return said(None, "Not done", str(refused), status=403, back=(LOGIN_PATH, "Back"))
        except (PasskeyRefused, sessions.LoginRefused, NoPasskeys) as refused:
            if self._is_beyond(self._failed, request, now_ms):
                return show(target, _TOO_MANY, status=429)
            words = str(refused) or "The user of this passkey is in no organization any more."
            return show(target, words, status=401)
        except Refusal as refusal:
            return show("", refusal.message, status=refusal.problem.status)
        found = RedirectResponse(target, 303)
        set_cookie(services, found, made.secret)
        return found

    def _is_beyond(self, attempts: FailedAttempts, request: Request, now_ms: int) -> bool:
        return request.client is not None and attempts.note(request.client.host, now_ms) is not None


def _words(text: str, status: int) -> Response:
    return JSONResponse({"message": text}, status, rendering.HEADERS)


def _shown(row: Any) -> dict[str, Any]:
    used = None if row.last_used_at is None else iso_milliseconds(row.last_used_at)
    return {"id": row.id, "name": row.name, "added_at": iso_milliseconds(row.created_at), "last_used_at": used}
