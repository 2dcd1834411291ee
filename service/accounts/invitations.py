"""Invitations: a link, good for 7 days and once, by which somebody joins an organization. Only its hash is kept.

A link proves that somebody got it, not who they are: an owner may have seen it. So it makes a new user, who sets a
password; a user who is known already joins only while logged in.
"""

import secrets
from dataclasses import dataclass, field
from email.errors import MessageError
from email.headerregistry import Address
from typing import Any

from sqlalchemy import Connection, Row, delete, func, insert, select, update

from callwright.service.accounts import passwords
from callwright.service.accounts.errors import AccountError
from callwright.service.accounts.memberships import OWNER, ROLES, join, lock_user, role_of
from callwright.service.accounts.people import check_owner
from callwright.service.accounts.principals import UserActor, fingerprint
from callwright.service.accounts.records import add_audit_entry, before_and_after, lock_organization
from callwright.service.accounts.users import checked_email, create_user, user_with
from callwright.service.platform.clock.clock import DAY
from callwright.service.platform.ids import Ids
from callwright.service.tables.schema import invitations, organizations, users

INVITATION_MS = 7 * DAY
"""How long an invitation can be accepted."""
MOST_OPEN = 100
"""Invitations of an organization that can be accepted at a time."""
_I = invitations.c


class InvitationRefused(Exception):
    """An invitation is unknown, was used or withdrawn, or is too old."""


class LoginNeeded(Exception):
    """An invitation is for a user who is known, and who is not logged in."""


@dataclass(frozen=True)
class NewInvitation:
    """An invitation that was just made, or made again. `code` is kept nowhere."""

    id: str
    email: str
    role: str
    code: str = field(repr=False)


def invite(
    connection: Connection, ids: Ids, org_id: str, email: str, role: str, now_ms: int, *, by: UserActor
) -> NewInvitation:
    """Invites somebody. An invitation of the same address that is open gets another role and another link.

    Raises `AccountError`: `by` is no owner, the address is none or that of a member, or 100 invitations are open.
    """
    address = mailable(email)
    if role not in ROLES:
        raise AccountError(f"there is no role {role!r}; use one of {', '.join(ROLES)}")
    check_owner(connection, org_id, by.user_id)
    known = user_with(connection, address)
    if known is not None and role_of(connection, org_id, known.id) is not None:
        raise AccountError(f"{address} is in the organization already; change the role in the list")
    connection.execute(delete(invitations).where(_I.org_id == org_id, _I.email == address))
    opened = select(func.count()).where(_I.org_id == org_id, _I.expires_at > now_ms)
    if connection.execute(opened).scalar_one() >= MOST_OPEN:
        raise AccountError(f"{MOST_OPEN} invitations are open; withdraw some first")
    made = NewInvitation(ids.new("inv"), address, role, secrets.token_hex(24))
    row = {
        "id": made.id,
        "org_id": org_id,
        "email": address,
        "role": role,
        "hash": fingerprint(made.code),
        "invited_by_user_id": by.user_id,
        "created_at": now_ms,
        "expires_at": now_ms + INVITATION_MS,
    }
    connection.execute(insert(invitations), row)
    changes = {"email": before_and_after(None, address), "role": before_and_after(None, role)}
    add_audit_entry(connection, ids, org_id, "invitation.made", made.id, now_ms, changes, by=by)
    return made


def invite_again(
    connection: Connection, ids: Ids, org_id: str, invitation_id: str, now_ms: int, *, by: UserActor
) -> NewInvitation:
    """Makes a new link of an invitation, for another 7 days; the former link ends. Raises `AccountError`."""
    check_owner(connection, org_id, by.user_id)
    row = _one(connection, org_id, invitation_id)
    made = NewInvitation(row.id, row.email, row.role, secrets.token_hex(24))
    values = {
        "hash": fingerprint(made.code),
        "invited_by_user_id": by.user_id,
        "created_at": now_ms,
        "expires_at": now_ms + INVITATION_MS,
    }
    connection.execute(update(invitations).where(_I.id == row.id).values(values))
    add_audit_entry(connection, ids, org_id, "invitation.made_again", row.id, now_ms, by=by)
    return made


