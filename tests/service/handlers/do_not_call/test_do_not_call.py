"""The do-not-call list through the typed client on both engines: what is added, listed and removed, and by whom."""

from datetime import timedelta
from typing import Any

import pytest

from callwright.client.errors import Conflict, InvalidRequest, NotFound
from callwright.contract.do_not_call import NewEntry
from callwright.service.platform.clock.clock import moment
from tests.support.campaigns import draft, make_audience, people, phone, run
from tests.support.deployments.plans import make_real
from tests.support.do_not_call import add, listed
from tests.support.http.raw_requests import AsyncClient, refused
from tests.support.service import Tenant

pytestmark = pytest.mark.requirement("DNC-01")
OPTS_OUT: dict[str, Any] = {"sim_outcome": "answered", "sim_intent": "opt_out"}
AGREES: dict[str, Any] = {"sim_outcome": "answered", "sim_intent": "yes"}


async def test_numbers_that_are_added_are_read_as_people_write_them_and_listed_newest_first(tenant: Tenant) -> None:
    wanted: list[dict[str, Any]] = [
        {"number": "(202) 555-0142", "reason": "regulator", "note": "from the list of May"},
        {"number": "+49 151 23456789"},
    ]
    added = tenant.client.do_not_call.add(entries=[NewEntry(**one) for one in wanted], default_country="US")
    answer = await added
    assert (answer.received, answer.added, answer.already_there, answer.refused) == (2, 2, 0, 0)
    assert [(one.number, one.result) for one in answer.entries] == [
        ("+12025550142", "added"),
        ("+4915123456789", "added"),
    ]
    found = {entry.number: entry for entry in await listed(tenant)}
    first = found["+12025550142"]
    assert (first.reason, first.note, first.simulated, first.expires_at) == (
        "regulator",
        "from the list of May",
        False,
        None,
    )
    assert (first.source_call_id, first.created_by_key_id is not None) == (None, True)
    assert found["+4915123456789"].reason == "requested"
    assert await tenant.client.do_not_call.get(id=first.id) == first


async def test_what_was_refused_is_named_with_its_field_and_why_and_the_rest_is_added(tenant: Tenant) -> None:
    past = moment(tenant.services.clock.now_ms()) - timedelta(days=1)
    wanted: list[dict[str, Any]] = [
        {"number": "2025550142"},
        {"number": phone(1)},
        {"number": "+1"},
        {"number": phone(2), "expires_at": past},
    ]
    answer = await add(tenant, wanted)
    assert (answer.received, answer.added, answer.refused) == (4, 1, 3)
    assert [(one.row_number, one.field, one.code) for one in answer.errors] == [
        (1, "number", "ambiguous_country"),
        (3, "number", "invalid_phone"),
        (4, "expires_at", "already_over"),
    ]
    assert "default_country" in answer.errors[0].message
    assert answer.errors[0].value_redacted == "202•••••42"
    assert [entry.number for entry in await listed(tenant)] == [phone(1)]


@pytest.mark.requirement("DNC-02")
async def test_a_permanent_entry_is_never_made_temporary_and_the_answer_says_so(tenant: Tenant) -> None:
    soon = moment(tenant.services.clock.now_ms()) + timedelta(days=30)
    later = soon + timedelta(days=30)
    await add(tenant, [{"number": phone(0), "reason": "litigator"}, {"number": phone(1), "expires_at": soon}])
    again = await add(
        tenant, [{"number": phone(0), "expires_at": later}, {"number": phone(1), "expires_at": later, "note": "more"}]
    )
    assert (again.added, again.extended, again.already_there, again.kept_permanent) == (0, 1, 1, 1)
    assert [(one.result, one.expires_at) for one in again.entries] == [
        ("already_there", None),
        ("extended", later.replace(microsecond=0)),
    ]
    shorter = await add(tenant, [{"number": phone(1), "expires_at": soon}])
    assert (shorter.already_there, shorter.kept_permanent) == (1, 0)
    for_good = await add(tenant, [{"number": phone(1)}])
    assert (for_good.extended, for_good.entries[0].expires_at) == (1, None)
    found = {entry.number: entry for entry in await listed(tenant)}
    assert (found[phone(0)].reason, found[phone(0)].expires_at) == ("litigator", None)
    assert (len(found), found[phone(1)].expires_at) == (2, None)


