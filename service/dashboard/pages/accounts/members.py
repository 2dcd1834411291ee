"""The people of an organization: who is in it, with which role, who is invited, and who goes.

Only owners change that; everybody may leave.
"""

from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from callwright.service import accounts
from callwright.service.accounts import invitations, passwords, people
from callwright.service.accounts.errors import AccountError, sentence
from callwright.service.accounts.memberships import MEMBER, ROLES, LastOwner
from callwright.service.accounts.principals import UserActor
from callwright.service.dashboard.pages.accounts.invitation import PATH as INVITATION_PATH
from callwright.service.dashboard.serving import Pages, said, shown
from callwright.service.dashboard.session_cookie import delete_cookie
from callwright.service.dashboard.visitors import LOGIN_PATH, Visitor, one
from callwright.service.platform.clock.clock import iso_milliseconds
from callwright.service.platform.outgoing.mail import MailFailed

PATH = "/settings/people"
_MAIL = """{inviter} invites you to {organization} on Callwright, as {role}.

{link}

The link works once, for 7 days. If you know nothing of this, do nothing.
"""
_LAST = "There must be an owner. Make somebody else an owner first."


def routes(pages: Pages) -> list[Route]:
    """The routes."""
    found = MemberPages(pages)
    both = ("GET", "POST")
    return [
        pages.route(PATH, found.people, methods=both, here=PATH),
        pages.route(f"{PATH}/invitations/{{id}}/withdraw", found.withdraw, methods=("POST",), here=PATH),
        pages.route(f"{PATH}/invitations/{{id}}/again", found.again, methods=("POST",), here=PATH),
        pages.route(f"{PATH}/{{id}}", found.person, here=PATH),
        pages.route(f"{PATH}/{{id}}/role", found.role, methods=("POST",), here=PATH),
        pages.route(f"{PATH}/{{id}}/remove", found.remove, methods=("POST",), here=PATH),
    ]


