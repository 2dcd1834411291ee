"""The organization and the key of a service that runs inside an assistant's process."""

from sqlalchemy import Connection, select, update

from callwright.service.accounts.api_keys import create_key
from callwright.service.accounts.memberships import OWNER, first_owner, join, role_of
from callwright.service.accounts.organizations import create_organization
from callwright.service.accounts.principals import fingerprint
from callwright.service.accounts.records import add_audit_entry, before_and_after
from callwright.service.accounts.users import operator_user
from callwright.service.platform.database.concurrency import is_only_writer, take_advisory_lock
from callwright.service.platform.ids import Ids
from callwright.service.tables.schema import api_keys, organizations

DEFAULT_ORGANIZATION = "default"
DEFAULT_PLAN = "enterprise"
"""It is the user's own machine, so nothing has to be limited."""
EMBEDDED_LABEL = "embedded"
_LOCK = 7_263_902
"""The number of the lock under which processes make the organization one after the other."""
_K = api_keys.c


def default_organization(connection: Connection, ids: Ids, now_ms: int) -> str:
    """The organization of the embedded default, made when there is none yet; returns its id."""
    take_advisory_lock(connection, _LOCK)  # several processes may start on a new database
    known = select(organizations.c.id).where(organizations.c.name == DEFAULT_ORGANIZATION)
    org_id = connection.execute(known).scalar()
    return org_id or create_organization(connection, ids, DEFAULT_ORGANIZATION, DEFAULT_PLAN, now_ms)


def embedded_key(connection: Connection, ids: Ids, kept: str | None, now_ms: int) -> str:
    """The key of the default organization: `kept` if it still works, else a new one.

    Makes the organization when there is none. On SQLite it revokes an earlier embedded key that was lost; on Postgres
    other folders, perhaps of other machines, have embedded keys of their own. When the creator of
    the key has left, the first owner becomes its creator; if there is no owner, the operator becomes the owner first.
    """
    if kept is not None:
        known = connection.execute(
            select(api_keys).where(_K.hash == fingerprint(kept), _K.revoked_at.is_(None))
        ).first()
        if known is not None:
            if role_of(connection, known.org_id, known.created_by_user_id) is None:
                owner = _owner(connection, ids, known.org_id, now_ms)
                connection.execute(update(api_keys).where(_K.id == known.id).values(created_by_user_id=owner))
                passed = {"created_by_user_id": before_and_after(known.created_by_user_id, owner)}
                add_audit_entry(connection, ids, known.org_id, "api_key.passed_on", known.id, now_ms, passed)
            return kept
    org_id = default_organization(connection, ids, now_ms)
    owner = _owner(connection, ids, org_id, now_ms)
    if is_only_writer(connection):
        connection.execute(
            update(api_keys)
            .where(_K.org_id == org_id, _K.label == EMBEDDED_LABEL, _K.kind == "live", _K.revoked_at.is_(None))
            .values(revoked_at=now_ms)
        )
    return create_key(connection, ids, org_id, EMBEDDED_LABEL, now_ms, created_by_user_id=owner).secret


def _owner(connection: Connection, ids: Ids, org_id: str, now_ms: int) -> str:
    owner = first_owner(connection, org_id)
    if owner is None:
        owner = operator_user(connection, ids, now_ms)
        join(connection, ids, org_id, owner, OWNER, now_ms)
    return owner
