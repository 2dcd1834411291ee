"""An invitation is accepted: somebody new sets name and password, a user who is known joins while logged in."""

from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from callwright.service.accounts import invitations, sessions
from callwright.service.accounts.errors import AccountError, sentence
from callwright.service.accounts.password_rules import LONGEST, SHORTEST
from callwright.service.dashboard.pages.accounts.forgotten_password import code_page, new_password_of, wrong_code
from callwright.service.dashboard.serving import Pages, said, shown
from callwright.service.dashboard.session_cookie import set_cookie
from callwright.service.dashboard.visitors import check_token, one, read_form

PATH = "/invitation"
_TITLE = "Invitation"
_ORGANIZATIONS = "/settings/session"
_USED = "This invitation is unknown, was used or withdrawn, or is older than 7 days. Ask for another one."


def routes(pages: Pages) -> list[Route]:
    """The routes."""
    visitors = pages.visitors
    services = visitors.services

    async def invitation(request: Request) -> Response:
        if request.method != "POST":
            return code_page(PATH, _TITLE)
        visitors.check_origin(request)
        fields, visitor = await read_form(request), await visitors.visitor(request)
        code, name = one(fields, "code"), one(fields, "name")
        try:
            found = await services.database.read(invitations.invitation_of, code, services.clock.now_ms())
            known = await services.database.read(invitations.known_user, found.email)
            context = {
                "code": code,
                "invitation": found,
                "is_known": known is not None,
                "is_self": visitor is not None and visitor.user_id == known,
                "name": name,
                "fault_name": "",
                "fault": "",
                "fault_again": "",
                "shortest": SHORTEST,
                "longest": LONGEST,
            }
            if "accepts" not in fields:
                return shown(visitor, "", "invitation.html", _TITLE, context)
            if visitor is not None:
                check_token(fields, visitor)
            new_hash = None
            if known is None:
                new, faults = new_password_of(fields, found.email)
                if faults:
                    return shown(visitor, "", "invitation.html", _TITLE, {**context, **faults}, status=400)
                new_hash = await visitors.hashing.hashed(new)
            as_user = None if visitor is None else visitor.user_id
            accept = partial(invitations.accept, name=name, new_hash=new_hash, as_user=as_user)
            try:
                given = (services.ids, code, services.clock.now_ms())
                org_id, user_id, is_new = await services.database.write(accept, *given)
            except invitations.LoginNeeded:
                context |= {"is_known": True, "is_self": False}
                return shown(visitor, "", "invitation.html", _TITLE, context, status=403)
            except AccountError as refused:
                words = {"fault_name": sentence(refused)}
                return shown(visitor, "", "invitation.html", _TITLE, {**context, **words}, status=400)
        except invitations.InvitationRefused:
            return wrong_code(visitors, request, PATH, _TITLE, _USED)
        welcome = f"You are in {found.org_name}, as {found.role}."
        if not is_new:
            return said(visitor, _TITLE, welcome, status=200, tone="good", back=(_ORGANIZATIONS, "Your organizations"))
        now_ms = services.clock.now_ms()
        made = await services.database.write(sessions.begin, services.ids, org_id, user_id, now_ms)
        answer = said(None, _TITLE, welcome, status=200, tone="good", back=("/campaigns", "To the campaigns"))
        set_cookie(services, answer, made.secret)
        return answer

    return [pages.open_route(PATH, invitation)]