class MemberPages:
    """The pages of people and invitations."""

    def __init__(self, pages: Pages) -> None:
        self._visitors, self._services = pages.visitors, pages.visitors.services
        self._database = self._services.database

    async def people(self, request: Request, visitor: Visitor) -> Response:
        """Who is in the organization and who is invited; invites somebody."""
        if request.method != "POST":
            return await self._show(visitor)
        fields = await self._visitors.form(request, visitor)
        if not visitor.is_owner:
            return _only_owners(visitor)
        email, role = one(fields, "email"), one(fields, "role")
        write = partial(invitations.invite, by=UserActor(visitor.user_id))
        given = (self._services.ids, visitor.org_id, email, role, self._services.clock.now_ms())
        try:
            made = await self._database.write(write, *given)
        except AccountError as refused:
            fault = sentence(refused)
            return await self._show(visitor, status=400, email=email, chosen=role, fault=fault)
        return await self._send(visitor, made)

    async def again(self, request: Request, visitor: Visitor) -> Response:
        """Makes a new link of an invitation."""
        await self._visitors.form(request, visitor)
        if not visitor.is_owner:
            return _only_owners(visitor)
        write = partial(invitations.invite_again, by=UserActor(visitor.user_id))
        given = (self._services.ids, visitor.org_id, request.path_params["id"], self._services.clock.now_ms())
        return await self._send(visitor, await self._database.write(write, *given))

    async def withdraw(self, request: Request, visitor: Visitor) -> Response:
        """Ends an invitation."""
        await self._visitors.form(request, visitor)
        if not visitor.is_owner:
            return _only_owners(visitor)
        write = partial(invitations.withdraw, by=UserActor(visitor.user_id))
        given = (self._services.ids, visitor.org_id, request.path_params["id"], self._services.clock.now_ms())
        await self._database.write(write, *given)
        return RedirectResponse(PATH, 303)

    async def person(self, request: Request, visitor: Visitor) -> Response:
        """One person: role, keys, and what it means if they go."""
        return await self._show_person(request, visitor)

    async def role(self, request: Request, visitor: Visitor) -> Response:
        """Gives somebody another role."""
        fields = await self._visitors.form(request, visitor)
        if not visitor.is_owner:
            return _only_owners(visitor)
        write = partial(people.change_role, by=UserActor(visitor.user_id), revoked=fields.get("key_id", []))
        who, now_ms = request.path_params["id"], self._services.clock.now_ms()
        try:
            await self._database.write(write, self._services.ids, visitor.org_id, who, one(fields, "role"), now_ms)
        except LastOwner:
            return await self._show_person(request, visitor, refused=_LAST)
        return RedirectResponse(PATH, 303)

    async def remove(self, request: Request, visitor: Visitor) -> Response:
        """Takes somebody out of the organization, or lets the visitor leave it."""
        fields = await self._visitors.form(request, visitor)
        who, is_self = request.path_params["id"], request.path_params["id"] == visitor.user_id
        if not visitor.is_owner and not is_self:
            return _only_owners(visitor)
        write = partial(people.remove, by=UserActor(visitor.user_id), revoked=fields.get("key_id", []))
        given = (self._services.ids, visitor.org_id, who, self._services.clock.now_ms())
        try:
            await self._database.write(write, *given)
        except LastOwner:
            return await self._show_person(request, visitor, refused=_LAST)
        if not is_self:
            return RedirectResponse(PATH, 303)
        answer = RedirectResponse(LOGIN_PATH, 303)
        delete_cookie(self._services, answer)
        return answer

    async def _show(self, visitor: Visitor, *, status: int = 200, **given: Any) -> Response:
        now_ms = self._services.clock.now_ms()
        members = await self._database.read(accounts.users_of, visitor.org_id)
        with_password = await self._database.read(passwords.who_have_one, [row.id for row in members])
        invited = await self._database.read(invitations.open_invitations, visitor.org_id, now_ms)
        context = {
            "members": [
                {
                    "id": row.id,
                    "name": row.name,
                    "email": row.email,
                    "role": row.role,
                    "joined_at": iso_milliseconds(row.joined_at),
                    "has_password": row.id in with_password,
                }
                for row in members
            ],
            "invited": [
                {
                    "id": row.id,
                    "email": row.email,
                    "role": row.role,
                    "inviter": row.inviter,
                    "expires_at": iso_milliseconds(row.expires_at),
                }
                for row in invited
            ],
            "roles": ROLES,
            "chosen": MEMBER,
            "email": "",
            "fault": "",
            "link": None,
            "said": "",
            "said_tone": "good",
            "mails": self._visitors.mailer is not None,
            **given,
        }
        return shown(visitor, PATH, "members.html", "People", context, status=status)

    async def _send(self, visitor: Visitor, made: invitations.NewInvitation) -> Response:
        """Sends the link of an invitation, or shows it once where there is no mail, or the mail fails."""
        link = f"{self._services.own_address.root}{INVITATION_PATH}#{made.code}"
        mailer = self._visitors.mailer
        if mailer is None:
            words = f"Give this link to {made.email}. It is shown once, here, and works once, for 7 days."
            return await self._show(visitor, link=link, said=words)
        text = _MAIL.format(inviter=visitor.user_name, organization=visitor.org_name, role=made.role, link=link)
        try:
            with self._database.uncounted():
                await mailer.send(made.email, f"Invitation to {visitor.org_name}", text)
        except MailFailed as failed:
            words = f"The mail was not sent: {failed}. Give the link to {made.email} yourself; it is shown once, here."
            return await self._show(visitor, link=link, said=words, said_tone="bad")
        return await self._show(visitor, said=f"The invitation was sent to {made.email}. It is good for 7 days.")

    async def _show_person(self, request: Request, visitor: Visitor, *, refused: str = "") -> Response:
        who = request.path_params["id"]
        members = await self._database.read(accounts.users_of, visitor.org_id)
        found = next((row for row in members if row.id == who), None)
        if found is None or not (visitor.is_owner or who == visitor.user_id):
            return said(visitor, "Not here", "There is no such person.", status=404, back=(PATH, "To the people"))
        keys = await self._database.read(people.active_keys_of, visitor.org_id, who)
        context = {
            "person": found,
            "joined_at": iso_milliseconds(found.joined_at),
            "is_self": who == visitor.user_id,
            "keys": [{"id": row.id, "identity": row.identity, "label": row.label, "kind": row.kind} for row in keys],
            "roles": ROLES,
            "refused": refused,
        }
        return shown(visitor, PATH, "member.html", found.name, context, status=409 if refused else 200)


def _only_owners(visitor: Visitor) -> Response:
    words = f"Only an owner of {visitor.org_name} changes who is in it. Your role is {visitor.role}."
    return said(visitor, "Not done", words, status=403, back=(PATH, "To the people"))
