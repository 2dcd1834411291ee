"""Words of the API in sentences for people: why something waits or has ended, how it stands with a contact.

What is not here is shown as `words` shows it: a word that is new in the API is never lost.
"""

import re
from functools import lru_cache

from markupsafe import Markup, escape

from callwright.service.dashboard.html.field_names import label_of
from callwright.service.dashboard.html.formats import tone, words

_REASONS = {
    "audience_exhausted": "everybody was called, or cannot be called",
    "storage_full": "the disk of the service is full: make room there, then resume",
    "manual": "by a person or a program",
    "unconfirmed_calls": "nobody knows of some calls whether they rang: decide them, on the pages of these calls",
    "circuit_breaker": "too many calls failed: look at the calls, then resume",
    "abandon_rate": "too many people who answered heard nobody: look at the calls, then resume",
    "compliance": "a review waits for a person: decide it under Reviews, then resume",
    "no_call_engine": "the service makes no such calls at the moment",
    "talk_ended": "the talk is over",
}
"""Why a campaign has its status. `service/dialling` and `service/campaigns` write these."""
_CONTACTS = {
    "pending": "not called yet",
    "in_flight": "being called",
    "retry_waiting": "called again later",
    "held": "unclear whether it rang",
    "completed": "reached",
    "exhausted": "not reached",
    "suppressed": "left out",
    "expired": "not in time",
}
_RULES = {
    "hours": "outside of the hours",
    "holidays": "a public holiday",
    "caps": "called often enough for now",
    "pause": "called a short while ago",
    "consent": "no consent",
    "max_calls_per_day": "the calls a day of the numbers are used up",
    "calling_hours": "outside of the campaign's hours",
    "allowed": "nothing stood in the way",
    "called_elsewhere": "being called by another campaign",
    "budget_cap": "what the campaign may spend is used up",
    "budget_reached": "what the campaign may spend is used up",
    "predial_later": "your pre-dial check said later",
    "predial_unavailable": "your pre-dial check does not answer",
}
"""The last part of a rule's id, or what a rule is called that has no region."""
_CODE = re.compile(r"^(?:[a-z_]+\.)*[a-z]+(?:_[a-z]+)+: |^[a-z]+(?:\.[a-z_]+)+: ")
_FIELDS = (
    *("budget_cap", "daily_budget_cap", "max_calls_per_day", "consent_column", "consent_attested", "phone_number_ids"),
    *("calling_hours", "max_attempts", "max_concurrency", "end_at", "start_at"),
)
"""Fields that the problems of a plan name."""


def reason_words(text: str | None) -> str:
    """Why a campaign has its status."""
    return _REASONS.get(text or "", words(text))


def contact_words(text: str | None) -> str:
    """How it stands with a contact."""
    return _CONTACTS.get(text or "", words(text))


@lru_cache(64)
def contact_mark(text: str | None) -> Markup:
    """How it stands with a contact, in its colour."""
    return Markup(f'<span class="state" data-tone="{tone(text)}">{escape(contact_words(text))}</span>')


def rule_words(text: str | None) -> str:
    """What a rule says, with the region whose rule it is: `US-FL.hours` is `outside of the hours (US-FL)`."""
    region, dot, kind = (text or "").rpartition(".")
    known = _RULES.get(kind) or _RULES.get(kind.partition("-")[0])
    if known is None:
        return words(text)
    return f"{known} ({region})" if dot and region.isupper() else known


def problem_words(text: str) -> str:
    """What keeps a plan from starting, or is to be known of it: without codes, with fields as the forms call them."""
    said = _CODE.sub("", text).replace("`", "")
    for name in _FIELDS:
        said = re.sub(rf"(?<![a-z_.]){name}(?![a-z_])", f"“{label_of(name)}”", said)
    return f"{said[:1].upper()}{said[1:]}"