def withdraw(connection: Connection, ids: Ids, org_id: str, invitation_id: str, now_ms: int, *, by: UserActor) -> None:
    """Ends an invitation before somebody accepts it. Raises `AccountError`."""
    check_owner(connection, org_id, by.user_id)
    row = _one(connection, org_id, invitation_id)
    connection.execute(delete(invitations).where(_I.id == row.id))
    changes = {"email": before_and_after(row.email, None)}
    add_audit_entry(connection, ids, org_id, "invitation.withdrawn", row.id, now_ms, changes, by=by)


def open_invitations(connection: Connection, org_id: str, now_ms: int) -> list[Row[Any]]:
    """The invitations that can be accepted, with `inviter`, newest first."""
    statement = (
        select(invitations, users.c.name.label("inviter"))
        .join(users, users.c.id == _I.invited_by_user_id)
        .where(_I.org_id == org_id, _I.expires_at > now_ms)
        .order_by(_I.created_at.desc(), _I.id.desc())
    )
    return list(connection.execute(statement).all())


def invitation_of(connection: Connection, code: str, now_ms: int) -> Row[Any]:
    """The invitation of a code, with `org_name`, `inviter` and `user_id`, which is None for somebody new.

    Raises `InvitationRefused`, also when who invited is no owner any more.
    """
    statement = (
        select(invitations, organizations.c.name.label("org_name"), users.c.name.label("inviter"))
        .join(organizations, organizations.c.id == _I.org_id)
        .join(users, users.c.id == _I.invited_by_user_id)
        .where(_I.hash == fingerprint(code), _I.expires_at > now_ms)
    )
    row = connection.execute(statement).one_or_none()
    if row is None or role_of(connection, row.org_id, row.invited_by_user_id) != OWNER:
        raise InvitationRefused
    return row


def known_user(connection: Connection, email: str) -> str | None:
    """The id of the user with an e-mail address; None if there is none."""
    found = user_with(connection, email)
    return None if found is None else found.id


def accept(
    connection: Connection, ids: Ids, code: str, now_ms: int, *, name: str, new_hash: str | None, as_user: str | None
) -> tuple[str, str, bool]:
    """Uses an invitation up; returns the ids of organization and user, and whether the user is new.

    A new user gets `name` and the password of `new_hash`. A user who is known keeps both, and the role of a member does
    not change; `as_user` is who is logged in. Raises `InvitationRefused`, `LoginNeeded`, and `AccountError` for a name
    that is none.
    """
    found = invitation_of(connection, code, now_ms)
    known = user_with(connection, found.email)
    if known is not None:
        if known.id != as_user:
            raise LoginNeeded
        lock_user(connection, known.id)
    lock_organization(connection, found.org_id)
    row = invitation_of(connection, code, now_ms)
    if connection.execute(delete(invitations).where(_I.id == row.id, _I.hash == row.hash)).rowcount == 0:
        raise InvitationRefused
    known = user_with(connection, row.email)
    if known is not None and known.id != as_user:
        raise LoginNeeded
    if known is None and new_hash is None:
        raise InvitationRefused
    user_id = create_user(connection, ids, row.email, name, now_ms) if known is None else known.id
    if role_of(connection, row.org_id, user_id) is None:
        join(connection, ids, row.org_id, user_id, row.role, now_ms, by=UserActor(user_id))
    if known is None and new_hash is not None:
        passwords.first_password(connection, ids, user_id, new_hash, now_ms)
    return row.org_id, user_id, known is None


def mailable(email: str) -> str:
    """The address in lower case, if a mail can be sent to it. Raises `AccountError`."""
    address = checked_email(email)
    try:
        is_one = Address(addr_spec=address).addr_spec == address
    except (ValueError, MessageError, IndexError):
        is_one = False
    if not is_one:
        raise AccountError(f"no mail can be sent to {email!r}; write an address like ann@example.com")
    return address


def _one(connection: Connection, org_id: str, invitation_id: str) -> Row[Any]:
    row = connection.execute(select(invitations).where(_I.id == invitation_id, _I.org_id == org_id)).one_or_none()
    if row is None:
        raise AccountError("this invitation is not open any more: it was accepted or withdrawn")
    return row
