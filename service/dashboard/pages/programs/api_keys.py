"""Settings, API keys: made (shown once), listed by their first 16 characters, revoked for good.

Only owners make and revoke them. Specification: Authentication, 2, 4, 9, 10.
"""

from functools import partial
from typing import Any

from sqlalchemy import Row
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from callwright.service import accounts
from callwright.service.accounts.api_keys import PROFILES
from callwright.service.accounts.embedded import EMBEDDED_LABEL
from callwright.service.accounts.errors import sentence
from callwright.service.accounts.principals import UserActor
from callwright.service.dashboard import forms_sent_once
from callwright.service.dashboard.host_snippets import snippets
from callwright.service.dashboard.pages.accounts.login import login_page
from callwright.service.dashboard.serving import Pages, said, shown
from callwright.service.dashboard.visitors import Visitor, dollars, one
from callwright.service.platform.clock.clock import iso_milliseconds
from callwright.service.platform.money import money
from callwright.service.rest.transaction import ACTION_PATH

_PROFILE_WORDS = {
    "analyst": "analyst: only reads",
    "operator": "operator: also runs campaigns and calls",
    "builder": "builder: also makes agents, audiences and campaigns",
    "all": "all",
}
"""What the tools of a profile do."""
_KINDS = ("live", "personal")


def routes(pages: Pages) -> list[Route]:
    """The routes."""
    database, services = pages.visitors.services.database, pages.visitors.services

    async def keys(request: Request, visitor: Visitor) -> Response:
        if request.method != "POST":
            return await show(visitor)
        fields = await pages.visitors.form(request, visitor)
        if not visitor.is_owner:
            return _only_owners(visitor)
        kind = one(fields, "kind")
        given = {name: one(fields, name) for name in ("label", "profile", "spending_cap")}
        personal: dict[str, Any] = {}
        try:
            if kind not in _KINDS:
                raise accounts.AccountError("choose what the key is for")
            if kind == "personal":
                cap = given["spending_cap"]
                personal = {
                    "profile": given["profile"],
                    "spending_cap_micros": dollars(cap, "the spending cap") if cap else None,
                }
            make = partial(accounts.create_personal_key, **personal) if kind == "personal" else accounts.create_key
            by = UserActor(visitor.user_id)
            write = partial(make, created_by_user_id=visitor.user_id, by=by, once=forms_sent_once.key_of(fields))
            made = await database.write(write, services.ids, visitor.org_id, given["label"], services.clock.now_ms())
        except accounts.AccountError as error:
            fault = sentence(error)
            return await show(visitor, status=409, fault=fault, given={"kind": kind, **given})
        root = services.own_address.root
        return await show(visitor, secret=made.secret, hosts=snippets(root, made.secret, personal=kind == "personal"))

    async def show(visitor: Visitor, *, status: int = 200, **made: Any) -> Response:
        found = await database.read(accounts.keys_of, visitor.org_id)
        listed = [_shown(row) for row in found]
        active = sum(row["kind"] == "live" and row["revoked_at"] is None for row in listed)
        context = {
            "keys": listed,
            "active": active,
            "most": accounts.MAX_ACTIVE_KEYS,
            "profiles": [(one, _PROFILE_WORDS[one]) for one in PROFILES],
            "default_profile": accounts.DEFAULT_PROFILE,
            "secret": None,
            "hosts": (),
            "fault": None,
            "given": dict.fromkeys(("kind", "label", "profile", "spending_cap"), ""),
            "own_label": EMBEDDED_LABEL,
            "once": forms_sent_once.new_mark(),
            **made,
        }
        return shown(visitor, ACTION_PATH, "api_keys.html", "API keys", context, status=status)

    async def revoke(request: Request, visitor: Visitor) -> Response:
        key_id = request.path_params["id"]
        found = next((row for row in await database.read(accounts.keys_of, visitor.org_id) if row.id == key_id), None)
        if found is None:
            return said(visitor, "Not here", "There is no such key.", status=404, back=(ACTION_PATH, "To the keys"))
        if request.method != "POST":
            return shown(
                visitor,
                ACTION_PATH,
                "revoke_key.html",
                "Revoke a key",
                {"key": _shown(found), "own_label": EMBEDDED_LABEL},
            )
        await pages.visitors.form(request, visitor)
        if not visitor.is_owner:
            return _only_owners(visitor)
        write = partial(accounts.revoke_key, by=UserActor(visitor.user_id))
        await database.write(write, services.ids, key_id, services.clock.now_ms())
        return RedirectResponse(ACTION_PATH, 303)

    def logged_out(request: Request) -> Response:
        return login_page(pages.visitors.services, request, ACTION_PATH)

    return [
        pages.route(ACTION_PATH, keys, methods=("GET", "POST"), here=ACTION_PATH, logged_out=logged_out),
        pages.route(ACTION_PATH + "/{id}/revoke", revoke, methods=("GET", "POST"), here=ACTION_PATH),
    ]


def _only_owners(visitor: Visitor) -> Response:
    words = f"Only an owner of {visitor.org_name} makes and revokes keys. Your role is {visitor.role}."
    return said(visitor, "Not done", words, status=403, back=(ACTION_PATH, "To the keys"))


def _shown(row: Row[Any]) -> dict[str, Any]:
    def at(ms: int | None) -> str | None:
        return None if ms is None else iso_milliseconds(ms)

    return {
        "id": row.id,
        "identity": row.identity,
        "label": row.label,
        "kind": row.kind,
        "profile": row.profile,
        "cap": None if row.spending_cap_micros is None else money(row.spending_cap_micros).model_dump(),
        "maker": row.creator_email or row.creator_name,
        "maker_left": bool(row.has_creator_left),
        "created_at": at(row.created_at),
        "last_used_at": at(row.last_used_at),
        "revoked_at": at(row.revoked_at),
    }
