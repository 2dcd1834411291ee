"""One person's data is deleted: nothing of it is left but the do-not-call entry, and every sum stays."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, select

from callwright.contract.deployments.dialling import Compliance, RetryPolicy
from callwright.contract.people import DELETED_NUMBER
from callwright.service.handlers.people import deletion
from callwright.service.platform.clock.clock import SystemClock, milliseconds
from callwright.service.tables.schema import audit_log, import_errors, imports, metadata
from callwright.service.workers import sweeps
from tests.service.handlers.people.life import (
    DIGITS,
    FIRST,
    LAST,
    NUMBER,
    OTHER_NAME,
    OTHER_NUMBER,
    TRACES,
    files_of,
    live,
    opt_out,
    places_with,
)
from tests.support.calls.stored_calls import put_call, put_conversation
from tests.support.campaigns import calls_of, claim_and_die, make_audience, people, phone, rent, run, started
from tests.support.database.indexed_words import NAME_INDEXES
from tests.support.http.raw_requests import AsyncClient, refused
from tests.support.interposed_claims import driven
from tests.support.resources import refusal
from tests.support.service import Tenant, open_service
from tests.support.webhooks.routing import GOOD, logged

ROOT = Path(__file__).resolve().parents[4]


@pytest.mark.service(workers=True)
@pytest.mark.requirement("PERSON-03", "PERSON-04")
async def test_nothing_of_a_whole_life_is_left_but_the_do_not_call_entry(tenant: Tenant) -> None:
    life = await live(tenant)
    await opt_out(tenant)
    before = await places_with(tenant, *TRACES)
    assert not tenant.services.settings.database_url.startswith("sqlite") or set(NAME_INDEXES) <= before
    assert {name.partition(".")[0] for name in before} >= {
        *("audience_rows", "audiences", "calls", "delivery_attempts", "deployment_contacts", "do_not_call"),
        *("idempotency_keys", "import_errors", "transcript_words", "transcripts"),
    }
    assert await files_of(tenant, life.call_id)
    done = await tenant.client.people.delete(number=NUMBER, confirm=True)
    await sweeps.run(tenant.services)
    assert await places_with(tenant, *TRACES) == {"do_not_call.number"}
    assert await files_of(tenant, life.call_id) == []
    assert (done.complete, done.do_not_call, done.advice, done.open_imports) == (True, "kept", None, [])
    assert done.deleted.model_dump() == {"audience_rows": 3, "contacts": 2, "refused_rows": 2, "calls": 2}
    assert await places_with(tenant, OTHER_NUMBER)  # another person's are all there
    assert {"audience_rows.cells", "calls.contact_name"} <= await places_with(tenant, OTHER_NAME)


@pytest.mark.service(workers=True)
@pytest.mark.requirement("PERSON-05")
async def test_counters_costs_and_figures_of_campaigns_are_the_same_after_a_deletion(tenant: Tenant) -> None:
    life, client = await live(tenant), tenant.client

    async def figures() -> list[Any]:
        stats = await client.calls.stats(group_by=["deployment_id", "outcome"])
        money = [entry async for entry in client.wallet.list_transactions()]
        deployment = await client.deployments.get(id=life.deployment_id)
        return [stats, money, deployment.stats, await client.wallet.get(), (await client.calls.list()).pagination.total]

    before, audience = await figures(), await client.audiences.get(id=life.audience_id)
    call = await client.calls.get(call_uuid=life.call_id)
    await client.people.delete(number=NUMBER, confirm=True)
    assert await figures() == before
    after = await client.audiences.get(id=life.audience_id)
    assert (after.row_count, after.valid_count) == (audience.row_count, audience.valid_count - 1)
    assert (after.invalid_count, after.duplicate_count) == (audience.invalid_count, audience.duplicate_count)
    samples = {column.name: column.sample for column in after.columns}
    assert (samples["first_name"], samples["crm"]) == (OTHER_NAME, "K-8")
    kept = await client.calls.get(call_uuid=life.call_id)
    assert (kept.to, kept.contact_name, kept.external_id, kept.variables) == (DELETED_NUMBER, None, None, {})
    assert (kept.outcome, kept.cost, kept.duration_seconds, kept.from_number, kept.ended_at) == (
        *(call.outcome, call.cost, call.duration_seconds, call.from_number, call.ended_at),
    )
    assert (kept.recording.status, kept.recording_url, kept.turn_count) == ("absent", None, 0)
    transcript = await client.calls.get_transcript(call_uuid=life.call_id)
    assert (transcript.status, transcript.turns) == ("absent", [])
    async with refusal(404, "not_found"):
        async with client.calls.get_recording(call_uuid=life.call_id):
            raise AssertionError("there is nothing to open")
    assert {found.call_id async for found in client.transcripts.search(query="hello")} - {life.call_id}
    assert life.call_id not in {found.call_id async for found in client.transcripts.search(query="hello")}


@pytest.mark.requirement("PERSON-05")
async def test_what_an_assistant_asks_is_deleted_and_asked_anew(tenant: Tenant) -> None:
    asked = {"tool": "start_deployment", "about": "0" * 64, "question": f"Hello {OTHER_NAME}?", "mark": "0a1b2c3d"}
    first = await tenant.client.confirmations.ask(**asked)  # pyright: ignore[reportArgumentType]
    await tenant.client.people.delete(number=phone(0), confirm=True)
    assert await places_with(tenant, OTHER_NAME) == set()
    assert (await tenant.client.confirmations.ask(**asked)).id != first.id  # pyright: ignore[reportArgumentType]


@pytest.mark.requirement("PERSON-06")
async def test_a_second_deletion_finds_nothing_and_says_so(tenant: Tenant) -> None:
    await make_audience(tenant, people(1))
    first = await tenant.client.people.delete(number=phone(0), confirm=True)
    again = await tenant.client.people.delete(number=phone(0), confirm=True)
    assert first.deleted.audience_rows == 1
    assert (again.complete, set(again.deleted.model_dump().values()), again.id) == (True, {0}, first.id)


async def test_without_an_entry_of_the_list_the_answer_recommends_one(tenant: Tenant) -> None:
    done = await tenant.client.people.delete(number=phone(0), confirm=True)
    assert done.do_not_call == "absent"
    assert done.advice is not None
    assert "do-not-call list" in done.advice
    await opt_out(tenant, phone(0))
    kept = await tenant.client.people.delete(number=phone(0), confirm=True)
    assert (kept.do_not_call, kept.advice) == ("kept", None)


@pytest.mark.requirement("PERSON-07")
async def test_while_the_person_is_on_a_call_nothing_is_deleted_and_the_call_is_named(tenant: Tenant) -> None:
    made = await started(tenant, people(2))
    await claim_and_die(tenant, made.id)
    (call,) = (await tenant.client.calls.list(to=phone(1))).data
    async with refusal(409, "call_under_way") as kept:
        await tenant.client.people.delete(number=phone(1), confirm=True)
    assert kept[0].details["call_id"] == call.id
    assert phone(1) not in str(kept[0])
    assert "deployment_contacts.phone" in await places_with(tenant, phone(1))


@pytest.mark.requirement("PERSON-08")
async def test_whoever_waits_in_a_campaign_is_never_called_by_it(tenant: Tenant) -> None:
    made = await started(tenant, people(3))
    done = await tenant.client.people.delete(number=phone(1), confirm=True)
    assert (done.waiting_removed, done.deleted.contacts) == (1, 1)
    stats = (await tenant.client.deployments.get(id=made.id)).stats
    assert (stats.contacts, stats.pending, stats.suppressed) == (3, 2, 1)

    async def nothing() -> None:
        return None

    found = await driven(tenant, made.id, nothing)
    assert {call.to_number for call in found.calls} == {phone(0), phone(2)}
    assert (found.deployment.status, len(found.contacts)) == ("completed", 3)
    removed = next(contact for contact in found.contacts if contact.status == "suppressed")
    assert (removed.phone, removed.status_reason) == (DELETED_NUMBER, "person_deleted")
    states = json.loads(found.deployment.states)
    assert states == {"suppressed": 1, **{name: count for name, count in states.items() if name != "suppressed"}}
    assert sum(states.values()) == 3


@pytest.mark.requirement("PERSON-08")
async def test_whoever_is_deleted_between_the_look_and_the_claim_is_not_called(tenant: Tenant) -> None:
    made = await started(tenant, people(3))
    done: list[int] = []

    async def delete() -> None:
        if not done:
            done.append((await tenant.client.people.delete(number=phone(1), confirm=True)).waiting_removed)

    found = await driven(tenant, made.id, delete)
    assert done == [1]
    assert {call.to_number for call in found.calls} == {phone(0), phone(2)}
    assert (found.deployment.status, found.deployment.in_flight) == ("completed", 0)
    assert json.loads(found.deployment.states)["suppressed"] == 1


async def test_changed_rules_of_a_campaign_do_not_make_a_deleted_person_wait_again(tenant: Tenant) -> None:
    rows = [*people(1, agreed="yes"), *people(2, first=1, agreed="no")]
    made = await started(tenant, rows, compliance=Compliance(consent_column="agreed"))
    assert (await tenant.client.deployments.get(id=made.id)).stats.suppressed == 2
    await tenant.client.deployments.pause(id=made.id)
    done = await tenant.client.people.delete(number=phone(1), confirm=True)
    assert (done.waiting_removed, done.deleted.contacts) == (0, 1)
    await tenant.client.deployments.update(id=made.id, compliance=Compliance())
    stats = (await tenant.client.deployments.get(id=made.id)).stats
    assert (stats.pending, stats.suppressed) == (2, 1)


@pytest.mark.requirement("PERSON-09")
async def test_many_rows_go_in_steps_and_a_request_that_breaks_off_is_completed_by_the_next(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deletion, "STEP", 2)
    for index in range(5):
        await make_audience(tenant, people(2), f"List {index}")
        await put_conversation(tenant, ("contact", "Hello there."), to_number=phone(0), contact_name=FIRST)
    monkeypatch.setattr(deletion, "_forget_calls", _breaks_off)
    async with refusal(500, "internal_error"):
        await tenant.client.people.delete(number=phone(0), confirm=True)
    assert "audience_rows.phone" in await places_with(tenant, phone(0))
    monkeypatch.undo()
    monkeypatch.setattr(deletion, "STEP", 2)
    steps = [await tenant.client.people.delete(number=phone(0), confirm=True)]
    while not steps[-1].complete:
        steps.append(await tenant.client.people.delete(number=phone(0), confirm=True))
    assert [step.deleted.audience_rows for step in steps] == [2, 2, 1]
    assert sum(step.deleted.calls for step in steps) == 5
    assert await places_with(tenant, phone(0)[1:]) == set()


def _breaks_off(*_: object) -> None:
    raise RuntimeError("the process ends here")


async def test_refused_rows_are_all_gone_before_the_own_ids_that_lead_to_them(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deletion, "STEP", 2)
    rows: list[dict[str, Any]] = [{"phone_number": phone(0), "crm": "K-7"}]
    made = await tenant.client.audiences.create(name="Patients", external_id_column="crm", rows=rows)
    for _ in range(3):
        await _put_refused(tenant, made.id, "K-7")
    await _put_refused(tenant, made.id, "K-8")
    while not (await tenant.client.people.delete(number=phone(0), confirm=True)).complete:
        pass
    assert "import_errors.external_id" not in await places_with(tenant, "K-7")
    assert "import_errors.external_id" in await places_with(tenant, "K-8")


async def _put_refused(tenant: Tenant, audience_id: str, external_id: str) -> None:

    import_id, now_ms = tenant.services.ids.new("imp"), tenant.services.clock.now_ms()
    made: dict[str, Any] = {"id": import_id, "org_id": tenant.org_id, "audience_id": audience_id, "status": "completed"}
    made |= {"processed": 1, "added": 0, "invalid": 1, "duplicates": 0, "created_at": now_ms, "completed_at": now_ms}
    row = {"id": tenant.services.ids.new("ier"), "import_id": import_id, "row_number": 1, "code": "invalid_phone"}
    await tenant.database.write(lambda each: each.execute(insert(imports), made).rowcount)
    refused_row = {**row, "message": "no such phone number can exist", "external_id": external_id}
    await tenant.database.write(lambda each: each.execute(insert(import_errors), refused_row).rowcount)


async def test_imports_that_go_on_are_named_because_their_files_may_hold_the_person(tenant: Tenant) -> None:
    made = await tenant.client.audiences.create(name="Patients")
    waiting = await tenant.client.audiences.import_csv(id=made.id, csv=f"phone_number\n{phone(0)}\n")
    done = await tenant.client.people.delete(number=phone(0), confirm=True)
    assert done.open_imports == [waiting.id]


@pytest.mark.requirement("ROUTE-12")
async def test_the_caller_of_an_inbound_call_is_deleted_and_the_number_that_was_called_stays(tenant: Tenant) -> None:
    ours = "+12125550150"
    called = await put_call(tenant, call_type="inbound", from_number=phone(0), to_number=ours, contact_name=FIRST)
    number = await rent(tenant)
    greeted = replace(GOOD, excerpt=json.dumps({"overrides": {"welcome_message": f"Hello {FIRST}."}}))
    await logged(tenant, number.id, greeted, call_id=called, from_=phone(0))
    await logged(tenant, number.id, greeted, from_=phone(1))
    await tenant.client.people.delete(number=phone(0), confirm=True)
    found = (await tenant.client.phone_numbers.list_routing_requests(id=number.id)).data
    kept = {one.call_id: (one.from_number, one.response_excerpt) for one in found}
    assert kept.pop(called) == (DELETED_NUMBER, "")
    assert [*kept.values()] == [(phone(1), greeted.excerpt)]
    assert await places_with(tenant, phone(0)[1:]) == set()
    call = await tenant.client.calls.get(call_uuid=called)
    assert (call.from_number, call.to, call.contact_name) == (DELETED_NUMBER, ours, None)


@pytest.mark.parametrize("given", ["+5491123456789", "+541123456789"])
async def test_a_person_is_found_in_each_notation_of_their_line(given: str, tenant: Tenant) -> None:
    for number in ("+5491123456789", "+541123456789"):
        await put_call(tenant, to_number=number)
    done = await tenant.client.people.delete(number=given, confirm=True)
    assert done.deleted.calls == 2
    assert await places_with(tenant, "1123456789") == set()


@pytest.mark.requirement("PERSON-10")
async def test_the_audit_log_says_that_somebody_was_deleted_and_not_who(tenant: Tenant) -> None:
    await make_audience(tenant, people(1))
    exported = await tenant.client.people.export(number=phone(0))
    done = await tenant.client.people.delete(number=phone(0), confirm=True)
    found = (await tenant.client.audit_log.list(subject_id=done.id)).data
    assert [entry.action for entry in found] == ["person.deleted", "person.exported"]
    assert exported.id == done.id
    rows = await tenant.database.read(lambda each: each.execute(select(audit_log.c.changes)).scalars().all())
    assert not any(phone(0)[1:] in changes for changes in rows)


async def test_a_repeated_request_still_gets_its_first_answer_without_the_person(
    tenant: Tenant, http: AsyncClient
) -> None:
    rows = [{"phone_number": phone(0), "first_name": FIRST, "last_name": LAST, "crm": DIGITS}, {"phone_number": "x"}]
    body = {"name": "Patients", "external_id_column": "crm", "rows": rows}
    first = await http.post("/v1/audiences", json=body, headers={"Idempotency-Key": "once"})
    assert FIRST in first.text
    await tenant.client.people.delete(number=phone(0), confirm=True)
    again = await http.post("/v1/audiences", json=body, headers={"Idempotency-Key": "once"})
    assert again.headers["idempotent-replayed"] == "true"
    assert again.json()["data"]["id"] == first.json()["data"]["id"]
    assert again.json()["data"]["name"] == "Patients"
    assert not any(trace in again.text for trace in TRACES)
    assert (await tenant.client.audiences.list()).pagination.total == 1


async def test_a_deletion_is_done_once_for_its_idempotency_key(tenant: Tenant) -> None:
    await make_audience(tenant, people(1))
    first = await tenant.client.idempotent("once").people.delete(number=phone(0), confirm=True)
    again = await tenant.client.idempotent("once").people.delete(number=phone(0), confirm=True)
    assert again == first
    assert first.deleted.audience_rows == 1


async def test_another_organization_keeps_what_it_has_of_the_same_number(tenant: Tenant, other: Tenant) -> None:
    for one in (tenant, other):
        await make_audience(one, people(1))
        await put_conversation(one, ("contact", "Hello there."), to_number=phone(0))
    await tenant.client.people.delete(number=phone(0), confirm=True)
    left = (await other.client.people.export(number=phone(0))).counts
    assert (left.audience_rows, left.calls) == (1, 1)
    assert (await other.client.transcripts.search(query="hello")).pagination.total == 1
    assert (await tenant.client.people.export(number=phone(0))).counts.calls == 0


@pytest.mark.requirement("PERSON-11")
async def test_what_is_no_number_and_what_is_not_confirmed_is_refused_by_field(http: AsyncClient) -> None:
    for path, rest in (("/v1/people/export", {}), ("/v1/people/delete", {"confirm": True})):
        for number in ("", "nonsense", "0415 550 0007", "+1234"):
            answer = await http.post(path, json={"number": number, **rest})
            refused(answer, 400, "invalid_field", "number")
        refused(await http.post(path, json=rest), 400, "missing_field", "number")
    refused(await http.post("/v1/people/delete", json={"number": NUMBER}), 400, "missing_field", "confirm")
    unsure = await http.post("/v1/people/delete", json={"number": NUMBER, "confirm": False})
    refused(unsure, 400, "invalid_field", "confirm")


async def test_tombstones_of_several_calls_are_alike_and_later_calls_to_the_number_are_kept_apart(
    tenant: Tenant,
) -> None:
    ids = [await put_call(tenant, to_number=phone(index)) for index in (0, 0, 1)]
    for index in (0, 1):
        await tenant.client.people.delete(number=phone(index), confirm=True)
    shown = {(await tenant.client.calls.get(call_uuid=each)).to for each in ids}
    assert shown == {DELETED_NUMBER}
    later = await put_call(tenant, to_number=phone(0), ended_at=None, status="in_progress", outcome=None)
    assert (await tenant.client.calls.get(call_uuid=later)).to == phone(0)


def test_the_page_about_compliance_names_every_table() -> None:
    page = (ROOT / "docs" / "compliance.md").read_text(encoding="utf-8")
    assert [table.name for table in metadata.sorted_tables if f"`{table.name}`" not in page] == []


@pytest.mark.usefixtures("shipped_law")
@pytest.mark.requirement("PERSON-03")
async def test_calls_to_a_deleted_person_go_on_counting_for_the_caps(database_url: str, tmp_path: Path) -> None:
    wednesday = SystemClock(milliseconds(datetime(2027, 3, 3, 15, tzinfo=UTC)))
    async with open_service(database_url, tmp_path, clock=wednesday) as tenant:
        policy = RetryPolicy(max_attempts=3, interval_minutes=[10], max_attempts_per_day=3, different_time_of_day=False)
        rows = people(1, area="212", sim_outcome="no_answer")
        await run(tenant, rows, "Before", retry_policy=policy)
        deleted = await tenant.client.people.delete(number=phone(0, "212"), confirm=True)
        assert deleted.deleted.calls == 3
        again = await run(tenant, rows, "Again", retry_policy=policy)
        first = min(call.created_at for call in await calls_of(tenant, again.id))
        assert first >= datetime(2027, 3, 4, 15, tzinfo=UTC)
