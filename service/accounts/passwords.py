"""Passwords of users, and the links that set one. Only hashes are kept.

The functions take hashes that were made before, since hashing inside a transaction would keep others waiting.
"""

import secrets
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select, update

from callwright.service.accounts.errors import AccountError
from callwright.service.accounts.principals import UserActor, fingerprint
from callwright.service.accounts.records import add_audit_entry
from callwright.service.platform.clock.clock import HOUR
from callwright.service.platform.ids import Ids
from callwright.service.tables.schema import (
    dashboard_sessions,
    login_links,
    memberships,
    password_links,
    passwords,
    users,
)

RESET_MS = HOUR
"""How long a link that sets a password can be used."""
MOST_LINKS = 3
"""Links of one user that can be used at a time; the oldest goes for a new one."""
_P, _L, _S, _M = passwords.c, password_links.c, dashboard_sessions.c, memberships.c


class LinkRefused(Exception):
    """A link is unknown, used or too old."""


class PasswordChanged(Exception):
    """The password is not the one any more that was checked."""


def login_of(connection: Connection, email: str) -> Row[Any, Any] | None:
    """`user_id` and `hash` of the user with an e-mail address and a password; None if there is none."""
    found = (
        select(_P.user_id, _P.hash)
        .join(users, (users.c.id == _P.user_id) & users.c.deleted_at.is_(None))
        .where(users.c.email == email.lower())
    )
    return connection.execute(found).one_or_none()


def hash_of(connection: Connection, user_id: str) -> str | None:
    """The hash of a user's password; None if the user has none."""
    return connection.execute(select(_P.hash).where(_P.user_id == user_id)).scalar()


def changed_at(connection: Connection, user_id: str) -> int | None:
    """When a user's password was set last; None if the user has none."""
    return connection.execute(select(_P.changed_at).where(_P.user_id == user_id)).scalar()


def who_have_one(connection: Connection, user_ids: Sequence[str]) -> set[str]:
    """Those of the users who have a password."""
    return set(connection.execute(select(_P.user_id).where(_P.user_id.in_(user_ids))).scalars())


def set_password(
    connection: Connection,
    ids: Ids,
    user_id: str,
    new_hash: str,
    now_ms: int,
    *,
    former_hash: str | None,
    kept_session_id: str | None = None,
) -> int:
    """Sets a user's password and ends their other sessions and links; returns how many sessions ended.

    Raises `PasswordChanged` if the password is no longer that of `former_hash`: another form has set it in between.
    """
    _lock(connection, user_id)
    if hash_of(connection, user_id) != former_hash:
        raise PasswordChanged
    return _store(connection, ids, user_id, new_hash, now_ms, kept_session_id)


def rehash(connection: Connection, user_id: str, former_hash: str, new_hash: str) -> None:
    """Puts the hash with today's parameters in the place of that with earlier ones, of the same password."""
    same = (_P.user_id == user_id) & (_P.hash == former_hash)
    connection.execute(update(passwords).where(same).values(hash=new_hash))


def make_password_link(connection: Connection, email: str, now_ms: int) -> str | None:
    """A code with which the user with an address sets a password, once, within an hour; None if there is no such user.

    A user who is in no organization gets none.
    """
    in_some = select(_M.user_id).where(_M.user_id == users.c.id, _M.left_at.is_(None)).exists()
    known = select(users.c.id).where(users.c.email == email.lower(), users.c.deleted_at.is_(None), in_some)
    user_id = connection.execute(known).scalar()
    if user_id is None:
        return None
    mine = select(_L.hash).where(_L.user_id == user_id).order_by(_L.created_at.desc(), _L.hash)
    surplus = connection.execute(mine.offset(MOST_LINKS - 1)).scalars().all()
    connection.execute(delete(password_links).where(_L.hash.in_(surplus)))
    code = secrets.token_hex(24)
    row = {"hash": fingerprint(code), "user_id": user_id, "created_at": now_ms, "expires_at": now_ms + RESET_MS}
    connection.execute(insert(password_links), row)
    return code


def whose_link(connection: Connection, code: str, now_ms: int) -> Row[Any, Any, Any]:
    """`id`, `email` and `name` of the user whose password a link sets. Raises `LinkRefused`."""
    found = (
        select(users.c.id, users.c.email, users.c.name)
        .join(password_links, _L.user_id == users.c.id)
        .where(_L.hash == fingerprint(code), _L.expires_at > now_ms, users.c.deleted_at.is_(None))
    )
    row = connection.execute(found).one_or_none()
    if row is None:
        raise LinkRefused
    return row


def set_by_link(connection: Connection, ids: Ids, code: str, new_hash: str, now_ms: int) -> str:
    """Uses a link up: sets its user's password and ends all their sessions; returns their id. Raises `LinkRefused`."""
    user_id = whose_link(connection, code, now_ms).id
    _lock(connection, user_id)
    if connection.execute(delete(password_links).where(_L.hash == fingerprint(code))).rowcount == 0:
        raise LinkRefused
    _store(connection, ids, user_id, new_hash, now_ms, None)
    return user_id


def first_password(connection: Connection, ids: Ids, user_id: str, new_hash: str, now_ms: int) -> None:
    """Sets the password of a user who was just made."""
    if hash_of(connection, user_id) is not None:
        raise AccountError("this user has a password already")
    _store(connection, ids, user_id, new_hash, now_ms, None)


def _lock(connection: Connection, user_id: str) -> None:
    connection.execute(select(users.c.id).where(users.c.id == user_id).with_for_update())


def _store(
    connection: Connection, ids: Ids, user_id: str, new_hash: str, now_ms: int, kept_session_id: str | None
) -> int:
    values = {"hash": new_hash, "changed_at": now_ms}
    if connection.execute(update(passwords).where(_P.user_id == user_id).values(values)).rowcount == 0:
        connection.execute(insert(passwords), {"user_id": user_id, **values})
    others = _S.user_id == user_id
    if kept_session_id is not None:
        others &= _S.id != kept_session_id
    ended = connection.execute(delete(dashboard_sessions).where(others)).rowcount
    connection.execute(delete(login_links).where(login_links.c.user_id == user_id))
    connection.execute(delete(password_links).where(_L.user_id == user_id))
    mine = select(_M.org_id).where(_M.user_id == user_id, _M.left_at.is_(None)).order_by(_M.org_id)
    for org_id in connection.execute(mine).scalars().all():
        add_audit_entry(connection, ids, org_id, "password.set", user_id, now_ms, by=UserActor(user_id))
    return ended
