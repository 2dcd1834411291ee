"""The reasons of previews and refused starts: consent, the rule of ordinary days, caps; and moments that agree."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from callwright.contract.deployments.dialling import WEEKDAYS, CallingHours, Compliance, Window
from callwright.contract.do_not_call import NewEntry
from tests.support.campaigns import audience_of, called_by_campaigns, draft, people, phone, started
from tests.support.clock_set_by_test import clock_at
from tests.support.resources import refusal
from tests.support.service import Tenant, open_service

shipped = pytest.mark.usefixtures("shipped_law")
THANKSGIVING = datetime(2026, 11, 26, 18, tzinfo=UTC)
FRIDAY = datetime(2026, 12, 4, 18, tzinfo=UTC)
ANSWERS: dict[str, Any] = {"sim_outcome": "answered", "sim_intent": "yes"}
MARKETING = Compliance(purpose="marketing")


def in_tokyo(start: str, end: str) -> CallingHours:
    """Fixed hours of every day in Tokyo."""
    windows = [Window(days=list(WEEKDAYS), start=start, end=end)]
    return CallingHours(timezone_mode="fixed", timezone="Asia/Tokyo", windows=windows)


@shipped
async def test_fixed_hours_that_never_fit_are_refused_with_the_rule_of_ordinary_days(
    database_url: str, tmp_path: Path
) -> None:
    async with open_service(database_url, tmp_path, workers=False, clock=clock_at(THANKSGIVING)) as tenant:
        made = await draft(tenant, people(2, area="212"), calling_hours=in_tokyo("15:00", "17:00"))
        async with refusal(422, "compliance_rejected", "calling_hours") as found:
            await tenant.client.deployments.start(id=made.id)
        assert found[0].details == {"reasons": ["calling_hours"], "rule": "*.hours"}
        seen = await tenant.client.deployments.preview(id=made.id)
        assert (seen.next_call_at, seen.finishes_at, seen.last_call_at) == (None, None, None)


@shipped
async def test_people_who_can_never_be_called_do_not_hide_when_the_others_are(
    database_url: str, tmp_path: Path
) -> None:
    """From 10:00 to 12:00 in Tokyo it is evening in New York and early morning in Berlin."""
    async with open_service(database_url, tmp_path, workers=False, clock=clock_at(FRIDAY)) as tenant:
        berlin: dict[str, Any] = {"phone_number": "+493055500100", "first_name": "A"}
        fits = in_tokyo("09:00", "12:00")
        made = await draft(tenant, [*people(2), berlin], calling_hours=fits)
        seen = await tenant.client.deployments.preview(id=made.id)
        assert (seen.eligible, {one.reason: one.count for one in seen.blocked}["calling_hours"]) == (2, 1)
        assert seen.next_call_at is not None
        assert seen.finishes_at is not None
        assert seen.last_call_at is not None
        assert seen.next_call_at <= seen.last_call_at <= seen.finishes_at


@shipped
async def test_people_whose_number_used_its_caps_on_a_holiday_are_deferred_by_the_cap_and_the_moments_agree(
    database_url: str, tmp_path: Path
) -> None:
    async with open_service(database_url, tmp_path, workers=False, clock=clock_at(THANKSGIVING)) as tenant:
        await called_by_campaigns(tenant, people(1, area="305", **ANSWERS), 3)
        last = await draft(tenant, people(1, area="305"), "Last")
        seen = await tenant.client.deployments.preview(id=last.id)
        assert [(by.rule, by.count) for by in seen.deferred] == [("*.caps-day", 1)]
        assert seen.next_call_at is not None
        assert seen.finishes_at is not None
        assert seen.next_call_at.day > 27
        assert seen.finishes_at >= seen.next_call_at


@shipped
async def test_marketing_without_consent_is_refused_for_that_and_not_for_its_hours(
    database_url: str, tmp_path: Path
) -> None:
    async with open_service(database_url, tmp_path, workers=False, clock=clock_at(FRIDAY)) as tenant:
        made = await draft(tenant, people(2, area="212"), compliance=MARKETING)
        seen = await tenant.client.deployments.preview(id=made.id)
        assert not any("calling" in said for said in (*seen.problems, *seen.warnings))
        assert len([said for said in seen.problems if "consent" in said]) == 1
        [said] = [said for said in seen.warnings if "nobody can be called" in said]
        assert "consent" in said
        assert "name a consent_column" in said
        assert "NOBODY CAN BE CALLED without their consent" in seen.summary
        async with refusal(422, "compliance_rejected", "compliance"):
            await tenant.client.deployments.start(id=made.id)


async def test_a_start_in_which_nobody_consents_is_refused(tenant: Tenant) -> None:
    made = await draft(tenant, people(2, ok="no"), compliance=Compliance(consent_column="ok"))
    async with refusal(422, "compliance_rejected", "compliance") as found:
        await tenant.client.deployments.start(id=made.id)
    assert found[0].details == {"reasons": ["no_consent"], "rule": "no_consent"}
    assert "the consent column 'ok' says yes for nobody" in found[0].message
    assert found[0].message in (await tenant.client.deployments.preview(id=made.id)).problems
    await tenant.client.audiences.add_rows(id=audience_of(made), rows=people(1, first=9, ok="yes"))
    assert (await tenant.client.deployments.start(id=made.id)).status == "active"


async def test_after_the_start_those_who_are_left_out_are_counted_by_reason(tenant: Tenant) -> None:
    await tenant.client.do_not_call.add(entries=[NewEntry(number=phone(0))], simulated=True)
    rows = [*people(1, ok="yes"), *people(2, first=1, ok="no"), *people(3, first=3, ok="yes")]
    made = await started(tenant, rows, compliance=Compliance(consent_column="ok"))
    seen = await tenant.client.deployments.preview(id=made.id)
    assert {one.reason: one.count for one in seen.blocked if one.count} == {"do_not_call": 1, "no_consent": 2}
    shown = await tenant.client.deployments.list_contacts(id=made.id, status=["suppressed"])
    assert sorted(str(one.decided_by) for one in shown.data) == ["do_not_call", "no_consent", "no_consent"]


async def test_beyond_a_thousand_people_a_preview_says_of_whom_its_figures_are(tenant: Tenant) -> None:
    few = await draft(tenant, people(3), "Few")
    many = await draft(tenant, people(1_001), "Many")
    said = "the figures by rule are of the first 1,000 people"
    assert said not in (await tenant.client.deployments.preview(id=few.id)).warnings
    assert said in (await tenant.client.deployments.preview(id=many.id)).warnings
