"""Whose key or session a request has, and what a missing, wrong, revoked or ended one is answered."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, String, bindparam, case, literal_column, select

from callwright.contract.declaration.operation import AnyOperation, CreatorBound
from callwright.contract.problems import (
    API_KEY_OWNER_REQUIRED,
    API_KEY_REQUIRED,
    FORBIDDEN,
    INVALID_API_KEY,
    NOT_AUTHENTICATED,
)
from callwright.service.accounts.memberships import OWNER, VIEWER
from callwright.service.accounts.principals import (
    IN_PROCESS_KEY,
    PERSONAL_PREFIX,
    PREFIX,
    SESSION_PREFIX,
    ApiKeyPrincipal,
    InProcessKey,
    RequestPrincipal,
    SessionPrincipal,
    UserPrincipal,
    fingerprint,
)
from callwright.service.platform.database.prepared import Prepared
from callwright.service.platform.refusals import Refusal
from callwright.service.rules.organization_plans import NEGOTIABLE, plan_of
from callwright.service.tables.schema import api_keys, dashboard_sessions, memberships, organizations, users

_PERSONAL = (
    f"This is a personal key ({PERSONAL_PREFIX}…), which works for the MCP server alone; "
    f"REST needs an API key that begins with {PREFIX}."
)
_FORM = re.compile(r"svc_(live|mcp|ses)_[0-9a-f]{48}")

# Literals, because every request runs this statement and each parameter takes time.
_NOTHING, _WITH, _WITHOUT = (literal_column(f"'{word}'", type_=String) for word in ("", "with_email", "without_email"))
_CREATOR = (
    select(case((users.c.email > _NOTHING, _WITH), else_=_WITHOUT))
    .join(memberships, (memberships.c.user_id == users.c.id) & memberships.c.left_at.is_(None))
    .where(
        users.c.id == api_keys.c.created_by_user_id,
        memberships.c.org_id == api_keys.c.org_id,
        users.c.deleted_at.is_(None),
    )
    .scalar_subquery()
)
_FIND = (
    select(
        *(api_keys.c.id, api_keys.c.org_id, api_keys.c.kind, api_keys.c.profile, api_keys.c.spending_cap_micros),
        *(api_keys.c.created_by_user_id, organizations.c.plan, *(organizations.c[name] for name in NEGOTIABLE)),
        _CREATOR.label("creator"),
    )
    .join(organizations, organizations.c.id == api_keys.c.org_id)
    .where(api_keys.c.hash == bindparam("hash"), api_keys.c.revoked_at.is_(None))
)
# A revocation waits for a write with the key, so that no write is committed with a revoked key. SQLite has one writer
# anyway.
_READING, _WRITING = Prepared(_FIND), Prepared(_FIND.with_for_update(read=True, of=api_keys))
# Writes of a key with a spending cap run one after the other, because what each commits is added up. It is the first
# lock that they take.
_SPENDING = Prepared(_FIND.with_for_update(of=api_keys))

_SESSION = (
    select(
        *(dashboard_sessions.c.id.label("session_id"), dashboard_sessions.c.user_id, dashboard_sessions.c.org_id),
        *(memberships.c.role, organizations.c.plan, *(organizations.c[name] for name in NEGOTIABLE)),
        case((users.c.email > _NOTHING, _WITH), else_=_WITHOUT).label("creator"),
    )
    .join(users, (users.c.id == dashboard_sessions.c.user_id) & users.c.deleted_at.is_(None))
    .join(
        memberships,
        (memberships.c.user_id == dashboard_sessions.c.user_id)
        & (memberships.c.org_id == dashboard_sessions.c.org_id)
        & memberships.c.left_at.is_(None),
    )
    .join(organizations, organizations.c.id == dashboard_sessions.c.org_id)
    .where(dashboard_sessions.c.hash == bindparam("hash"))
)
# Who logs out, or leaves the organization, waits for a write of the session.
_READING_SESSION = Prepared(_SESSION)
_WRITING_SESSION = Prepared(_SESSION.with_for_update(read=True, of=(dashboard_sessions, memberships)))

_OWNER = (
    select(memberships.c.user_id)
    .join(
        api_keys,
        (api_keys.c.created_by_user_id == memberships.c.user_id) & (api_keys.c.org_id == memberships.c.org_id),
    )
    .where(api_keys.c.id == bindparam("key"), memberships.c.role == OWNER, memberships.c.left_at.is_(None))
)
"""The user who made a key, if that is an owner of its organization. Few operations ask, so `_FIND` does not."""


def bearer(header: str | None) -> str:
    """The key in an Authorization header. Raises `Refusal`: api_key_required unless it begins with `svc_live_`."""
    scheme, _, token = (header or "").partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not token.startswith(PREFIX):
        raise Refusal(API_KEY_REQUIRED, _PERSONAL if token.startswith(PERSONAL_PREFIX) else "")
    return token


def in_process_key(scope: Mapping[str, Any]) -> str | None:
    """The key that the tool server in this process passed; None for a request from the network."""
    handed: object = scope.get(IN_PROCESS_KEY)
    return handed.secret if isinstance(handed, InProcessKey) else None


def identify(connection: Connection, secret: str, *, writes: bool = False, alone: bool = False) -> RequestPrincipal:
    """The principal of a key of either kind, or of a session. With `writes` the key cannot be revoked, nor the session
    end, before the transaction ends; with `alone` other writes with the key wait until then too.

    Whether the time of a session is over is the dashboard's to look at, with every page.

    Raises:
        Refusal: invalid_api_key when it is unknown or revoked, not_authenticated when the session has ended.
    """
    if not _FORM.fullmatch(secret):
        raise Refusal(INVALID_API_KEY)
    if secret.startswith(SESSION_PREFIX):
        row = (_WRITING_SESSION if writes else _READING_SESSION).first(connection, {"hash": fingerprint(secret)})
        if row is None:
            raise Refusal(NOT_AUTHENTICATED)
        return _session(row)
    row = (_SPENDING if alone else _WRITING if writes else _READING).first(connection, {"hash": fingerprint(secret)})
    if row is None:
        raise Refusal(INVALID_API_KEY)
    return _principal(row)


def check_role(principal: RequestPrincipal, operation: AnyOperation) -> None:
    """Raises `Refusal`: forbidden for a write of a user who may only look."""
    if operation.writes and isinstance(principal, SessionPrincipal) and principal.role == VIEWER:
        raise Refusal(FORBIDDEN, "Your role in this organization is viewer, which changes nothing.")


@lru_cache(maxsize=1_000)
def _principal(row: Any) -> RequestPrincipal:
    given: dict[str, Any] = {
        "key_id": row.id,
        "org_id": row.org_id,
        "plan": plan_of(row),
        "spending_cap_micros": row.spending_cap_micros,
        "creator": row.creator,
    }
    if row.kind == "personal":
        return UserPrincipal(**given, user_id=row.created_by_user_id, profile=row.profile)
    return ApiKeyPrincipal(**given)


@lru_cache(maxsize=1_000)
def _session(row: Any) -> RequestPrincipal:
    return SessionPrincipal(
        session_id=row.session_id,
        user_id=row.user_id,
        org_id=row.org_id,
        plan=plan_of(row),
        role=row.role,
        creator=row.creator,
    )


def check_creator(connection: Connection, principal: RequestPrincipal, needs: CreatorBound, action_url: str) -> None:
    """Raises `Refusal`: api_key_owner_required unless the user who made the key is still in the organization, and has
    an e-mail address or is an owner if `needs` says so; forbidden where that user is logged in."""
    if isinstance(principal, SessionPrincipal):
        if needs == "member_with_email" and principal.creator == "without_email":
            raise Refusal(FORBIDDEN, "This needs your e-mail address, and there is none on file.")
        if needs == "owner" and principal.role != OWNER:
            raise Refusal(FORBIDDEN, "Only an owner of the organization does this.")
        return
    if principal.creator is None:
        said = "The user who made this API key is no longer in the organization."
    elif needs == "member_with_email" and principal.creator == "without_email":
        said = "The user who made this API key has no e-mail address on file."
    elif needs == "owner" and connection.execute(_OWNER, {"key": principal.key_id}).first() is None:
        said = "The user who made this API key is no owner of the organization."
    else:
        return
    raise Refusal(API_KEY_OWNER_REQUIRED, said, details={"action_url": action_url})
