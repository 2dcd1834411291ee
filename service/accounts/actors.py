"""Who may have made a change in an organization, for choosing among them in its audit log."""

from typing import NamedTuple

from sqlalchemy import Connection, bindparam, select

from callwright.service.platform.database.units import brief
from callwright.service.tables.schema import api_keys, memberships, users

_U, _M, _K = users.c, memberships.c, api_keys.c
_USERS = (
    select(_U.id, _U.name)
    .join(memberships, _M.user_id == _U.id)
    .where(_M.org_id == bindparam("b_org"), _M.left_at.is_(None))
    .order_by(_M.created_at, _U.id)
    .limit(bindparam("b_most"))
)
_KEYS = (
    select(_K.id, _K.label, _K.identity)
    .where(_K.org_id == bindparam("b_org"))
    .order_by(_K.created_at.desc(), _K.id.desc())
    .limit(bindparam("b_most"))
)


class NamedActor(NamedTuple):
    """A user or a key, with a name for people."""

    id: str
    name: str


@brief
def actors_of(connection: Connection, org_id: str, most: int) -> list[NamedActor]:
    """The users in an organization, those who joined first, then its newest keys, revoked ones too; `most` of each."""
    given = {"b_org": org_id, "b_most": most}
    found = [NamedActor(user.id, user.name) for user in connection.execute(_USERS, given)]
    found += [NamedActor(key.id, f"key {key.label or key.identity}") for key in connection.execute(_KEYS, given)]
    return found
