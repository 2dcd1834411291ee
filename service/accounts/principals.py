"""Principals: an API key of an organization, a user with a personal key, or the system itself.

A key is a prefix and 48 hexadecimal characters; only its SHA-256 is stored. REST accepts keys that begin with
`svc_live_`. A key that begins with `svc_mcp_` belongs to a person: the request pipeline accepts it only from the tool
server in the same process, which passes it in the ASGI scope of the request.
"""

import hashlib
import secrets
from dataclasses import dataclass, field
from typing import Literal

from callwright.service.rules.organization_plans import PricePlan

KeyKind = Literal["live", "personal"]
Creator = Literal["with_email", "without_email"]

PREFIX = "svc_live_"
PERSONAL_PREFIX = "svc_mcp_"
PREFIXES: dict[KeyKind, str] = {"live": PREFIX, "personal": PERSONAL_PREFIX}
IDENTITY_LENGTH = 16
"""The first characters of a key that are shown, so that people can recognise it."""
IN_PROCESS_KEY = "callwright.in_process_key"
"""The key of a request's ASGI scope under which the tool server passes an `InProcessKey`."""


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