async def test_a_number_that_is_sent_twice_is_added_once_for_the_longer_time(tenant: Tenant) -> None:
    soon = moment(tenant.services.clock.now_ms()) + timedelta(days=30)
    wanted: list[dict[str, Any]] = [{"number": phone(0), "expires_at": soon}, {"number": phone(0)}]
    answer = await add(tenant, wanted)
    assert (answer.received, answer.added, answer.already_there, len(answer.entries)) == (2, 1, 1, 1)
    (entry,) = await listed(tenant)
    assert entry.expires_at is None


async def test_each_filter_leaves_what_it_names(tenant: Tenant) -> None:
    await add(tenant, [{"number": phone(0)}, {"number": phone(1), "reason": "deceased"}])
    await add(tenant, [{"number": phone(0)}], simulated=True)
    assert [entry.simulated for entry in await listed(tenant, number=phone(0), simulated=True)] == [True]
    assert {entry.simulated for entry in await listed(tenant, number=phone(0))} == {True, False}
    assert [entry.number for entry in await listed(tenant, reason=["deceased", "regulator"])] == [phone(1)]
    assert len(await listed(tenant, simulated=False)) == 2
    assert await listed(tenant, source_call_id="cal_x") == []
    assert await listed(tenant, created_before=moment(1_000)) == []
    assert len(await listed(tenant, created_from=moment(1_000))) == 3


async def test_the_list_is_read_page_by_page_each_entry_once(tenant: Tenant) -> None:
    await add(tenant, [{"number": phone(index)} for index in range(7)])
    first = await tenant.client.do_not_call.list(per_page=3)
    seen = [entry.number for entry in first.data]
    cursor = first.pagination.next_cursor
    while cursor is not None:
        page = await tenant.client.do_not_call.list(per_page=3, cursor=cursor)
        seen += [entry.number for entry in page.data]
        cursor = page.pagination.next_cursor
    assert sorted(seen) == [phone(index) for index in range(7)]
    assert first.pagination.total == 7


@pytest.mark.requirement("DNC-03")
@pytest.mark.service(workers=True)
async def test_an_entry_made_by_hand_holds_for_people_who_wait_in_a_campaign_and_in_later_ones(tenant: Tenant) -> None:
    made = await draft(tenant, people(3, **AGREES), "waits")
    plan = await tenant.client.deployments.preview(id=made.id)
    await add(tenant, [{"number": phone(1)}], simulated=True)
    await tenant.client.deployments.start(id=made.id, plan_id=plan.plan_id)
    ended = await tenant.ended(made.id)
    assert (ended.stats.attempts, ended.stats.suppressed) == (2, 1)
    shown = await tenant.client.deployments.list_contacts(id=made.id, status=["suppressed"])
    assert [(one.phone_number, one.status_reason) for one in shown.data] == [(phone(1), "do_not_call")]


@pytest.mark.requirement("DNC-04")
async def test_what_was_added_without_simulated_holds_in_simulated_campaigns_too(tenant: Tenant) -> None:
    await add(tenant, [{"number": phone(0)}])
    await add(tenant, [{"number": phone(1)}], simulated=True)
    simulated, real = await draft(tenant, people(3), "simulated"), await draft(tenant, people(3), "real")
    await make_real(tenant, real.id)
    for made, out in ((simulated, 2), (real, 1)):
        seen = await tenant.client.deployments.preview(id=made.id)
        assert (seen.eligible, [group.count for group in seen.blocked]) == (3 - out, [out])


