"""Exports of deployments: which rows are in them, in which order, with which columns, and who is not."""

from typing import Any, cast

import pytest

from callwright.client.errors import ServiceProblem
from callwright.service.handlers.exports import exports as handler
from tests.support.callers import answered_number, called_in, number_of
from tests.support.campaigns import ONCE, calls_of, people, phone, run
from tests.support.exports import exported, text_of
from tests.support.imports import await_import
from tests.support.service import Tenant

pytestmark = pytest.mark.service(workers=True)
FORMULAS = ("=1+1", "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", " =1", "＝1")


@pytest.mark.requirement("EXPORT-01")
async def test_each_contact_is_in_an_export_once_in_the_order_of_the_list_whatever_the_pages(
    monkeypatch: pytest.MonkeyPatch, tenant: Tenant
) -> None:
    monkeypatch.setattr(handler, "PAGE_ROWS", 3)
    rows = [*people(4, sim_outcome="answered"), *people(3, first=4, sim_outcome="busy")]
    campaign = await run(tenant, rows, retry_policy=ONCE)
    found = await exported(tenant, campaign.id)
    assert [row["phone_number"] for row in found] == [phone(index) for index in range(7)]
    listed = [contact async for contact in tenant.client.deployments.list_contacts(id=campaign.id)]
    assert [(row["id"], row["status"], row["last_outcome"], row["last_call_id"]) for row in found] == [
        (one.id, one.status, one.last_outcome or "", one.last_call_id or "") for one in listed
    ]
    assert {row["simulated"] for row in found} == {"true"}
    assert found[0]["values"] == '{"first_name":"Person 0"}'


@pytest.mark.requirement("EXPORT-01")
async def test_each_call_is_in_an_export_once_newest_first_with_what_it_cost(
    monkeypatch: pytest.MonkeyPatch, tenant: Tenant
) -> None:
    monkeypatch.setattr(handler, "PAGE_ROWS", 2)
    campaign = await run(tenant, people(5, sim_outcome="answered"))
    found = await exported(tenant, campaign.id, of="calls")
    calls = {call.id: call for call in await calls_of(tenant, campaign.id)}
    assert sorted(row["id"] for row in found) == sorted(calls)
    assert [row["created_at"] for row in found] == sorted((row["created_at"] for row in found), reverse=True)
    for row in found:
        call = calls[row["id"]]
        assert call.cost is not None
        assert (row["from"], row["to"], row["outcome"]) == (call.from_number, call.to, call.outcome)
        assert (row["cost_amount"], row["cost_currency"]) == (call.cost.amount, call.cost.currency)
        assert (row["recording_status"], row["duration_seconds"]) == (call.recording.status, str(call.duration_seconds))
        assert row["created_at"] == f"{call.created_at:%Y-%m-%dT%H:%M:%SZ}"
        assert row["simulated"] == "true"


@pytest.mark.requirement("EXPORT-01")
async def test_outcomes_are_the_counters_of_the_deployment(tenant: Tenant) -> None:
    rows = [*people(2, sim_outcome="answered"), *people(3, first=2, sim_outcome="busy")]
    campaign = await run(tenant, rows, retry_policy=ONCE)
    found = await exported(tenant, campaign.id, of="outcomes")
    counts = {counted: {row["result"]: int(row["count"]) for row in found if row["counted"] == counted}
              for counted in ("outcome", "disposition", "last_outcome")}  # fmt: skip
    stats = campaign.stats
    assert counts == {
        "outcome": stats.outcomes, "disposition": stats.dispositions, "last_outcome": stats.last_outcomes
    }  # fmt: skip
    assert counts["outcome"] == {"answered": 2, "busy": 3}


@pytest.mark.requirement("EXPORT-01", "EXPORT-08")
async def test_rejects_are_those_of_all_imports_of_the_audience_and_of_no_other(
    monkeypatch: pytest.MonkeyPatch, tenant: Tenant
) -> None:
    monkeypatch.setattr(handler, "PAGE_ROWS", 2)
    client = tenant.client
    own, other = [(await client.audiences.create(name=name)).id for name in ("Own", "Other")]
    good = "".join(f"{phone(index)},Ada\n" for index in range(6))
    heading = "phone,first_name\n"
    jobs = [await await_import(tenant, own, heading + bad + good) for bad in ("1,A\n2,A\n3,A\n", "4,A\n")]
    await await_import(tenant, other, heading + "99,A\n" + good)
    campaign = await run(tenant, [], audience_id=own)
    found = await exported(tenant, campaign.id, of="rejects")
    expected: list[tuple[str, str, str]] = []
    for job in sorted(jobs, key=lambda one: one.id):
        errors = client.audiences.list_import_errors(id=own, import_id=job.id)
        expected += [(job.id, str(one.row_number), one.code) async for one in errors]
    assert [(row["import_id"], row["row_number"], row["code"]) for row in found] == expected
    assert len(expected) == 10  # four bad rows, and those that were there already
    for job in jobs:
        one = await exported(tenant, campaign.id, of="rejects", import_id=job.id)
        assert [(row["import_id"], row["row_number"], row["code"]) for row in one] == [
            entry for entry in expected if entry[0] == job.id
        ]


