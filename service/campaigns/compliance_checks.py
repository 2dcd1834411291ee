"""What compliance demands of a start: consent for marketing, and no review that forbids it."""

import json
from typing import Any

from sqlalchemy import Connection, Row

from callwright.contract.problems import COMPLIANCE_REJECTED
from callwright.service.campaigns.unknown_countries import paused_for_countries
from callwright.service.dialling import endings
from callwright.service.dialling.eligibility.gate import NO_CONSENT
from callwright.service.dialling.stops.reviews import PAUSED_FOR, Concern, open_review
from callwright.service.platform.ids import Ids
from callwright.service.platform.phone import redacted
from callwright.service.platform.refusals import Refusal
from callwright.service.tables import compliance_reviews
from callwright.service.tables.campaign_settings import settings_of

_CONSENT_MISSING = "consent_missing"
HOW_TO_CONSENT = (
    "name a consent_column, or set consent_attested and say in consent_reference where the consents are kept"
)
_MARKETING = f"compliance: a marketing campaign needs consent: {HOW_TO_CONSENT}"
_UNPROVEN = (
    "consent is attested and nothing says where the consents are kept: a start pauses the campaign for a review; "
    "compliance.consent_reference avoids that"
)
_TO_REVIEW = (
    "The campaign is for marketing, and consent is attested without saying where the consents are kept: look at them "
    "before anybody is called."
)
_STATES = {
    "open": "waits for a decision",
    "expired": "is past due and waits for a decision",
    "rejected": "was rejected: clone the campaign to call people in another way",
}


def compliance_refusals(connection: Connection, row: Row[Any]) -> list[Refusal]:
    """The refusals of a start for reasons of compliance, those of reviews first."""
    found = compliance_reviews.blocking(connection, [row.id, row.org_id, *json.loads(row.phone_number_ids)])
    refusals = [
        Refusal(
            COMPLIANCE_REJECTED,
            f"compliance review {review.id} ({review.category}) {_STATES[review.status]}",
            details={"reasons": [review.category], "review_id": review.id},
        )
        for review in found
    ]
    if _needs_consent(row) and not settings_of(row).compliance.consent_attested:
        details = {"reasons": [_CONSENT_MISSING]}
        refusals.append(Refusal(COMPLIANCE_REJECTED, _MARKETING, field="compliance", details=details))
    return refusals


def consent_refusal(rule: str | None = None, *, consent_column: str | None = None) -> Refusal:
    """The refusal of a start in which nobody may be called for want of consent.

    `rule` is that of the region which asks for it; without, the campaign's own `consent_column` says yes for nobody, or
    where there is none the list says no for everybody, against an attested consent.
    """
    if rule is not None:
        said = f"nobody may be called without the consent that the rule {rule} needs; {HOW_TO_CONSENT}"
    elif consent_column is not None:
        said = (
            f"the consent column {redacted(consent_column)!r} says yes for nobody who may be called; correct it in the "
            "audience, or name another consent_column"
        )
    else:
        said = (
            "the list says no in its column of consent for everybody who may be called, and that wins over "
            "consent_attested; make an audience of people who agreed"
        )
    message = f"compliance: {said}"
    details = {"reasons": [NO_CONSENT], "rule": rule or NO_CONSENT}
    return Refusal(COMPLIANCE_REJECTED, message, field="compliance", details=details)


def _needs_consent(row: Row[Any]) -> bool:
    """Whether people may be called only with consent, and no column says who gave it."""
    compliance = settings_of(row).compliance
    return compliance.purpose == "marketing" and compliance.consent_column is None


def _is_unproven(connection: Connection, row: Row[Any]) -> bool:
    """Whether consent is attested, nothing says where it is kept, and no person has approved that."""
    compliance = settings_of(row).compliance
    shown = (compliance.consent_reference or "").strip()
    if not _needs_consent(row) or not compliance.consent_attested or shown:
        return False
    return compliance_reviews.newest(connection, row.id, _CONSENT_MISSING) is None


def advice_on_consent(connection: Connection, row: Row[Any]) -> list[str]:
    """The warning of a preview that a start leads to a review."""
    return [_UNPROVEN] if _is_unproven(connection, row) else []


def paused_for_review(connection: Connection, ids: Ids, row: Row[Any], *, now_ms: int, public_url: str | None) -> bool:
    """Whether a start or resume ends in a review, of the consent or of countries without rules."""
    given: dict[str, Any] = {"now_ms": now_ms, "public_url": public_url}
    return _paused_for_consent(connection, ids, row, **given) or paused_for_countries(connection, ids, row, **given)


def _paused_for_consent(
    connection: Connection, ids: Ids, row: Row[Any], *, now_ms: int, public_url: str | None
) -> bool:
    """Whether a start or resume ends in a review of the consent: it is opened and the deployment is paused.

    The caller holds the lock of the deployment and has found no refusal.
    """
    if not _is_unproven(connection, row):
        return False
    concern = Concern(
        category=_CONSENT_MISSING,
        subject_type="deployment",
        subject_id=row.id,
        message=_TO_REVIEW,
        simulated=row.simulated,
        facts={"purpose": settings_of(row).compliance.purpose},
    )
    open_review(connection, ids, row.org_id, concern, now_ms=now_ms, public_url=public_url)
    if row.status in ("draft", "paused"):  # an active or scheduled one was paused with the review
        endings.pause_holding_lock(connection, ids, row, PAUSED_FOR, now_ms=now_ms)
    return True
