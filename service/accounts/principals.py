"""Principals: an API key of an organization, a user with a personal key, or the system itself.

A key is a prefix and 48 hexadecimal characters; only its SHA-256 is stored. REST accepts keys that begin with
`svc_live_`. A key that begins with `svc_mcp_` belongs to a person: the request pipeline accepts it only from the tool
server in the same process, which passes it in the ASGI scope of the request.
"""

import hashlib
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

from sqlalchemy import Connection, String, bindparam, case, literal_column, select

from callwright.contract.declaration.operation import CreatorBound
from callwright.contract.problems import API_KEY_OWNER_REQUIRED, API_KEY_REQUIRED, INVALID_API_KEY
from callwright.service.platform.database.prepared import Prepared
from callwright.service.platform.refusals import Refusal
from callwright.service.rules.organization_plans import NEGOTIABLE, PricePlan, plan_of
from callwright.service.tables.schema import api_keys, memberships, organizations, users

KeyKind = Literal["live", "personal"]
Creator = Literal["with_email", "without_email"]

PREFIX = "svc_live_"
PERSONAL_PREFIX = "svc_mcp_"
PREFIXES: dict[KeyKind, str] = {"live": PREFIX, "personal": PERSONAL_PREFIX}
_PERSONAL = (
    f"This is a personal key ({PERSONAL_PREFIX}…), which works for the MCP server alone; "
    f"REST needs an API key that begins with {PREFIX}."
)
_FORM = re.compile(r"svc_(live|mcp)_[0-9a-f]{48}")
IDENTITY_LENGTH = 16
"""The first characters of a key that are shown, so that people can recognise it."""
IN_PROCESS_KEY = "callwright.in_process_key"
"""The key of a request's ASGI scope under which the tool server passes an `InProcessKey`."""

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


@dataclass(frozen=True, kw_only=True)
class _ByKey:
    """A principal with a key of an organization.

    `spending_cap_micros` is the most that the key may commit; None if only the wallet limits it. `creator` says whether
    the user who made the key has an e-mail address; None when that user is no longer in the organization.
    """

    key_id: str
    org_id: str
    plan: PricePlan
    spending_cap_micros: int | None = None
    creator: Creator | None = None

    @property
    def actor(self) -> str:
        """The key, as the audit log names it."""
        return self.key_id


@dataclass(frozen=True, kw_only=True)
class ApiKeyPrincipal(_ByKey):
    """An API key, which acts for its organization."""

    user_id: None = None
    profile: None = None


@dataclass(frozen=True, kw_only=True)
class UserPrincipal(_ByKey):
    """A user who acts with a personal key, within its limits. `profile` names the set of tools that are offered."""

    user_id: str
    profile: str | None


@dataclass(frozen=True)
class SystemPrincipal:
    """A part of the system, which acts in any organization without a key.

    `actor` is its name in the audit log.
    """

    actor: Literal["platform", "operator"]
    user_id: None = None
    key_id: None = None
    spending_cap_micros: None = None


KeyPrincipal = ApiKeyPrincipal | UserPrincipal
Principal = KeyPrincipal | SystemPrincipal

SERVICE = SystemPrincipal("platform")
"""The service itself: the dialler, webhook deliveries and periodic tasks."""
COMMAND_LINE = SystemPrincipal("operator")
"""A person who uses the commands of the installation."""


@dataclass(frozen=True)
class InProcessKey:
    """A key that the tool server in this process has checked.

    It is trusted because of its type: what comes over the network is in the scope as text and bytes, and cannot be an
    object of this class.
    """

    secret: str = field(repr=False)


def new_secret(kind: KeyKind = "live") -> str:
    """A fresh key."""
    return PREFIXES[kind] + secrets.token_hex(24)


def fingerprint(secret: str) -> str:
    """The hash of a key, which is stored in its place."""
    return hashlib.sha256(secret.encode()).hexdigest()


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


def identify(connection: Connection, secret: str, *, writes: bool = False, alone: bool = False) -> KeyPrincipal:
    """The principal of a key of either kind. With `writes` the key cannot be revoked before the transaction ends; with
    `alone` other writes with the key wait until then too.

    Raises:
        Refusal: invalid_api_key when it is unknown or revoked.
    """
    if not _FORM.fullmatch(secret):
        raise Refusal(INVALID_API_KEY)
    row = (_SPENDING if alone else _WRITING if writes else _READING).first(connection, {"hash": fingerprint(secret)})
    if row is None:
        raise Refusal(INVALID_API_KEY)
    return _principal(row)


@lru_cache(maxsize=1_000)
def _principal(row: Any) -> KeyPrincipal:
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


def check_creator(principal: KeyPrincipal, needs: CreatorBound, action_url: str) -> None:
    """Raises `Refusal`: api_key_owner_required unless the user who made the key is still in the organization, and has
    an e-mail address if `needs` says so."""
    if principal.creator is None:
        said = "The user who made this API key is no longer in the organization."
    elif needs == "member_with_email" and principal.creator == "without_email":
        said = "The user who made this API key has no e-mail address on file."
    else:
        return
    raise Refusal(API_KEY_OWNER_REQUIRED, said, details={"action_url": action_url})
