"""Asks the gate of the product, for comparing; nothing else here knows the product."""

import json
from datetime import UTC, datetime, timedelta
from functools import cache

from callwright.contract.deployments.dialling import CallingHours
from callwright.service.dialling.eligibility.attempts import PastCall
from callwright.service.dialling.eligibility.campaign_hours import CampaignHours
from callwright.service.dialling.eligibility.gate import Allowed, Candidate, gate
from callwright.service.rules.regions.region_rules import RegionRules
from callwright.service.rules.regions.rule_file import shipped_rules
from tests.oracle.law import Answer, Question

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def gate_answer(question: Question) -> Answer:
    """What the gate says: allowed, or its refusal in its own words."""
    given = question.calling_hours
    hours = None if given is None else CallingHours.model_validate(given)
    campaign = CampaignHours(_rules(), hours, question.purpose)  # pyright: ignore[reportArgumentType]  # drawn from a list
    cells = None if question.state is None else json.dumps({"state": question.state})
    candidate = Candidate(
        contact_id="con_1",
        phone=question.number,
        due_ms=0,
        hours=campaign.of_person(question.number, question.timezone, cells),
        past=tuple(PastCall(_ms(at), outcome) for at, outcome in question.earlier),
        consents=question.consent,
    )
    answer = gate(candidate, _ms(question.at))
    allowed = isinstance(answer, Allowed)
    return Answer(allowed=allowed, rule="" if allowed else repr(answer))


@cache
def _rules() -> RegionRules:
    return shipped_rules()


def _ms(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(milliseconds=1)
