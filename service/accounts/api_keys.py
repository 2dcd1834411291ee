"""API keys and personal keys. A key is shown once, when it is made; only its SHA-256 is kept."""

import hashlib
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, func, insert, or_, select, update

from callwright.contract.checks.names import checked_label
from callwright.service.accounts.errors import AccountError
from callwright.service.accounts.memberships import VIEWER, first_owner, role_of
from callwright.service.accounts.principals import COMMAND_LINE, IDENTITY_LENGTH, KeyKind, fingerprint, new_secret
from callwright.service.accounts.records import add_audit_entry, lock_organization
from callwright.service.accounts.users import checked
from callwright.service.platform.ids import Ids, base62
from callwright.service.tables.audit_log import Actor
from callwright.service.tables.schema import api_keys, memberships, users

MAX_ACTIVE_KEYS = 20
PROFILES = ("analyst", "operator", "builder", "all")
"""The sets of tools that a personal key may have, the smallest first."""
DEFAULT_PROFILE = "builder"
_ID_DIGITS, _ID_BYTES = 24, 17
"""Digits of an id of base 62 behind its prefix, and bytes of a hash that fit into them."""
_K, _M = api_keys.c, memberships.c


class KeyMadeAlready(AccountError):
    """A form was sent again whose key is there."""


@dataclass(frozen=True)
class NewKey:
    """A key that was just made. `secret` is shown once and kept nowhere."""

    id: str
    secret: str


def create_key(
    connection: Connection,
    ids: Ids,
    org_id: str,
    label: str,
    now_ms: int,
    *,
    created_by_user_id: str | None = None,
    by: Actor = COMMAND_LINE,
    once: str | None = None,
) -> NewKey:
    """A new API key. An organization has at most 20 active API keys, not counting personal keys.

    `created_by_user_id` is a user in the organization; if absent, its first owner. `by` is named in the audit log.
    With `once`, random words of a form that may be sent again, a second key raises `KeyMadeAlready`.
    """
    lock_organization(connection, org_id)
    active = select(func.count()).where(_K.org_id == org_id, _K.revoked_at.is_(None), _K.kind == "live")
    if connection.execute(active).scalar_one() >= MAX_ACTIVE_KEYS:
        raise AccountError(f"an organization has at most {MAX_ACTIVE_KEYS} active keys; revoke one first")
    return _add_key(connection, ids, org_id, "live", label, now_ms, created_by_user_id, by, once)


def create_personal_key(
    connection: Connection,
    ids: Ids,
    org_id: str,
    label: str,
    now_ms: int,
    *,
    profile: str = DEFAULT_PROFILE,
    spending_cap_micros: int | None = None,
    created_by_user_id: str | None = None,
    by: Actor = COMMAND_LINE,
    once: str | None = None,
) -> NewKey:
    """A new key for one person and the tool server alone. REST refuses it.

    `profile` is one of `PROFILES`. `spending_cap_micros` is the most that the key may commit in total; None if only the
    wallet limits it. `created_by_user_id`, `by` and `once` are as in `create_key`. The limit of 20 active keys excludes
    personal keys.
    """
    if profile not in PROFILES:
        raise AccountError(f"there is no profile {profile!r}; use one of {', '.join(PROFILES)}")
    if spending_cap_micros is not None and spending_cap_micros < 0:
        raise AccountError("a spending cap cannot be below zero")
    lock_organization(connection, org_id)
    limits = {"profile": profile, "spending_cap_micros": spending_cap_micros}
    return _add_key(connection, ids, org_id, "personal", label, now_ms, created_by_user_id, by, once, **limits)


def _add_key(
    connection: Connection,
    ids: Ids,
    org_id: str,
    kind: KeyKind,
    label: str,
    now_ms: int,
    created_by_user_id: str | None,
    by: Actor,
    once: str | None,
    **limits: str | int | None,
) -> NewKey:
    made = NewKey(ids.new("key") if once is None else _id_of_form(connection, org_id, once), new_secret(kind))
    row = {
        "id": made.id,
        "org_id": org_id,
        "hash": fingerprint(made.secret),
        "identity": made.secret[:IDENTITY_LENGTH],
        "label": checked(checked_label, "the label", label),
        "created_at": now_ms,
        "kind": kind,
        "created_by_user_id": _creator(connection, org_id, created_by_user_id),
        **limits,
    }
    connection.execute(insert(api_keys), row)
    add_audit_entry(connection, ids, org_id, "api_key.created", made.id, now_ms, by=by)
    return made


def _id_of_form(connection: Connection, org_id: str, once: str) -> str:
    """The id of the key that a form makes. The organization is locked. Raises `KeyMadeAlready` for the second one."""
    number = int.from_bytes(hashlib.sha256(f"{org_id} {once}".encode()).digest()[:_ID_BYTES])
    found = f"key_{base62(number, _ID_DIGITS)}"
    if connection.execute(select(_K.id).where(_K.id == found)).first() is not None:
        raise KeyMadeAlready(
            "this form has made its key already, and a key is shown once; if you have not copied it, revoke it below "
            "and make another one"
        )
    return found


def _creator(connection: Connection, org_id: str, user_id: str | None) -> str:
    """The user who makes a key. The organization is locked. Raises `AccountError` for a user who is not in it."""
    if user_id is None:
        user_id = first_owner(connection, org_id)
        if user_id is None:
            raise AccountError(
                "the organization has no owner to make the key; name one of its users, or give it an owner with "
                "`callwright users add EMAIL --org NAME --role owner`"
            )
    role = role_of(connection, org_id, user_id)
    if role is None:
        raise AccountError(
            "the creator of a key must be in the organization; add this user first, with "
            "`callwright users add EMAIL --org NAME`"
        )
    if role == VIEWER:
        raise AccountError("a viewer makes no keys, since a key may do everything; give the user another role first")
    return user_id


def keys_of(connection: Connection, org_id: str) -> list[Row[Any]]:
    """The keys of an organization, of both kinds, revoked ones too, newest first.

    Each comes with `creator_email`, `creator_name` and `has_creator_left`: whether the creator is deleted or no longer
    in the organization, or not known.
    """
    gone = or_(_M.user_id.is_(None), _M.left_at.is_not(None))
    who = (users.c.email.label("creator_email"), users.c.name.label("creator_name"), gone.label("has_creator_left"))
    membership = (_M.org_id == _K.org_id) & (_M.user_id == _K.created_by_user_id)
    statement = (
        select(api_keys, *who)
        .outerjoin(users, users.c.id == _K.created_by_user_id)
        .outerjoin(memberships, membership)
        .where(_K.org_id == org_id)
        .order_by(_K.created_at.desc(), _K.id.desc())
    )
    return list(connection.execute(statement).all())


def revoke_key(connection: Connection, ids: Ids, key: str, now_ms: int, *, by: Actor = COMMAND_LINE) -> str:
    """Revokes a key by its id or its first 16 characters, for good and from the next request on; returns its id.

    The characters may end in an ellipsis, as lists show them.
    """
    key = key.strip().removesuffix("…").removesuffix("...")
    found = connection.execute(select(api_keys).where((_K.id == key) | (_K.identity == key))).all()
    if len(found) != 1:
        raise AccountError(
            f"{'no key' if not found else 'more than one key'} matches; `callwright keys list` shows ids"
        )
    row = found[0]
    if row.revoked_at is None:
        connection.execute(update(api_keys).where(_K.id == row.id).values(revoked_at=now_ms))
        add_audit_entry(connection, ids, row.org_id, "api_key.revoked", row.id, now_ms, by=by)
    return row.id
