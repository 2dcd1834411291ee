"""The evidence of a call says on which consent it was allowed, as it was then."""

from typing import Any

import pytest

from callwright.contract.calls.evidence import CallEvidence
from callwright.contract.deployments.dialling import Compliance
from tests.support.campaigns import audience_of, calls_of, ended_by_workers, phone, started
from tests.support.service import Tenant

pytestmark = pytest.mark.requirement("CONSENT-03")


async def evidence_of(tenant: Tenant, compliance: Compliance, **cells: str) -> tuple[CallEvidence, str]:
    """The evidence of the only call of a campaign, and its audience."""
    steering = {"sim.outcome": "answered", "sim.intent": "yes"}
    person: dict[str, Any] = {"phone_number": phone(0), "first_name": "Kim", **steering, **cells}
    made = await started(tenant, [person], compliance=compliance)
    await ended_by_workers(tenant, made.id)
    [call] = await calls_of(tenant, made.id)
    kept = await tenant.client.calls.get_evidence(call_uuid=call.id)
    [listed] = [one async for one in tenant.client.deployments.list_evidence(id=made.id)]
    assert listed.model_dump() == {name: value for name, value in kept.model_dump().items() if name != "history"}
    return kept, audience_of(made)


def consent_in(kept: CallEvidence) -> tuple[str | None, ...]:
    return (
        *(kept.consent_basis, kept.consent_column, kept.consent_answer),
        *(kept.consent_date, kept.consent_reference),
    )


async def test_a_call_keeps_the_persons_cell_with_its_date_whatever_the_list_says_later(tenant: Tenant) -> None:
    asked = Compliance(purpose="marketing", consent_column="agreed", consent_reference="forms.pdf")
    kept, audience_id = await evidence_of(tenant, asked, agreed="Yes", agreed_at="2026-10-01 by web")
    said = ("column", "agreed", "Yes", "2026-10-01 by web", "forms.pdf")
    assert consent_in(kept) == said
    later: dict[str, Any] = {"phone_number": phone(0), "first_name": "Kim", "agreed": "no", "agreed_at": "2026-11-01"}
    await tenant.client.audiences.add_rows(id=audience_id, rows=[later])
    assert consent_in(await tenant.client.calls.get_evidence(call_uuid=kept.call_id)) == said


async def test_an_attested_consent_is_kept_with_its_reference(tenant: Tenant) -> None:
    attested = Compliance(purpose="marketing", consent_attested=True, consent_reference="https://example.com/forms")
    kept, _ = await evidence_of(tenant, attested, note="x", consent_date="y" * 300)
    assert consent_in(kept) == ("attested", None, None, "y" * 100, "https://example.com/forms")


async def test_a_call_that_asks_for_no_consent_says_so_and_keeps_no_cell(tenant: Tenant) -> None:
    kept, _ = await evidence_of(tenant, Compliance(), consent="yes", consent_date="2026-10-01")
    assert consent_in(kept) == ("not_needed", None, None, None, None)


async def test_a_deleted_person_leaves_the_basis_and_no_cell(tenant: Tenant) -> None:
    kept, _ = await evidence_of(tenant, Compliance(consent_column="agreed"), agreed="sí", agreed_date="signed by Kim")
    assert consent_in(kept) == ("column", "agreed", "sí", "signed by Kim", None)
    await tenant.client.people.delete(number=phone(0), confirm=True)
    after = await tenant.client.calls.get_evidence(call_uuid=kept.call_id)
    assert consent_in(after) == ("column", "agreed", None, None, None)
    assert after.local_time == kept.local_time