@pytest.mark.requirement("DNC-05")
@pytest.mark.service(workers=True)
async def test_an_opt_out_of_a_call_is_listed_with_its_call_and_removed_only_with_a_reason(
    tenant: Tenant, http: AsyncClient
) -> None:
    await run(tenant, people(1, **OPTS_OUT))
    (entry,) = await listed(tenant)
    call = await tenant.client.calls.get(call_uuid=entry.source_call_id or "")
    assert (entry.number, entry.reason, entry.simulated, entry.created_by_key_id) == (
        phone(0),
        "opted_out",
        True,
        None,
    )
    assert call.disposition == "do_not_call"
    assert [one.id for one in await listed(tenant, source_call_id=call.id)] == [entry.id]
    answer = await http.delete(f"/v1/do_not_call/{entry.id}")
    assert "say why" in refused(answer, 400, "invalid_field", "reason")["message"]
    with pytest.raises(InvalidRequest):
        await tenant.client.do_not_call.remove(id=entry.id, reason="  ")
    later = await draft(tenant, people(1, **AGREES), "later")
    assert await tenant.client.do_not_call.remove(id=entry.id, reason="Asked in writing to be called again") is None
    assert await listed(tenant) == []
    with pytest.raises(NotFound):
        await tenant.client.do_not_call.get(id=entry.id)
    assert (await tenant.client.deployments.preview(id=later.id)).eligible == 1
    (audited,) = (await tenant.client.audit_log.list(action="remove_do_not_call")).data
    assert (audited.subject_id, audited.actor_id) == (entry.id, audited.actor_id)
    assert audited.actor_id.startswith("key_")
    assert audited.changes["reason"] == {"before": "opted_out"}
    assert audited.changes["given_reason"] == {"after": "Asked in writing to be called again"}
    assert phone(0) not in str(audited.changes)


async def test_a_removal_makes_plans_of_before_stale_and_needs_no_reason_for_what_was_added_by_hand(
    tenant: Tenant,
) -> None:
    added = await add(tenant, [{"number": phone(0)}], simulated=True)
    made = await draft(tenant, people(2, **AGREES))
    plan = await tenant.client.deployments.preview(id=made.id)
    assert plan.eligible == 1
    await tenant.client.do_not_call.remove(id=added.entries[0].id)
    with pytest.raises(Conflict) as caught:
        await tenant.client.deployments.start(id=made.id, plan_id=plan.plan_id)
    assert (caught.value.code, caught.value.details) == ("plan_stale", {"changed": ["do_not_call"]})


@pytest.mark.service(workers=True)
async def test_entries_outlive_their_audience_and_their_campaign(tenant: Tenant) -> None:
    audience = await make_audience(tenant, people(1, **OPTS_OUT))
    await run(tenant, [], audience_id=audience.id)
    await add(tenant, [{"number": phone(1)}], simulated=True)
    meant = await draft(tenant, people(2), "meant")
    await tenant.client.deployments.delete(id=meant.id)
    for one in (await tenant.client.audiences.list()).data:
        await tenant.client.audiences.delete(id=one.id)
    assert {entry.number for entry in await listed(tenant)} == {phone(0), phone(1)}
    later = await draft(tenant, people(3), "later")
    assert (await tenant.client.deployments.preview(id=later.id)).eligible == 1


async def test_what_was_added_is_in_the_audit_log_without_a_number(tenant: Tenant) -> None:
    await add(tenant, [{"number": phone(0), "note": "Asked by letter"}])
    (entry,) = (await tenant.client.audit_log.list(action="add_do_not_call")).data
    assert (entry.changes["added"], entry.changes["received"]) == ({"after": 1}, {"after": 1})
    assert phone(0) not in str(entry.changes)
    assert "letter" not in str(entry.changes)


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"entries": []}, "entries"),
        ({"entries": [{"number": "+12025550142"}] * 1_001}, "entries"),
        ({"entries": [{"number": "+12025550142", "reason": "because"}]}, "entries.0.reason"),
        ({"entries": [{"number": ""}]}, "entries.0.number"),
        ({"entries": [{"number": "+12025550142", "expires_at": "soon"}]}, "entries.0.expires_at"),
        ({"entries": [{"number": "+12025550142"}], "default_country": "ZZ"}, "default_country"),
    ],
)
async def test_a_value_that_is_not_allowed_is_refused_with_its_field(
    sent: dict[str, Any], field: str, http: AsyncClient
) -> None:
    answer = await http.post("/v1/do_not_call", json=sent)
    refused(answer, 400, answer.json()["error"]["code"], field)


async def test_an_organization_sees_and_removes_its_own_entries_alone(other: Tenant, tenant: Tenant) -> None:
    added = await add(tenant, [{"number": phone(0)}])
    assert await listed(other) == []
    with pytest.raises(NotFound):
        await other.client.do_not_call.remove(id=added.entries[0].id)
    assert (await add(other, [{"number": phone(0)}])).added == 1
    assert len(await listed(tenant)) == 1
