"""Sessions of the dashboard, and the one-time links by which they begin.

Of a session and of a link only the SHA-256 is kept. A session ends when its user logs out, after twelve hours without a
page, after thirty days, and at once when the user leaves the organization that it shows.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlalchemy import Connection, Row, bindparam, delete, func, insert, select, update

from callwright.service.accounts import passwords
from callwright.service.accounts.errors import AccountError
from callwright.service.accounts.memberships import role_of
from callwright.service.accounts.principals import UserActor, fingerprint, new_secret
from callwright.service.accounts.records import add_audit_entry, before_and_after
from callwright.service.platform.clock.clock import DAY, HOUR, MINUTE
from callwright.service.platform.database.units import brief
from callwright.service.platform.ids import Ids
from callwright.service.tables.schema import (
    dashboard_sessions,
    invitations,
    login_links,
    memberships,
    organizations,
    passkey_challenges,
    password_links,
    users,
)

LINK_MS = 15 * MINUTE
"""How long a link can be used."""
IDLE_MS = 12 * HOUR
"""How long a session lasts without a page."""
LONGEST_MS = 30 * DAY
SEEN_EVERY_MS = 5 * MINUTE
"""A page stores that the session was seen at most this often."""
MOST_SESSIONS = 20
"""Sessions of one user; the one that was not seen for longest ends for a new one."""
_ENDING = (dashboard_sessions, login_links, password_links, invitations, passkey_challenges)
_S, _L, _M = dashboard_sessions.c, login_links.c, memberships.c

LoginWay = Literal["link", "password", "passkey", "company"]
"""How somebody proves who they are."""


class LoginRefused(Exception):
    """A link is unknown, used or too old, or its user is not in the organization any more."""


@dataclass(frozen=True)
class NewSession:
    """A session that has just begun. `secret` goes into the cookie and is kept nowhere else."""

    id: str
    secret: str = field(repr=False)


def make_login_link(connection: Connection, org_id: str, user_id: str, now_ms: int) -> str:
    """A code that logs a user in once, within 15 minutes. Raises `AccountError` if the user is not in the organization.

    Earlier links of the user stay valid.
    """
    if role_of(connection, org_id, user_id) is None:
        raise AccountError("only a user of the organization can log in to it; `callwright users add` adds one")
    code = secrets.token_hex(24)
    row = {
        "hash": fingerprint(code),
        "user_id": user_id,
        "org_id": org_id,
        "created_at": now_ms,
        "expires_at": now_ms + LINK_MS,
    }
    connection.execute(insert(login_links), row)
    return code


def user_of_link(connection: Connection, code: str, now_ms: int) -> str | None:
    """Whom a link logs in; None if it is unknown, used or too old."""
    return connection.execute(select(_L.user_id).where(_L.hash == fingerprint(code), _L.expires_at > now_ms)).scalar()


def log_in(connection: Connection, ids: Ids, code: str, now_ms: int) -> NewSession:
    """Uses a link up and begins a session. Raises `LoginRefused`."""
    found = connection.execute(select(login_links).where(_L.hash == fingerprint(code)).with_for_update()).one_or_none()
    if found is None or now_ms >= found.expires_at:
        raise LoginRefused
    connection.execute(delete(login_links).where(_L.hash == found.hash))
    return begin(connection, ids, found.org_id, found.user_id, now_ms)


def log_in_by_password(
    connection: Connection, ids: Ids, user_id: str, known_hash: str, now_ms: int, *, new_hash: str | None = None
) -> NewSession:
    """Begins a session of a user whose password was found right, in the organization joined first.

    `new_hash` takes the place of a hash with earlier parameters. Raises `LoginRefused` if the password has
    changed since, or the user is in no organization.
    """
    connection.execute(select(users.c.id).where(users.c.id == user_id).with_for_update())
    if passwords.hash_of(connection, user_id) != known_hash:
        raise LoginRefused
    mine = select(_M.org_id).where(_M.user_id == user_id, _M.left_at.is_(None)).order_by(_M.created_at, _M.org_id)
    org_id = connection.execute(mine.limit(1)).scalar()
    if org_id is None:
        raise LoginRefused
    if new_hash is not None:
        passwords.rehash(connection, user_id, known_hash, new_hash)
    return begin(connection, ids, org_id, user_id, now_ms, how="password")


def begin(
    connection: Connection, ids: Ids, org_id: str, user_id: str, now_ms: int, *, how: LoginWay = "link"
) -> NewSession:
    """Begins a session of a user who has proved who they are.

    Raises `LoginRefused` if the user is not in the organization any more.
    """
    if role_of(connection, org_id, user_id) is None:
        raise LoginRefused
    _end_surplus(connection, user_id)
    made = NewSession(ids.new("ses"), new_secret("session"))
    row = {
        "id": made.id,
        "hash": fingerprint(made.secret),
        "user_id": user_id,
        "org_id": org_id,
        "created_at": now_ms,
        "last_seen_at": now_ms,
        "expires_at": now_ms + IDLE_MS,
    }
    connection.execute(insert(dashboard_sessions), row)
    changes = {"how": before_and_after(None, how)}
    add_audit_entry(connection, ids, org_id, "session.begun", user_id, now_ms, changes, by=UserActor(user_id))
    return made


def _end_surplus(connection: Connection, user_id: str) -> None:
    mine = select(_S.id).where(_S.user_id == user_id).order_by(_S.last_seen_at.desc(), _S.id.desc())
    surplus = connection.execute(mine.offset(MOST_SESSIONS - 1)).scalars().all()
    if surplus:
        connection.execute(delete(dashboard_sessions).where(_S.id.in_(surplus)))


_SESSION = (
    select(
        dashboard_sessions,
        _M.role,
        users.c.email,
        users.c.name.label("user_name"),
        organizations.c.name.label("org_name"),
        organizations.c.plan,
    )
    .join(users, (users.c.id == _S.user_id) & users.c.deleted_at.is_(None))
    .join(memberships, (_M.user_id == _S.user_id) & (_M.org_id == _S.org_id) & _M.left_at.is_(None))
    .join(organizations, organizations.c.id == _S.org_id)
    .where(_S.hash == bindparam("hash"), _S.expires_at > bindparam("now"), _S.created_at > bindparam("oldest"))
)


@brief
def session_of(connection: Connection, secret: str, now_ms: int) -> Row[Any] | None:
    """The session of a secret with `role`, `email`, `user_name`, `org_name` and `plan`; None if it has ended.

    It has also ended when its user is deleted or has left the organization.
    """
    given = {"hash": fingerprint(secret), "now": now_ms, "oldest": now_ms - LONGEST_MS}
    return connection.execute(_SESSION, given).one_or_none()


def note_seen(connection: Connection, session_id: str, now_ms: int) -> None:
    """Stores that a page was opened, so that the session goes on for another twelve hours."""
    seen = {"last_seen_at": now_ms, "expires_at": now_ms + IDLE_MS}
    connection.execute(update(dashboard_sessions).where(_S.id == session_id).values(seen))


def log_out(connection: Connection, session_id: str) -> None:
    """Ends a session."""
    connection.execute(delete(dashboard_sessions).where(_S.id == session_id))


def log_out_everywhere(connection: Connection, user_id: str) -> int:
    """Ends every session of a user and makes open links useless; returns how many sessions there were."""
    connection.execute(delete(login_links).where(_L.user_id == user_id))
    return connection.execute(delete(dashboard_sessions).where(_S.user_id == user_id)).rowcount


def organizations_of_user(connection: Connection, user_id: str) -> Sequence[Row[Any, Any, Any]]:
    """The organizations that a user is in, with `id`, `name` and `role`, by name."""
    statement = (
        select(organizations.c.id, organizations.c.name, _M.role)
        .join(memberships, _M.org_id == organizations.c.id)
        .where(_M.user_id == user_id, _M.left_at.is_(None))
        .order_by(organizations.c.name)
    )
    return connection.execute(statement).all()


def usual_organization(connection: Connection, user_id: str) -> str | None:
    """The organization that the user's latest session shows, or else the first one joined; None if there is none."""
    latest = (
        select(_M.org_id)
        .outerjoin(dashboard_sessions, (_S.user_id == _M.user_id) & (_S.org_id == _M.org_id))
        .where(_M.user_id == user_id, _M.left_at.is_(None))
        .order_by(func.coalesce(_S.last_seen_at, 0).desc(), _M.created_at, _M.org_id)
        .limit(1)
    )
    return connection.execute(latest).scalar()


def show_organization(connection: Connection, session_id: str, user_id: str, org_id: str) -> None:
    """Lets a session show another organization of its user. Raises `AccountError` if the user is not in it."""
    if role_of(connection, org_id, user_id) is None:
        raise AccountError("you are not in this organization")
    connection.execute(update(dashboard_sessions).where(_S.id == session_id).values(org_id=org_id))


def has_sessions(connection: Connection) -> bool:
    """Whether anybody is, or was lately, logged in to the dashboard of this installation."""
    return connection.execute(select(func.count()).select_from(dashboard_sessions)).scalar_one() > 0


def are_ended(connection: Connection, now_ms: int) -> bool:
    """Whether there is something for `forget_ended` to delete."""
    return any(
        connection.execute(select(table.c.hash).where(table.c.expires_at <= now_ms).limit(1)).first() is not None
        for table in _ENDING
    )


def forget_ended(connection: Connection, now_ms: int) -> None:
    """Deletes the rows of sessions, links and invitations whose time is over."""
    for table in _ENDING:
        connection.execute(delete(table).where(table.c.expires_at <= now_ms))
