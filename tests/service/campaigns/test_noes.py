"""Whoever says no in one row of a list is not called: duplicates, several rows of a number, attested consent."""

import itertools
from typing import Any

import pytest
from sqlalchemy import func, insert, select, update

from callwright.contract.deployments.deployments import Deployment
from callwright.contract.deployments.dialling import Compliance
from callwright.service.platform.database.units import PIECE_ROWS, ROWS_AT_ONCE
from callwright.service.tables.schema import audiences, declined_lines
from callwright.service.workers import large_changes
from tests.support.campaigns import audience_of, calls_of, draft, ended_by_workers, make_audience, phone, started
from tests.support.imports import carry_out_import
from tests.support.resources import refusal
from tests.support.service import Tenant

ATTESTED = Compliance(purpose="marketing", consent_attested=True, consent_reference="forms.pdf")


def person(index: int, **cells: str) -> dict[str, Any]:
    return {"phone_number": phone(index), "first_name": "Kim", "sim.outcome": "answered", "sim.intent": "yes", **cells}


async def called(tenant: Tenant, campaign: Deployment) -> list[str]:
    """Whom a campaign that has started has called at its end."""
    await ended_by_workers(tenant, campaign.id)
    return sorted(call.to for call in await calls_of(tenant, campaign.id))


async def warned(tenant: Tenant, campaign: Deployment) -> list[str]:
    """The warnings of a preview that are about the people who say no."""
    seen = await tenant.client.deployments.preview(id=campaign.id)
    return [said for said in seen.warnings if "will not be called" in said]


@pytest.mark.requirement("CONSENT-01")
async def test_the_no_of_a_later_row_of_the_same_person_wins_in_whichever_column_a_campaign_asks(
    tenant: Tenant,
) -> None:
    rows = [
        *(person(0, ja_sagte="yes"), person(0, ja_sagte="No")),
        *(person(1, ja_sagte="no"), person(1, ja_sagte="yes")),
        *(person(2, ja_sagte="yes"), person(2, ja_sagte="yes")),
        *(person(3, ja_sagte="yes"), person(3, ja_sagte="")),
    ]
    people = await tenant.client.audiences.create(name="People", rows=rows)
    assert (people.valid_count, people.duplicate_count) == (4, 4)
    assert [error.message for error in people.errors] == [
        "row 1 has the same number, with another ja_sagte; this row says no in ja_sagte, and a campaign that takes "
        "that for consent does not call the person",
        "row 3 has the same number, with another ja_sagte",
        "row 5 has the same number",
        "row 7 has the same number",
    ]
    made = await draft(tenant, [], audience_id=people.id, compliance=Compliance(consent_column="ja_sagte"))
    assert (await tenant.client.deployments.preview(id=made.id)).eligible == 2
    assert await warned(tenant, made) == [
        "1 person will not be called, of whom another row of the list says no: 'ja_sagte'"
    ]
    await tenant.client.deployments.start(id=made.id)
    assert await called(tenant, made) == [phone(2), phone(3)]
    unasked = await started(tenant, [], "Unasked", audience_id=people.id)
    assert len(await called(tenant, unasked)) == 4


@pytest.mark.requirement("CONSENT-01")
async def test_a_no_that_comes_while_a_campaign_runs_holds_from_the_next_call_on(tenant: Tenant) -> None:
    consent = Compliance(consent_column="ok")
    made = await started(tenant, [person(0, ok="yes"), person(1, ok="yes")], compliance=consent)
    added = await tenant.client.audiences.add_rows(id=audience_of(made), rows=[person(0, OK="nein")])
    assert (added.added, added.duplicates) == (0, 1)
    assert "this row says no in ok" in added.errors[0].message
    assert await called(tenant, made) == [phone(1)]
    shown = await tenant.client.deployments.list_contacts(id=made.id, status=["suppressed"])
    assert [one.status_reason for one in shown.data] == ["no_consent"]


@pytest.mark.requirement("CONSENT-01")
async def test_a_no_far_behind_the_yes_in_a_long_file_counts_and_is_shown_with_the_row(tenant: Tenant) -> None:
    between = [f"{phone(index)},Kim,yes" for index in range(1, 600)]
    done = await carry_out_import(
        tenant, "\n".join(("phone,first_name,agreed", f"{phone(0)},Kim,yes", *between, f"{phone(0)},Kim,no"))
    )
    assert (done.added, done.duplicates) == (600, 1)
    [error] = (await tenant.client.audiences.list_import_errors(id=done.audience_id, import_id=done.id)).data
    assert error.message.endswith(
        "this row says no in agreed, and a campaign that takes that for consent does not call the person"
    )
    [row] = (await tenant.client.audiences.list_rows(id=done.audience_id, phone_number=phone(0))).data
    assert (row.values, row.declined) == ({"first_name": "Kim", "agreed": "yes"}, {"agreed": "no"})
    kept = await tenant.client.people.export(number=phone(0))
    assert kept.audience_rows == [row]
    made = await draft(tenant, [], audience_id=done.audience_id, compliance=Compliance(consent_column="agreed"))
    assert (await tenant.client.deployments.preview(id=made.id)).eligible == 599