@pytest.mark.requirement("EXPORT-08")
async def test_rejects_of_one_import_are_refused_for_an_import_of_another_list_and_for_other_rows(
    tenant: Tenant, other: Tenant
) -> None:
    campaign = await run(tenant, people(1), retry_policy=ONCE)
    client = tenant.client
    elsewhere = await client.audiences.create(name="Elsewhere")
    foreign = await other.client.audiences.create(name="Foreign")
    jobs = [
        await await_import(tenant, elsewhere.id, f"phone\n{phone(0)}\n"),
        await await_import(other, foreign.id, f"phone\n{phone(0)}\n"),
    ]
    for job in jobs:
        with pytest.raises(ServiceProblem) as error:
            await exported(tenant, campaign.id, of="rejects", import_id=job.id)
        assert (error.value.code, error.value.field) == ("not_found", "import_id")
    with pytest.raises(ServiceProblem) as error:
        await exported(tenant, campaign.id, of="calls", import_id=jobs[0].id)
    assert (error.value.code, error.value.field) == ("invalid_field", "import_id")


@pytest.mark.parametrize("of", ["contacts", "calls", "outcomes", "rejects"])
@pytest.mark.requirement("EXPORT-01")
async def test_an_export_without_rows_is_its_heading_and_another_organization_gets_none(
    tenant: Tenant, other: Tenant, of: Any
) -> None:
    inbound = await answered_number(tenant)
    assert await exported(tenant, inbound.id, of=of) == []
    with pytest.raises(ServiceProblem) as error:
        await exported(other, inbound.id, of=of)
    assert (error.value.status, error.value.code) == (404, "not_found")


@pytest.mark.requirement("EXPORT-02")
async def test_no_cell_begins_with_a_formula_and_numbers_of_people_stay_whole(tenant: Tenant) -> None:
    rows = [row | {"name": text, "crm": text} for row, text in zip(people(len(FORMULAS)), FORMULAS, strict=True)]
    audience = await tenant.client.audiences.create(name="Formulas", external_id_column="crm", rows=rows)
    campaign = await run(tenant, [], audience_id=audience.id)
    for of in ("contacts", "calls"):
        found = await exported(tenant, campaign.id, of=cast("Any", of))
        assert len(found) >= len(FORMULAS)
        number = "phone_number" if of == "contacts" else "to"
        assert {row[number] for row in found} == {phone(index) for index in range(len(FORMULAS))}
        cells = [cell for row in found for name, cell in row.items() if name not in (number, "from")]
        assert not [cell for cell in cells if cell.lstrip().startswith(tuple("=+-@＝"))]
    ids = {row["external_id"] for row in await exported(tenant, campaign.id)}
    assert {"'=1+1", "'@SUM(A1)"} <= ids


@pytest.mark.requirement("EXPORT-05")
async def test_a_masked_export_has_no_whole_number_and_no_text_of_the_list(tenant: Tenant) -> None:
    rows = [row | {"name": "Quirina", "crm": phone(9)} for row in people(2)]
    audience = await tenant.client.audiences.create(name="Masked", external_id_column="crm", rows=rows)
    campaign = await run(tenant, [], audience_id=audience.id)
    for of in ("contacts", "calls"):
        found = await exported(tenant, campaign.id, of=cast("Any", of), masked=True)
        assert found
        assert not {"name", "external_id", "values", "contact_name", "variables", "warnings"} & found[0].keys()
        told = "\n".join(map(text_of, found))
        assert "Quirina" not in told
        assert not [index for index in (0, 1, 9) if phone(index)[1:] in told]
    calls = await exported(tenant, campaign.id, of="calls", masked=True)
    assert {row["to"][:5] for row in calls} == {"'+14•"}
    assert {row["from"] for row in calls} == {call.from_number for call in await calls_of(tenant, campaign.id)}


@pytest.mark.requirement("EXPORT-05")
async def test_a_caller_is_masked_and_the_number_they_called_is_not(tenant: Tenant) -> None:
    inbound = await answered_number(tenant)
    (call,) = await called_in(tenant, inbound, caller=phone(5))
    number = await tenant.client.phone_numbers.get(id=number_of(inbound))
    (row,) = await exported(tenant, inbound.id, of="calls", masked=True)
    assert (row["id"], row["call_type"], row["to"]) == (call.id, "inbound", number.number)
    assert row["from"].startswith("'+14•")


@pytest.mark.requirement("EXPORT-06")
async def test_a_person_whose_data_was_deleted_is_in_no_export(tenant: Tenant) -> None:
    rows = [row | {"last_name": f"Zwettler{index}"} for index, row in enumerate(people(3, sim_outcome="answered"))]
    campaign = await run(tenant, rows, retry_policy=ONCE)
    assert (await tenant.client.people.delete(number=phone(1), confirm=True)).complete
    contacts = await exported(tenant, campaign.id)
    assert [row["phone_number"] for row in contacts] == [phone(0), phone(2)]
    calls = await exported(tenant, campaign.id, of="calls")
    assert len(calls) == 3  # their time and cost stay, as in every figure
    told = "\n".join(map(text_of, calls))
    assert phone(1) not in told
    assert "Zwettler1" not in told
    assert "Zwettler2" in told
