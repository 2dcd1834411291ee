"""A preview promises no call that cannot be made: budget, wallet, end, and the column that says who agreed."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from callwright.contract.declaration.field_types import Spend
from callwright.contract.deployments.dialling import CallingHours, Compliance, Window
from tests.support.campaigns import draft, leave_in_wallet, people, run
from tests.support.resources import refusal
from tests.support.service import Tenant


@pytest.mark.requirement("ERR-98")
@pytest.mark.parametrize("cap", ["0", "0.0001"])
async def test_a_budget_cap_below_the_price_of_one_call_starts_nothing_and_the_preview_says_so(
    tenant: Tenant, cap: str
) -> None:
    client = tenant.client.deployments
    made = await draft(tenant, people(3), budget_cap=Spend(amount=cap))
    seen = await client.preview(id=made.id)
    assert len(seen.problems) == 1
    assert seen.problems[0].startswith("budget_reached: ")
    async with refusal(422, "budget_reached", "budget_cap") as kept:
        await client.start(id=made.id, plan_id=seen.plan_id)
    assert kept[0].message == seen.problems[0]
    assert (await client.get(id=made.id)).status == "draft"
    await client.update(id=made.id, budget_cap=Spend(amount="5"))
    assert (await client.start(id=made.id)).status == "active"


@pytest.mark.requirement("ERR-98")
@pytest.mark.service(workers=True)
async def test_a_campaign_whose_budget_is_used_up_is_not_resumed_until_the_cap_is_higher(tenant: Tenant) -> None:
    client = tenant.client.deployments
    paused = await run(tenant, people(80, sim_outcome="answered"), budget_cap=Spend(amount="0.10"))
    assert paused.status_reason == "budget_reached"
    for cap in ("0.10", "0.01"):  # a cap below what is spent may be set
        await client.update(id=paused.id, budget_cap=Spend(amount=cap))
        seen = await client.preview(id=paused.id)
        assert [said.partition(":")[0] for said in seen.problems] == ["budget_reached"]
        async with refusal(422, "budget_reached", "budget_cap") as kept:
            await client.resume(id=paused.id, plan_id=seen.plan_id)
        assert kept[0].message == seen.problems[0]
    assert (await client.get(id=paused.id)).status == "paused"


async def test_an_end_before_the_first_calling_hour_is_told_in_the_sentence_and_the_warnings(tenant: Tenant) -> None:
    monday = datetime(2099, 1, 5, 8, tzinfo=UTC)
    hours = CallingHours(
        timezone_mode="fixed", timezone="UTC", windows=[Window(days=["wed"], start="09:00", end="17:00")]
    )
    times: dict[str, Any] = {"start_at": monday, "end_at": monday + timedelta(days=1), "calling_hours": hours}
    seen = await tenant.client.deployments.preview(id=(await draft(tenant, people(3), **times)).id)
    assert seen.next_call_at is None
    assert "NOBODY CAN BE CALLED within the calling hours and before the end" in seen.summary
    assert [said for said in seen.warnings if said.startswith("nobody can be called: ")]
    fits = await draft(tenant, people(3), "Fits", **{**times, "end_at": monday + timedelta(days=7)})
    assert "NOBODY" not in (await tenant.client.deployments.preview(id=fits.id)).summary


async def test_a_wallet_that_does_not_cover_the_most_it_may_cost_is_a_warning_in_words(tenant: Tenant) -> None:
    made = await draft(tenant, people(80))
    assert (await tenant.client.deployments.preview(id=made.id)).warnings == []
    await leave_in_wallet(tenant, 100_000)
    seen = await tenant.client.deployments.preview(id=made.id)
    assert not seen.cost.covered
    assert seen.warnings == [
        f"the wallet has 0.100000 USD and this may cost {seen.cost.high.amount} USD: the campaign pauses when the "
        "money is used up; `callwright orgs fund tests --amount N` on the machine of the service tops up the "
        "wallet, or lower budget_cap"
    ]


async def test_a_consent_column_that_the_audience_lacks_is_a_problem_that_names_those_it_has(tenant: Tenant) -> None:
    made = await draft(tenant, people(2, agreed="yes"), compliance=Compliance(consent_column="consent"))
    seen = await tenant.client.deployments.preview(id=made.id)
    assert seen.problems == [
        "the audience has no column 'consent' for compliance.consent_column; it has 'first_name', 'agreed'"
    ]
    async with refusal(422, "audience_not_ready") as kept:
        await tenant.client.deployments.start(id=made.id, plan_id=seen.plan_id)
    assert (kept[0].message, kept[0].details) == (seen.problems[0], {"missing_columns": ["consent"]})
    await tenant.client.deployments.update(id=made.id, compliance=Compliance(consent_column="agreed"))
    assert (await tenant.client.deployments.start(id=made.id)).status == "active"


NEITHER = "will not be called, whose consent column says neither yes nor no"
COUNTS = (
    "words that count: yes, true, 1, y, ja, wahr, oui, vrai, sí, si, verdadero, sì, vero, waar, sim, verdadeiro, "
    "हाँ, हां, given, opt-in, opted in, opt in, opted-in"
)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (("klar", "Nein", "x"), f"nobody's consent column says yes: 'agreed' says klar or nein or x; {COUNTS}"),
        (("", "", ""), f"nobody's consent column says yes: 'agreed' is empty; {COUNTS}"),
        (
            ("ada@example.com", "+12025550100", "no"),
            f"nobody's consent column says yes: 'agreed' says other things; {COUNTS}",
        ),
        (("a", "b", "c", "d"), f"nobody's consent column says yes: 'agreed' says other things; {COUNTS}"),
        (("no", "YES", "no"), None),
        (("no", "Opt-In", "no"), None),
        (("ja", "Nein", "não"), None),
        (
            ("yes", "x", "Maybe", "", "no"),
            f"2 people {NEITHER}: 'agreed' says maybe or x; {COUNTS}",
        ),
        (
            ("yes", "2026-01-02"),
            f"1 person {NEITHER}: 'agreed' says other things; {COUNTS}",
        ),
    ],
)
async def test_a_consent_column_in_which_nobody_says_yes_is_a_warning_with_the_words_that_count(
    values: tuple[str, ...], said: str | None, tenant: Tenant
) -> None:
    rows = [{**row, "agreed": value} for row, value in zip(people(len(values)), values, strict=True)]
    made = await draft(tenant, rows, compliance=Compliance(consent_column="agreed"))
    seen = await tenant.client.deployments.preview(id=made.id)
    assert seen.warnings == ([said] if said else [])


@pytest.mark.parametrize(
    "said",
    [
        *(
            "ja",
            "JA",
            "WAHR",
            "oui",
            "Vrai",
            "sí",
            "SÍ",
            "SI\u0301",
            "si",
            "Sì",
            "SÌ",
            "vero",
            "sim",
            "Verdadeiro",
            "waar",
        ),
        *("opt in", "Opted-in", "हाँ", "हां", "verdadero"),
    ],
)
async def test_a_clear_yes_in_a_language_of_the_agents_is_consent(said: str, tenant: Tenant) -> None:
    rows = [{**row, "agreed": value} for row, value in zip(people(2), (said, "no"), strict=True)]
    made = await draft(tenant, rows, compliance=Compliance(consent_column="agreed"))
    seen = await tenant.client.deployments.preview(id=made.id)
    assert (seen.eligible, seen.warnings) == (1, [])


@pytest.mark.parametrize("said", ["x", "2026-01-02", "j", "ok", "no", "nein", ""])
async def test_a_mark_a_date_or_a_letter_is_no_consent(said: str, tenant: Tenant) -> None:
    rows = [{**row, "agreed": value} for row, value in zip(people(2), (said, "yes"), strict=True)]
    made = await draft(tenant, rows, compliance=Compliance(consent_column="agreed"))
    assert (await tenant.client.deployments.preview(id=made.id)).eligible == 1
