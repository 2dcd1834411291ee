"""Opens compliance reviews, and expires those that nobody decided.

An open review is written, told and audited in one transaction, which pauses the campaigns that it concerns. Another
review of the same category and subject is not opened while one waits for a decision.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Row, RowMapping, bindparam, select

from callwright.contract.checks.counts import first_of
from callwright.contract.compliance_reviews import ReviewCategory, ReviewSeverity, ReviewSubject, SubjectType
from callwright.contract.events import COMPLIANCE_ACTION_REQUIRED, ComplianceActionRequired
from callwright.service.accounts.principals import SERVICE
from callwright.service.dialling import endings
from callwright.service.dialling.queue import LOCKED
from callwright.service.platform.clock.clock import moment
from callwright.service.platform.ids import Ids
from callwright.service.platform.json_text import json_text
from callwright.service.platform.own_address import review_url
from callwright.service.rules.review_thresholds import DUE_MS, SEVERITY, Finding
from callwright.service.tables import audit_log, compliance_reviews, outbox
from callwright.service.tables.schema import deployment_numbers, deployments

PAUSED_FOR = "compliance"
"""The status reason of a campaign that a review paused."""
_D, _N = deployments.c, deployment_numbers.c
_GOES = (_D.call_type == "outbound", _D.status.in_(("active", "scheduled")))
_CALLING_FROM = select(_N.deployment_id).where(_N.phone_number_id == bindparam("subject"))
_CONCERNED = {
    "deployment": select(_D.id).where(_D.id == bindparam("subject"), *_GOES),
    "phone_number": select(_D.id).where(_D.id.in_(_CALLING_FROM), *_GOES).order_by(_D.id),
    "organization": select(_D.id).where(_D.org_id == bindparam("subject"), *_GOES).order_by(_D.id),
}
"""The campaigns that dial or will, by the kind of what a review is about."""


@dataclass(frozen=True, kw_only=True)
class Concern:
    """What has to be reviewed. `message` and `facts` name no person who is called and hold nothing that was said."""

    category: ReviewCategory
    subject_type: SubjectType
    subject_id: str
    message: str
    simulated: bool
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    blocking: bool = True


def open_review(
    connection: Connection, ids: Ids, org_id: str, concern: Concern, *, now_ms: int, public_url: str | None
) -> str | None:
    """Opens a review and, if it is blocking, pauses the active and scheduled campaigns that it concerns.

    Returns the id of the review; None if one of this category waits for a decision on the subject already, which has
    paused them. Who holds the lock of a deployment opens reviews of that deployment only, so that no two wait for each
    other.
    """
    review_id = ids.new("rev")
    row = {
        "id": review_id,
        "org_id": org_id,
        "category": concern.category,
        "severity": SEVERITY[concern.category],
        "status": "open",
        "subject_type": concern.subject_type,
        "subject_id": concern.subject_id,
        "message": concern.message,
        "facts": json_text(dict(concern.facts)),
        "blocking": concern.blocking,
        "simulated": concern.simulated,
        "created_at": now_ms,
        "due_at": now_ms + DUE_MS[concern.category],
    }
    if not compliance_reviews.add(connection, row):
        return None
    _tell(connection, ids, row, "opened", SEVERITY[concern.category], now_ms=now_ms, public_url=public_url)
    if concern.blocking:
        _pause(connection, ids, concern, now_ms)
    return review_id


def _pause(connection: Connection, ids: Ids, concern: Concern, now_ms: int) -> None:
    concerned = connection.execute(_CONCERNED[concern.subject_type], {"subject": concern.subject_id}).scalars().all()
    for deployment_id in concerned:
        row = connection.execute(LOCKED, {"id": deployment_id}).one_or_none()
        if row is not None and row.status in ("active", "scheduled"):
            endings.pause_holding_lock(connection, ids, row, PAUSED_FOR, now_ms=now_ms)


def review_finding(
    connection: Connection,
    ids: Ids,
    campaign: Row[Any],
    finding: Finding,
    message: str,
    *,
    now_ms: int,
    public_url: str | None,
) -> None:
    """Opens the review of a campaign whose calls gave a finding. `message` has places for its figures."""
    figures = {"calls": finding.calls, "found": finding.found, "percent": finding.percent}
    concern = Concern(
        category=finding.category,
        subject_type="deployment",
        subject_id=campaign.id,
        message=message.format(**figures),
        simulated=campaign.simulated,
        facts=figures,
    )
    open_review(connection, ids, campaign.org_id, concern, now_ms=now_ms, public_url=public_url)


_MOST_NAMED = 5
"""Rules that the message of a review names."""
_MOST_KEPT = 50
"""Rules that its facts name."""


def rules_changed(
    connection: Connection,
    ids: Ids,
    campaign: Row[Any],
    *,
    version: str,
    changed: Sequence[str],
    now_ms: int,
    public_url: str | None,
) -> str | None:
    """Opens the review of a campaign that newer rules concern, and pauses it.

    `version` names the rules, `changed` the ids of those that differ from the former ones.
    """
    said = f" ({first_of(changed, _MOST_NAMED)})" if changed else ""
    return open_review(
        connection,
        ids,
        campaign.org_id,
        Concern(
            category="rules_changed",
            subject_type="deployment",
            subject_id=campaign.id,
            message=f"The rules of calling have changed with version {version}{said}: look whether the campaign may "
            "go on.",
            simulated=campaign.simulated,
            facts={"rules_version": version, "rules": list(changed[:_MOST_KEPT])},
        ),
        now_ms=now_ms,
        public_url=public_url,
    )


def unknown_countries(
    connection: Connection,
    ids: Ids,
    campaign: Row[Any],
    *,
    countries: Sequence[str],
    blocking: bool,
    now_ms: int,
    public_url: str | None,
) -> None:
    """Opens the review of a campaign with people in countries without rules of their own; a blocking one pauses it.

    `countries` are all of them, by ISO 3166-1 alpha-2 code. A review that waits for a decision names them all from
    now on, and is told of again.
    """
    named = ", ".join(countries)
    concern = Concern(
        category="unknown_country",
        subject_type="deployment",
        subject_id=campaign.id,
        message=f"There are no rules of calling for {named}, where people would be called: look up the law.",
        simulated=campaign.simulated,
        facts={"countries": list(countries)},
        blocking=blocking,
    )
    if open_review(connection, ids, campaign.org_id, concern, now_ms=now_ms, public_url=public_url) is not None:
        return
    waiting = compliance_reviews.newest(connection, campaign.id, concern.category)
    if waiting is None:
        return
    changed = {"message": concern.message, "facts": json_text(dict(concern.facts)), "blocking": blocking}
    compliance_reviews.change(connection, waiting.id, **changed)
    names = ("id", "org_id", "subject_type", "subject_id", "category", "due_at", "simulated")
    row = {**{name: getattr(waiting, name) for name in names}, **changed}
    _tell(connection, ids, row, "changed", waiting.severity, now_ms=now_ms, public_url=public_url)
    if blocking:
        _pause(connection, ids, concern, now_ms)


def expire(connection: Connection, ids: Ids, *, now_ms: int, public_url: str | None) -> int:
    """Expires reviews that are past due, up to a hundred, and tells of each once; returns how many.

    An expired review has a high severity. It blocks as before, and can still be decided.
    """
    found = compliance_reviews.overdue(connection, now_ms)
    for row in found:
        compliance_reviews.change(connection, row["id"], status="expired", severity="high")
        _tell(connection, ids, row, "expired", "high", now_ms=now_ms, public_url=public_url)
    return len(found)


def _tell(
    connection: Connection,
    ids: Ids,
    row: Mapping[str, Any] | RowMapping,
    what: str,
    severity: ReviewSeverity,
    *,
    now_ms: int,
    public_url: str | None,
) -> None:
    """Adds the event and the audit entry of a review that was opened or has expired."""
    data = ComplianceActionRequired(
        review_id=row["id"],
        subject=ReviewSubject(type=row["subject_type"], id=row["subject_id"]),
        category=row["category"],
        severity=severity,
        message=row["message"],
        due_at=moment(row["due_at"]),
        action_url=review_url(public_url, row["id"]),
        simulated=row["simulated"],
    )
    org_id: str = row["org_id"]
    outbox.emit(
        connection, ids, org_id, COMPLIANCE_ACTION_REQUIRED, data, at_ms=now_ms, simulated=bool(row["simulated"])
    )
    changes = {"category": row["category"], "subject_id": row["subject_id"], "severity": severity}
    action = f"compliance_review.{what}"
    entry = audit_log.entry_row(ids, org_id, action, row["id"], by=SERVICE, at_ms=now_ms, changes=changes)
    audit_log.add_entries(connection, [entry])
