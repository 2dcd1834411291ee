"""Who is in which organization. Each has an owner, unless its last one was deleted with `force`."""

from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select, update

from callwright.contract.checks.names import checked_name
from callwright.service.accounts.errors import AccountError
from callwright.service.accounts.principals import COMMAND_LINE, UserActor
from callwright.service.accounts.records import add_audit_entry, before_and_after, lock_organization
from callwright.service.accounts.users import checked, create_user, find_user, user_with
from callwright.service.platform.ids import Ids
from callwright.service.tables.audit_log import Actor
from callwright.service.tables.schema import (
    api_keys,
    dashboard_sessions,
    invitations,
    login_links,
    memberships,
    organizations,
    passkeys,
    password_links,
    passwords,
    users,
)

OWNER, MEMBER, VIEWER = "owner", "member", "viewer"
ROLES = (OWNER, MEMBER, VIEWER)
"""An owner also manages keys and people. A viewer only looks at the dashboard, and makes no keys."""
_U, _M = users.c, memberships.c


class LastOwner(AccountError):
    """The last owner cannot go or get another role."""


def users_of(connection: Connection, org_id: str) -> list[Row[Any]]:
    """The users in an organization, each with `role` and `joined_at`, in the order in which they joined."""
    statement = (
        select(users, _M.role, _M.created_at.label("joined_at"))
        .join(memberships, _M.user_id == _U.id)
        .where(_M.org_id == org_id, _M.left_at.is_(None))
        .order_by(_M.created_at, _U.id)
    )
    return list(connection.execute(statement).all())


def first_owner(connection: Connection, org_id: str) -> str | None:
    """The id of the owner who joined first of those who are in the organization; None if it has none."""
    owners = select(_M.user_id).where(_M.org_id == org_id, _M.role == OWNER, _M.left_at.is_(None))
    return connection.execute(owners.order_by(_M.created_at, _M.user_id).limit(1)).scalar()


def role_of(connection: Connection, org_id: str, user_id: str) -> str | None:
    """The role of a user in an organization; None if the user is not in it."""
    mine = select(_M.role).where(_M.org_id == org_id, _M.user_id == user_id, _M.left_at.is_(None))
    return connection.execute(mine).scalar()


def join(
    connection: Connection, ids: Ids, org_id: str, user_id: str, role: str, now_ms: int, *, by: Actor = COMMAND_LINE
) -> None:
    """Puts a user into an organization, or gives one who is in it another role. `by` is named in the audit log.

    A user who left may join again. Raises `AccountError`: unknown user or role, a user who has that role already, or
    the last owner would lose the role.
    """
    if role not in ROLES:
        raise AccountError(f"there is no role {role!r}; use one of {', '.join(ROLES)}")
    who = _locked_user(connection, user_id)
    lock_organization(connection, org_id)
    before = role_of(connection, org_id, user_id)
    if before == role:
        raise AccountError(f"{_email_or_name(who)} has the role {role} in this organization already")
    mine = (_M.org_id == org_id) & (_M.user_id == user_id)
    if before is not None:
        if before == OWNER:
            _check_other_owner(connection, org_id, who)
            _withdraw_invitations(connection, org_id, user_id)
        connection.execute(update(memberships).where(mine).values(role=role))
        changes = {"role": before_and_after(before, role)}
        add_audit_entry(connection, ids, org_id, "member.role_changed", user_id, now_ms, changes, by=by)
        return
    again = update(memberships).where(mine).values(role=role, created_at=now_ms, left_at=None)
    if connection.execute(again).rowcount == 0:
        row = {"org_id": org_id, "user_id": user_id, "role": role, "created_at": now_ms}
        connection.execute(insert(memberships), row)
    changes = {"role": before_and_after(None, role)}
    add_audit_entry(connection, ids, org_id, "member.joined", user_id, now_ms, changes, by=by)


def add_member(
    connection: Connection,
    ids: Ids,
    org_id: str,
    email: str,
    now_ms: int,
    *,
    name: str | None = None,
    role: str | None = None,
) -> str:
    """Puts the user with an e-mail address into an organization, making the user if there is none; returns the id.

    `name` is for a new user: if absent, the address without its domain. Without `role` the user becomes a member; one
    who is in the organization already is refused and keeps the role.
    """
    found = user_with(connection, email)
    if found is None:
        user_id = create_user(connection, ids, email, name or email.partition("@")[0], now_ms)
    elif name is not None and name != found.name:
        raise AccountError(f"{found.email} is known by the name {found.name!r}; leave the name out")
    else:
        user_id = found.id
    join(connection, ids, org_id, user_id, role or role_of(connection, org_id, user_id) or MEMBER, now_ms)
    return user_id