@pytest.mark.requirement("CONSENT-01")
@pytest.mark.parametrize("dedupe", ["external_id", "none"])
async def test_of_several_rows_with_one_number_none_is_called_if_one_says_no(dedupe: Any, tenant: Tenant) -> None:
    people = await make_audience(
        tenant,
        [person(0, id="a", ok="yes"), person(0, id="b", ok="no"), person(1, id="c", ok="yes")],
        dedupe=dedupe,
        external_id_column="id",
    )
    await tenant.client.audiences.add_rows(
        id=people.id, rows=[person(0, id="d", ok="yes"), person(2, id="e", ok="yes")]
    )
    await tenant.client.audiences.add_rows(id=people.id, rows=[person(2, id="f", ok="no"), person(1, id="g", ok="yes")])
    made = await started(tenant, [], audience_id=people.id, compliance=Compliance(consent_column="ok"))
    assert await called(tenant, made) == [phone(1), phone(1)]


@pytest.mark.requirement("CONSENT-01")
@pytest.mark.parametrize("no_in", [0, 1, 2])
async def test_a_no_counts_for_each_row_of_the_number_whenever_it_was_added(no_in: int, tenant: Tenant) -> None:
    people = await make_audience(tenant, [person(9, ok="yes")], dedupe="none")
    for index in range(3):
        rows = [person(0, ok="no" if index == no_in else "yes")]
        await tenant.client.audiences.add_rows(id=people.id, rows=rows)
    made = await started(tenant, [], audience_id=people.id, compliance=Compliance(consent_column="ok"))
    assert await called(tenant, made) == [phone(9)]


@pytest.mark.requirement("CONSENT-01")
async def test_a_no_among_rows_that_an_older_version_has_added_counts_for_later_ones(tenant: Tenant) -> None:
    people = await make_audience(tenant, [person(1, ok="yes")], dedupe="none")
    known = select(audiences.c.rows_without_noes).where(audiences.c.id == people.id)
    before = await tenant.database.read(lambda connection: connection.execute(known).scalar_one())
    await tenant.client.audiences.add_rows(id=people.id, rows=[person(0, ok="no")])
    older = update(audiences).where(audiences.c.id == people.id).values(rows_without_noes=before)
    await tenant.database.write(lambda connection: connection.execute(older))  # it does not know of this column
    for index in range(2):
        await tenant.client.audiences.add_rows(id=people.id, rows=[person(index, ok="yes")])
    made = await started(tenant, [], audience_id=people.id, compliance=Compliance(consent_column="ok"))
    assert await called(tenant, made) == [phone(1), phone(1)]


@pytest.mark.requirement("CONSENT-02")
async def test_a_clear_no_in_a_column_named_for_consent_wins_over_an_attested_consent(tenant: Tenant) -> None:
    said = ("yes", "NO", "opted out", "", "2024-03-01")
    rows = [person(index, **{"Opt-In": text}) for index, text in enumerate(said)]
    made = await draft(tenant, rows, compliance=ATTESTED)
    seen = await tenant.client.deployments.preview(id=made.id)
    assert (seen.eligible, {one.reason: one.count for one in seen.blocked if one.count}) == (3, {"no_consent": 2})
    assert await warned(tenant, made) == [
        "2 people will not be called although consent is attested: the list says no in the column 'Opt-In'"
    ]
    await tenant.client.deployments.start(id=made.id)
    assert await called(tenant, made) == [phone(0), phone(3), phone(4)]


@pytest.mark.requirement("CONSENT-02")
async def test_with_a_consent_column_an_attested_consent_adds_nobody(tenant: Tenant) -> None:
    both = ATTESTED.model_copy(update={"consent_column": "ok"})
    made = await started(tenant, [person(0, ok="yes"), person(1, ok="no"), person(2, ok="")], compliance=both)
    assert await called(tenant, made) == [phone(0)]


@pytest.mark.requirement("CONSENT-01", "CONSENT-02")
async def test_a_no_in_a_column_that_only_a_dropped_row_has_wins_over_an_attested_consent(tenant: Tenant) -> None:
    people = await make_audience(tenant, [person(0), person(1)])
    await tenant.client.audiences.add_rows(id=people.id, rows=[person(0, consent="no")])
    made = await started(tenant, [], audience_id=people.id, compliance=ATTESTED)
    assert await called(tenant, made) == [phone(1)]


@pytest.mark.requirement("CONSENT-02")
async def test_a_start_with_an_attested_consent_is_refused_if_the_list_says_no_for_everybody(tenant: Tenant) -> None:
    made = await draft(tenant, [person(0, consent="no")], compliance=ATTESTED)
    async with refusal(422, "compliance_rejected", "compliance") as found:
        await tenant.client.deployments.start(id=made.id)
    assert found[0].details == {"reasons": ["no_consent"], "rule": "no_consent"}
    assert "the list says no in its column of consent for everybody" in found[0].message


