"""Why calls were allowed, read from what each call kept when it was claimed."""

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

from sqlalchemy import Connection, Row, select

from callwright.contract.calls import evidence as contract
from callwright.contract.declaration.pagination import Page
from callwright.service.handlers.calls.calls import find
from callwright.service.handlers.calls.stored_parts import resolution_of
from callwright.service.handlers.deployments.rows import find as find_deployment
from callwright.service.handlers.request_context import RequestContext, handles
from callwright.service.handlers.resources import resource
from callwright.service.platform.clock.clock import moment, moment_or_none
from callwright.service.platform.database.listing import Listing
from callwright.service.rules.regions.region_rules import Source
from callwright.service.tables.rules_files import rules_of_version
from callwright.service.tables.schema import calls, contact_decisions

_C, _H = calls.c, contact_decisions.c
_MOST_DECISIONS = 100
_COPIED = (
    *("rules_version", "regions", "time_zones", "local_time", "consent_rules", "consent_column"),
    *("calls_in_24_hours", "calls_in_7_days"),
)
"""What is shown as it was kept."""
_COPIED_IF_KEPT = ("consent_basis", "consent_answer", "consent_date", "consent_reference")
"""Shown in the same way; calls of earlier releases do not have it."""


@handles(contract.get_call_evidence)
def get_call_evidence(asked: contract.GetCallEvidence, context: RequestContext) -> contract.CallEvidenceWithHistory:
    """Why one call was allowed, with the decisions before it that forbade calls to its contact."""
    row = find(context, asked.call_uuid)
    decisions = (
        select(contact_decisions)
        .where(_H.deployment_id == row.deployment_id, _H.contact_id == row.contact_id, _H.decided_at < row.created_at)
        .order_by(_H.id.desc())
        .limit(_MOST_DECISIONS)
    )
    found = context.connection.execute(decisions).all()
    return resource(contract.CallEvidenceWithHistory, row, **_kept(context.connection, row), history=_history(found))


@handles(contract.list_evidence)
def list_evidence(asked: contract.ListEvidence, context: RequestContext) -> Page[contract.CallEvidence]:
    """A page of the evidence of a deployment's calls, the newest first."""
    find_deployment(context, asked.id, lock=False)
    rows = select(calls).where(_C.org_id == context.org_id, _C.deployment_id == asked.id)
    listing = Listing(contract.list_evidence, rows, {"created_at": _C.created_at}, _C.id, countable=("created_at",))
    return context.page(listing, asked, partial(_shown, context.connection))


def _shown(connection: Connection, row: Row[Any]) -> contract.CallEvidence:
    return resource(contract.CallEvidence, row, **_kept(connection, row))


def _kept(connection: Connection, row: Row[Any]) -> dict[str, Any]:
    """The fields that are not columns of their names."""
    about: dict[str, Any] = {"call_id": row.id, "to": row.to_number, "resolved": resolution_of(row.resolved)}
    if row.evidence is None:
        return about
    kept = json.loads(row.evidence)
    sources = _sources(connection, kept["rules_version"])
    return {
        **about,
        **{name: kept[name] for name in _COPIED},
        **{name: kept.get(name) for name in _COPIED_IF_KEPT},
        "rules": [_rule(name, sources.get(name)) for name in kept["rules"]],
        "do_not_call_checked_at": moment_or_none(kept["do_not_call_checked_ms"]),
    }


def _sources(connection: Connection, version: str) -> dict[str, Source]:
    return {rule.id: rule.source for rule in rules_of_version(connection, version).rules()}


def _rule(name: str, source: Source | None) -> contract.EvidenceRule:
    if source is None:  # the file of that version is not here any more
        return contract.EvidenceRule(id=name, source="", verified=False)
    return contract.EvidenceRule(id=name, source=source.title, url=source.url, verified=source.read)


def _history(found: Sequence[Row[Any]]) -> list[contract.ContactDecision]:
    return [
        contract.ContactDecision(
            decided_at=moment(row.decided_at),
            decision=row.decision,
            rule=row.rule,
            until=moment_or_none(row.until),
            rules_version=row.rules_version,
        )
        for row in found
    ]
