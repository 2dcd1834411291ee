"""Principals: an API key of an organization, a user with a personal key or a session of the dashboard, or the system.

A secret is a prefix and 48 hexadecimal characters; only its SHA-256 is stored. REST accepts keys that begin with
`svc_live_`. A key that begins with `svc_mcp_` belongs to a person, and what begins with `svc_ses_` is a session of the
dashboard: the request pipeline accepts these only from the tool server and the dashboard in the same process, which
pass them in the ASGI scope of the request.
"""

import hashlib
import secrets
from dataclasses import dataclass, field
from typing import Literal

from callwright.service.rules.organization_plans import PricePlan

KeyKind = Literal["live", "personal"]
SecretKind = Literal["live", "personal", "session"]
Creator = Literal["with_email", "without_email"]
Role = Literal["owner", "member", "viewer"]

PREFIX = "svc_live_"
PERSONAL_PREFIX = "svc_mcp_"
SESSION_PREFIX = "svc_ses_"
PREFIXES: dict[SecretKind, str] = {"live": PREFIX, "personal": PERSONAL_PREFIX, "session": SESSION_PREFIX}
IDENTITY_LENGTH = 16
"""The first characters of a key that are shown, so that people can recognise it."""
IN_PROCESS_KEY = "callwright.in_process_key"
"""The key of a request's ASGI scope under which the tool server and the dashboard pass an `InProcessKey`."""


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

    @property
    def counted_as(self) -> str:
        """Whose requests are counted together, and whose idempotency keys are the same."""
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


@dataclass(frozen=True, kw_only=True)
class SessionPrincipal:
    """A user who is logged in to the dashboard, in the organization that the session shows. `role` is that in it."""

    session_id: str
    user_id: str
    org_id: str
    plan: PricePlan
    role: Role
    creator: Creator
    key_id: None = None
    profile: None = None
    spending_cap_micros: None = None

    @property
    def actor(self) -> str:
        """The user, as the audit log names them."""
        return self.user_id

    @property
    def counted_as(self) -> str:
        """As for a key: all sessions of a user count together."""
        return self.user_id


@dataclass(frozen=True)
class SystemPrincipal:
    """A part of the system, which acts in any organization without a key.

    `actor` is its name in the audit log.
    """

    actor: Literal["platform", "operator"]
    user_id: None = None
    key_id: None = None
    spending_cap_micros: None = None


@dataclass(frozen=True)
class UserActor:
    """A user as the actor of an audit entry, for what no operation does: log in, make a key."""

    user_id: str

    @property
    def actor(self) -> str:
        """The user, as the audit log names them."""
        return self.user_id


KeyPrincipal = ApiKeyPrincipal | UserPrincipal
RequestPrincipal = KeyPrincipal | SessionPrincipal
"""Who sends a request to an operation."""
Principal = RequestPrincipal | SystemPrincipal

SERVICE = SystemPrincipal("platform")
"""The service itself: the dialler, webhook deliveries and periodic tasks."""
COMMAND_LINE = SystemPrincipal("operator")
"""A person who uses the commands of the installation."""


@dataclass(frozen=True)
class InProcessKey:
    """A key that the tool server in this process has checked, or the session of a page.

    It is trusted because of its type: what comes over the network is in the scope as text and bytes, and cannot be an
    object of this class.
    """

    secret: str = field(repr=False)


def new_secret(kind: SecretKind = "live") -> str:
    """A fresh key, or the secret of a session."""
    return PREFIXES[kind] + secrets.token_hex(24)


def fingerprint(secret: str) -> str:
    """The hash of a key, which is stored in its place."""
    return hashlib.sha256(secret.encode()).hexdigest()
