"""The audit log, read."""

import json
from typing import Any

from sqlalchemy import Row, select

from callwright.contract import audit_log as contract
from callwright.contract.declaration.pagination import Page
from callwright.service.handlers.request_context import RequestContext, handles
from callwright.service.handlers.resources import resource
from callwright.service.platform.clock.clock import moment
from callwright.service.platform.database.listing import Listing
from callwright.service.tables.schema import api_keys, audit_log

_A = audit_log.c
_COLUMNS = {"created_at": _A.at, **{name: _A[name] for name in ("at", "action", "subject", "actor", "tool")}}


@handles(contract.list_audit_log)
def list_audit_log(asked: contract.ListAuditLog, context: RequestContext) -> Page[contract.AuditEntry]:
    """A page of entries, each with the name of its key."""
    rows = (
        select(audit_log, api_keys.c.label)
        .outerjoin(api_keys, api_keys.c.id == _A.actor)
        .where(_A.org_id == context.org_id)
    )
    listing = Listing(contract.list_audit_log, rows, _COLUMNS, _A.id, countable=("at", "subject"))
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
