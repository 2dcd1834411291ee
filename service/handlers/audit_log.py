"""The audit log, read."""

import json
from typing import Any

from sqlalchemy import Row, func, select

from callwright.contract import audit_log as contract
from callwright.contract.declaration.pagination import Page
from callwright.service.accounts.principals import SERVICE
from callwright.service.handlers.request_context import RequestContext, handles
from callwright.service.handlers.resources import resource
from callwright.service.platform.clock.clock import moment
from callwright.service.platform.database.listing import Listing, without_index
from callwright.service.tables.schema import api_keys, audit_log, users
from callwright.service.tables.schema.accounts import OF_EVERY_CALL, OF_OTHERS, RARE_ACTIONS

_A = audit_log.c
_KEY = select(api_keys.c.label).where(api_keys.c.id == _A.actor).scalar_subquery()
_USER = select(users.c.name).where(users.c.id == _A.actor).scalar_subquery()
_LABEL = func.coalesce(_KEY, _USER).label("label")
"""The label of the key, or the name of the user of the dashboard."""
_COLUMNS = {"created_at": _A.at, **{name: _A[name] for name in ("at", "action", "subject", "actor", "tool")}}


@handles(contract.list_audit_log)
def list_audit_log(asked: contract.ListAuditLog, context: RequestContext) -> Page[contract.AuditEntry]:
    """A page of entries, each with the name of its key or user."""
    # Of two indexes that begin with what is given SQLite takes the one that was made last, whatever it holds.
    own = _A.org_id if asked.subject_id is None else without_index(_A.org_id)
    rows = select(audit_log, _LABEL).where(own == context.org_id)
    if asked.action is not None and asked.action not in OF_EVERY_CALL:
        rows = rows.where(RARE_ACTIONS)
    if asked.actor_id is not None and SERVICE.actor != asked.actor_id:
        rows = rows.where(OF_OTHERS)
    if asked.tool is not None:
        rows = rows.where(_A.tool.is_not(None))
    listing = Listing(
        contract.list_audit_log, rows, _COLUMNS, _A.id, countable=("subject",), is_long=True, narrow=("subject",)
    )
    return context.page(listing, asked, _to_resource)


def _to_resource(row: Row[Any]) -> contract.AuditEntry:
    return resource(
        contract.AuditEntry,
        row,
        created_at=moment(row.at),
        subject_id=row.subject,
        actor_id=row.actor,
        actor_label=row.label or "",
        changes=json.loads(row.changes),
    )
