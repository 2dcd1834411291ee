"""What owners do to the people of an organization in the dashboard: other roles, removal, and keys with them.

Who acts is looked at inside the transaction, behind the lock of the organization: of two owners who remove each other
at once, one does.
"""

from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, Row

from callwright.service.accounts.api_keys import keys_of, revoke_key
from callwright.service.accounts.errors import AccountError
from callwright.service.accounts.memberships import OWNER, join, leave, lock_user, role_of
from callwright.service.accounts.principals import UserActor
from callwright.service.accounts.records import lock_organization
from callwright.service.platform.ids import Ids


class OwnersOnly(AccountError):
    """Somebody who is no owner, or no longer one, wants to change the people of an organization."""


def check_owner(connection: Connection, org_id: str, user_id: str) -> None:
    """Locks the organization. Raises `OwnersOnly` unless the user is one of its owners."""
    lock_organization(connection, org_id)
    if role_of(connection, org_id, user_id) != OWNER:
        raise OwnersOnly("only an owner changes who is in the organization, and you are none")


def active_keys_of(connection: Connection, org_id: str, user_id: str) -> list[Row[Any]]:
    """The keys of both kinds that a user made in an organization and that are not revoked, newest first."""
    made = keys_of(connection, org_id)
    return [row for row in made if row.created_by_user_id == user_id and row.revoked_at is None]


def change_role(
    connection: Connection,
    ids: Ids,
    org_id: str,
    user_id: str,
    role: str,
    now_ms: int,
    *,
    by: UserActor,
    revoked: Collection[str] = (),
) -> None:
    """Gives somebody another role; `revoked` are ids of keys that they made and that are revoked with it.

    Raises `AccountError`: `by` is no owner, the user is not in the organization, or the last owner would lose the role.
    """
    lock_user(connection, user_id)
    check_owner(connection, org_id, by.user_id)
    if role_of(connection, org_id, user_id) is None:
        raise AccountError("this user is not in the organization any more")
    _revoke(connection, ids, org_id, user_id, revoked, now_ms, by)
    join(connection, ids, org_id, user_id, role, now_ms, by=by)


def remove(
    connection: Connection,
    ids: Ids,
    org_id: str,
    user_id: str,
    now_ms: int,
    *,
    by: UserActor,
    revoked: Collection[str] = (),
) -> None:
    """Takes somebody out of an organization, or lets somebody leave it; their sessions there end.

    `revoked` are ids of keys that they made, which are revoked with it; who leaves and is no owner revokes none. Raises
    `AccountError`: `by` is neither the user nor an owner, the user is not in it, or the user is the last owner.
    """
    if by.user_id == user_id:
        lock_organization(connection, org_id)
        if revoked and role_of(connection, org_id, user_id) != OWNER:
            raise OwnersOnly("only an owner revokes keys")
    else:
        check_owner(connection, org_id, by.user_id)
    if role_of(connection, org_id, user_id) is None:  # who is no member is not named: they may be known elsewhere
        raise AccountError("this user is not in the organization any more")
    _revoke(connection, ids, org_id, user_id, revoked, now_ms, by)
    leave(connection, ids, org_id, user_id, now_ms, by=by)


def _revoke(
    connection: Connection,
    ids: Ids,
    org_id: str,
    user_id: str,
    revoked: Collection[str],
    now_ms: int,
    by: UserActor,
) -> None:
    theirs = {row.id for row in active_keys_of(connection, org_id, user_id)}
    for key_id in sorted(theirs & set(revoked)):
        revoke_key(connection, ids, key_id, now_ms, by=by)
