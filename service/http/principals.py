"""Who is asking: API keys. `svc_live_` and 48 hexadecimal characters, of which only the SHA-256 is stored."""

import hashlib
import re
import secrets
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, select

from callwright.contract.problems import API_KEY_REQUIRED, INVALID_API_KEY
from callwright.service.domain.plans import PLANS, Plan
from callwright.service.domain.refusals import Refusal
from callwright.service.storage.schema import api_keys, organizations

PREFIX = "svc_live_"
_FORM = re.compile(r"svc_live_[0-9a-f]{48}")
IDENTITY_LENGTH = 16
"""By how many leading characters people recognise a key."""

_FIND = (
    select(api_keys.c.id, api_keys.c.org_id, organizations.c.plan)
    .join(organizations, organizations.c.id == api_keys.c.org_id)
    .where(api_keys.c.hash == bindparam("hash"), api_keys.c.revoked_at.is_(None))
)


@dataclass(frozen=True)
class Principal:
    """The key a request was made with, and its organization."""

    key_id: str
    org_id: str
    plan: Plan


def new_secret() -> str:
    """A fresh API key."""
    return PREFIX + secrets.token_hex(24)


def fingerprint(secret: str) -> str:
    """What is stored of a key."""
    return hashlib.sha256(secret.encode()).hexdigest()


def bearer(header: str | None) -> str:
    """The key in an Authorization header. Raises `Refusal`: api_key_required unless it begins like a live key."""
    scheme, _, token = (header or "").partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not token.startswith(PREFIX):
        raise Refusal(API_KEY_REQUIRED)
    return token


def identify(connection: Connection, secret: str) -> Principal:
    """Whose key this is. Raises `Refusal`: invalid_api_key when it is unknown or revoked."""
    row = connection.execute(_FIND, {"hash": fingerprint(secret)}).one_or_none() if _FORM.fullmatch(secret) else None
    if row is None:
        raise Refusal(INVALID_API_KEY)
    return Principal(row.id, row.org_id, PLANS[row.plan])
