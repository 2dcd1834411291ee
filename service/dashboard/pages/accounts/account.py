"""Your account: name, e-mail address, and the password with which one logs in beside links."""

from functools import partial

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from callwright.service.accounts import memberships, passwords
from callwright.service.accounts.errors import AccountError, sentence
from callwright.service.accounts.password_rules import LONGEST, SHORTEST, checked_password, normalized
from callwright.service.dashboard.serving import Pages, shown
from callwright.service.dashboard.visitors import Visitor, as_typed, one
from callwright.service.platform.clock.clock import iso_milliseconds

PATH = "/settings/account"
_CHANGED = "The password was changed in between. Open the page again."


def routes(pages: Pages) -> list[Route]:
    """The routes."""
    visitors = pages.visitors
    services, hashing, attempts = visitors.services, visitors.hashing, visitors.attempts

    async def show(
        visitor: Visitor,
        *,
        fault: tuple[str, str] = ("", ""),
        done: str = "",
        name: str | None = None,
        status: int = 200,
    ) -> Response:
        at = await services.database.read(passwords.changed_at, visitor.user_id)
        context = {
            "name": visitor.user_name if name is None else name,
            "password_at": None if at is None else iso_milliseconds(at),
            "fault_field": fault[0],
            "fault": fault[1],
            "done": done,
            "shortest": SHORTEST,
            "longest": LONGEST,
        }
        return shown(visitor, PATH, "account.html", "Your account", context, status=status)

    async def rename(request: Request, visitor: Visitor) -> Response:
        fields = await visitors.form(request, visitor)
        name = one(fields, "name")
        try:
            given = (services.ids, visitor.user_id, name, services.clock.now_ms())
            await services.database.write(memberships.rename_user, *given)
        except AccountError as refused:
            fault = ("name", sentence(refused))
            return await show(visitor, fault=fault, name=name, status=400)
        return RedirectResponse(PATH, 303)

    async def account(request: Request, visitor: Visitor) -> Response:
        if request.method != "POST":
            return await show(visitor)
        fields = await visitors.form(request, visitor)
        former = await services.database.read(passwords.hash_of, visitor.user_id)
        try:
            new = checked_password(as_typed(fields, "new_password"), visitor.email)
        except AccountError as refused:
            return await show(visitor, fault=("new_password", sentence(refused)), status=400)
        if new != normalized(as_typed(fields, "again")):
            return await show(visitor, fault=("again", "This is not the same password."), status=400)
        if former is not None:
            now_ms = services.clock.now_ms()
            limit = attempts.of_account(visitor.user_id, now_ms)
            if limit is not None:
                words = "Too many wrong passwords. Wait some minutes."
                return await show(visitor, fault=("old_password", words), status=429)
            if not await hashing.matches(as_typed(fields, "old_password"), former):
                return await show(visitor, fault=("old_password", "This is not your password."), status=401)
            attempts.right(visitor.user_id)
        new_hash = await hashing.hashed(new)
        write = partial(passwords.set_password, former_hash=former, kept_session_id=visitor.session_id)
        given = (services.ids, visitor.user_id, new_hash, services.clock.now_ms())
        try:
            ended = await services.database.write(write, *given)
        except passwords.PasswordChanged:
            return await show(visitor, fault=("old_password", _CHANGED), status=409)
        others = {0: "", 1: " Your other session has ended."}.get(ended, f" Your {ended} other sessions have ended.")
        return await show(visitor, done=f"The password is set.{others}")

    return [
        pages.route(PATH, account, methods=("GET", "POST"), here=PATH),
        pages.route(f"{PATH}/name", rename, methods=("POST",), here=PATH),
    ]
