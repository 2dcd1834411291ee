"""Good answers about why calls were allowed, and good arguments."""

from collections.abc import Callable, Mapping
from typing import Any

from callwright.contract.calls.evidence import (
    CallEvidence,
    CallEvidenceWithHistory,
    ContactDecision,
    EvidenceRule,
)
from callwright.contract.declaration.model import Resource
from tests.support.tools.finding_samples import AT

_KEPT: dict[str, Any] = {
    "call_id": "cal_1",
    "deployment_id": "dep_1",
    "contact_id": "ctc_1",
    "to": "+13055550100",
    "created_at": AT,
    "simulated": True,
    "rules_version": "2026.11.1",
    "regions": ["US", "US-FL"],
    "time_zones": ["America/New_York"],
    "local_time": "Sat 2026-11-21 09:30:00 -0500",
    "rules": [EvidenceRule(id="US-FL.hours", source="Fla. Stat. 501.616", url=None, verified=True)],
    "consent_basis": "column",
    "consent_column": "agreed",
    "consent_answer": "yes",
    "consent_date": "2026-10-01",
    "consent_reference": "forms.pdf",
    "calls_in_24_hours": 1,
    "calls_in_7_days": 1,
    "do_not_call_checked_at": AT,
}


def evidence() -> CallEvidence:
    """A call to Florida in the morning."""
    return CallEvidence(**_KEPT)


LISTED: Mapping[str, Callable[[], Resource]] = {"list_evidence": evidence}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "get_call_evidence": {"call_id": "cal_1"},
    "list_evidence": {"deployment_id": "dep_1"},
}


def singles() -> dict[str, Resource]:
    """An answer for every operation that does not answer with a list."""
    earlier = ContactDecision(decided_at=AT, decision="deferred", rule="*.hours", until=AT, rules_version="2026.11.1")
    return {"get_call_evidence": CallEvidenceWithHistory(**_KEPT, history=[earlier])}