async def test_a_no_in_a_column_of_consent_is_not_asked_where_a_campaign_says_nothing_of_consent(
    tenant: Tenant,
) -> None:
    made = await started(tenant, [person(0, consent="no")])
    assert await called(tenant, made) == [phone(0)]


@pytest.mark.requirement("CONSENT-04")
async def test_the_preview_counts_the_noes_in_a_column_named_for_consent_that_a_campaign_does_not_ask(
    tenant: Tenant,
) -> None:
    said = ("ja", "nein", "NEIN", "", "vielleicht")
    rows = [person(index, **{"Einwilligung Telefon": text}) for index, text in enumerate(said)]
    made = await draft(tenant, rows)
    warning = (
        "2 people say no in the column 'Einwilligung Telefon', which is not asked: with compliance.consent_column only "
        "people who say yes there are called"
    )
    seen = await tenant.client.deployments.preview(id=made.id)
    assert seen.eligible == 5
    assert [text for text in seen.warnings if "say no" in text] == [warning]
    asks = Compliance(consent_column="Einwilligung Telefon")
    await tenant.client.deployments.update(id=made.id, compliance=asks)
    seen = await tenant.client.deployments.preview(id=made.id)
    assert (seen.eligible, [text for text in seen.warnings if "not asked" in text]) == (1, [])


@pytest.mark.requirement("CONSENT-04")
@pytest.mark.parametrize("column", ["Notiz", "email consent"])
async def test_the_preview_does_not_warn_of_noes_in_a_column_of_something_else(column: str, tenant: Tenant) -> None:
    made = await draft(tenant, [person(0, **{column: "nein"})])
    seen = await tenant.client.deployments.preview(id=made.id)
    assert [text for text in seen.warnings if "not asked" in text] == []


@pytest.mark.requirement("CONSENT-01")
@pytest.mark.parametrize("parts", [(1, 1, 1), (2, 1), (1, 2), (3,)])
@pytest.mark.parametrize("consent", [Compliance(consent_column="consent"), ATTESTED])
async def test_a_no_in_a_row_that_is_left_out_counts_for_its_number_when_that_comes(
    parts: tuple[int, ...], consent: Compliance, tenant: Tenant
) -> None:
    rows = [
        person(1, consent="yes", id="A"),
        person(2, consent="no", id="A"),  # left out: A is there
        person(2, consent="yes", id="C"),
        person(3, consent="yes", id="D"),
    ]
    people = await tenant.client.audiences.create(
        name="People", dedupe="external_id", external_id_column="id", default_country="US"
    )
    for part in parts:
        await tenant.client.audiences.add_rows(id=people.id, rows=rows[:part])
        del rows[:part]
    await tenant.client.audiences.add_rows(id=people.id, rows=rows)
    made = await draft(tenant, [], audience_id=people.id, compliance=consent)
    await tenant.client.deployments.start(id=made.id)
    assert await called(tenant, made) == [phone(3)]


async def test_the_noes_of_numbers_without_a_row_go_with_their_audience(tenant: Tenant) -> None:
    rows = [person(index, consent="no", id="A") for index in range(5)]
    people = await tenant.client.audiences.create(
        name="People", dedupe="external_id", external_id_column="id", rows=rows
    )
    count = select(func.count()).select_from(declined_lines)
    assert await tenant.database.read(lambda connection: connection.execute(count).scalar_one()) == 4
    await tenant.client.audiences.delete(id=people.id)
    assert await tenant.database.read(lambda connection: connection.execute(count).scalar_one()) == 0


async def test_very_many_of_them_go_in_pieces_although_the_audience_has_few_rows(tenant: Tenant) -> None:
    people = await tenant.client.audiences.create(name="People", rows=[person(1, consent="yes")])
    lines = [{"audience_id": people.id, "line": f"{number:032x}", "said": "{}"} for number in range(ROWS_AT_ONCE + 1)]
    await tenant.database.write(lambda connection: connection.execute(insert(declined_lines), lines).rowcount)
    await tenant.client.audiences.delete(id=people.id)
    count = select(func.count()).select_from(declined_lines)
    left = [await tenant.database.read(lambda connection: connection.execute(count).scalar_one())]
    while await large_changes.work_on_some(tenant.services):
        left.append(await tenant.database.read(lambda connection: connection.execute(count).scalar_one()))
    assert left[0] == ROWS_AT_ONCE + 1
    assert left[-1] == 0
    assert max(before - after for before, after in itertools.pairwise(left)) == PIECE_ROWS


@pytest.mark.parametrize(
    "consent", [Compliance(consent_column="consent"), Compliance(consent_column="Consent"), ATTESTED]
)
async def test_a_no_in_one_of_two_columns_that_are_read_alike_counts_for_both(
    consent: Compliance, tenant: Tenant
) -> None:
    rows = [person(1, consent="yes", Consent="no"), person(2, consent="no", Consent="yes")]
    rows.append(person(3, consent="yes", Consent="yes"))
    people = await tenant.client.audiences.create(name="People", rows=rows)
    made = await draft(tenant, [], audience_id=people.id, compliance=consent)
    await tenant.client.deployments.start(id=made.id)
    assert await called(tenant, made) == [phone(3)]