def leave(connection: Connection, ids: Ids, org_id: str, user_id: str, now_ms: int, *, by: Actor = COMMAND_LINE) -> int:
    """Removes a user from an organization; returns how many active keys the user has made there.

    The user's sessions there end. `by` is named in the audit log.

    Those keys still work, except for operations whose key needs a creator in the organization. Raises
    `AccountError` when the user is not in it, and for its last owner.
    """
    lock_organization(connection, org_id)
    who = find_user(connection, user_id)
    role = role_of(connection, org_id, user_id)
    if role is None:
        raise AccountError(
            f"{_email_or_name(who)} is not in this organization; `callwright users list --org NAME` shows who is"
        )
    if role == OWNER:
        _check_other_owner(connection, org_id, who)
    _end_membership(connection, ids, org_id, user_id, role, "member.left", now_ms, by)
    made = select(func.count()).where(
        api_keys.c.org_id == org_id, api_keys.c.created_by_user_id == user_id, api_keys.c.revoked_at.is_(None)
    )
    return connection.execute(made).scalar_one()


def delete_user(connection: Connection, ids: Ids, user_id: str, now_ms: int, *, force: bool = False) -> None:
    """Deletes a user for good, also from every organization. The e-mail address is erased and may be used again.

    The name stays, because it says who made a key. Raises `AccountError` for an unknown user, and for the last owner of
    an organization unless `force` is given; with `force` that organization has no owner afterwards.
    """
    who = _locked_user(connection, user_id)
    mine = select(_M.org_id).where(_M.user_id == user_id, _M.left_at.is_(None)).order_by(_M.org_id)
    for org_id in connection.execute(mine).scalars().all():
        lock_organization(connection, org_id)
        role = role_of(connection, org_id, user_id)
        if role is None:  # the user has left in the meantime
            continue
        if role == OWNER and not force:
            _check_other_owner(connection, org_id, who, or_else=", or delete with --force")
        _end_membership(connection, ids, org_id, user_id, role, "user.deleted", now_ms, COMMAND_LINE)
    for table in (passwords, password_links, passkeys):
        connection.execute(delete(table).where(table.c.user_id == user_id))
    connection.execute(update(users).where(_U.id == user_id).values(email=None, deleted_at=now_ms))


def rename_user(connection: Connection, ids: Ids, user_id: str, name: str, now_ms: int) -> None:
    """Gives a user the name that they want; the audit log of each organization that they are in has both names.

    Raises `AccountError` for an unknown user and for a name that cannot stand.
    """
    who, wanted = _locked_user(connection, user_id), checked(checked_name, "the name", name)
    if wanted == who.name:
        return
    connection.execute(update(users).where(_U.id == user_id).values(name=wanted))
    mine = select(_M.org_id).where(_M.user_id == user_id, _M.left_at.is_(None)).order_by(_M.org_id)
    changes = {"name": before_and_after(who.name, wanted)}
    for org_id in connection.execute(mine).scalars().all():
        add_audit_entry(connection, ids, org_id, "user.renamed", user_id, now_ms, changes, by=UserActor(user_id))


def lock_user(connection: Connection, user_id: str) -> None:
    """Keeps others from changing a user before this transaction ends. Lock users before organizations."""
    connection.execute(select(_U.id).where(_U.id == user_id).with_for_update())


def _locked_user(connection: Connection, user_id: str) -> Row[Any]:
    """A user's row, locked so that nobody deletes it before this transaction ends."""
    lock_user(connection, user_id)
    return find_user(connection, user_id)


def _end_membership(
    connection: Connection, ids: Ids, org_id: str, user_id: str, role: str, action: str, now_ms: int, by: Actor
) -> None:
    mine = (_M.org_id == org_id) & (_M.user_id == user_id)
    connection.execute(update(memberships).where(mine).values(left_at=now_ms))
    for table in (dashboard_sessions, login_links):  # so that they do not go on if the user comes back
        connection.execute(delete(table).where(table.c.user_id == user_id, table.c.org_id == org_id))
    _withdraw_invitations(connection, org_id, user_id)
    add_audit_entry(connection, ids, org_id, action, user_id, now_ms, {"role": before_and_after(role, None)}, by=by)


def _withdraw_invitations(connection: Connection, org_id: str, user_id: str) -> None:
    """Who is no owner any more lets nobody in."""
    theirs = (invitations.c.org_id == org_id) & (invitations.c.invited_by_user_id == user_id)
    connection.execute(delete(invitations).where(theirs))


def _check_other_owner(connection: Connection, org_id: str, who: Row[Any], *, or_else: str = "") -> None:
    others = select(func.count()).where(
        _M.org_id == org_id, _M.role == OWNER, _M.left_at.is_(None), _M.user_id != who.id
    )
    if connection.execute(others).scalar_one() == 0:
        name = connection.execute(select(organizations.c.name).where(organizations.c.id == org_id)).scalar_one()
        raise LastOwner(
            f"{_email_or_name(who)} is the last owner of {name!r}; make somebody else one first, with "
            f"`callwright users add EMAIL --org NAME --role owner`{or_else}"
        )


def _email_or_name(who: Row[Any]) -> str:
    return who.email or who.name
