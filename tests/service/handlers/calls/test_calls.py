"""Calls over the typed client, on rows as the dialler leaves them."""

from typing import Any

import pytest
from sqlalchemy import select, update

from callwright.contract.calls.calls import Call
from callwright.service.platform.clock.clock import milliseconds, moment
from callwright.service.tables import call_counts
from callwright.service.tables.schema import calls
from tests.support.calls.stored_calls import DIALLED_MS, put_call
from tests.support.http.raw_requests import AsyncClient, refused
from tests.support.resources import refusal
from tests.support.service import Tenant


@pytest.mark.requirement("SERV-05", "PATH-06", "RES-06", "RES-07", "CONV-23", "CONV-24", "CONV-25", "CONV-26")
async def test_a_finished_call_is_shown_with_times_cost_and_links(tenant: Tenant, http: AsyncClient) -> None:
    call_id = await put_call(tenant, turns=4, disposition="goal_met", variables='{"first_name":"Ada"}')
    call = await tenant.client.calls.get(call_uuid=call_id)
    assert call.id == call.call_id == call_id
    assert (call.from_number, call.to) == ("+12125550150", "+12125550100")
    assert (call.duration_seconds, call.ring_seconds, call.billed_seconds, call.turn_count) == (42, 4, 42, 4)
    assert call.cost is not None
    assert (call.cost.amount, call.cost.currency, len(call.cost.breakdown)) == ("0.008400", "USD", 1)
    assert (call.disposition, call.disposition_source) == ("goal_met", "policy")
    assert (call.recording_url, call.transcript_url) == (
        f"/v1/calls/{call_id}/recording",
        f"/v1/calls/{call_id}/transcript",
    )
    assert (call.recording.status, call.recording.duration_seconds) == ("available", 42)
    assert call.variables == {"first_name": "Ada"}
    wire = (await http.get(f"/v1/calls/{call_id}")).json()["data"]
    assert wire["from"] == "+12125550150"
    assert "from_number" not in wire
    assert wire["answered_at"] == "2096-10-02T07:06:45Z"


@pytest.mark.requirement("RES-08", "RES-11")
async def test_an_unanswered_call_has_no_recording_and_no_transcript(tenant: Tenant) -> None:
    nobody: dict[str, Any] = {"outcome": "no_answer", "answered_at": None, "duration_ms": 0, "cost_micros": 0}
    call_id = await put_call(tenant, **nobody, billed_seconds=0)
    call = await tenant.client.calls.get(call_uuid=call_id)
    assert (call.recording_url, call.transcript_url, call.recording.status) == (None, None, "absent")
    assert (call.ring_seconds, call.duration_seconds) == (46, 0)
    assert call.cost is not None
    assert (call.cost.amount, call.cost.breakdown) == ("0.000000", [])
    transcript = await tenant.client.calls.get_transcript(call_uuid=call_id)
    assert (transcript.status, transcript.turns, transcript.turn_count) == ("absent", [], 0)
    async with refusal(404, "not_found"):
        async with tenant.client.calls.get_recording(call_uuid=call_id):
            raise AssertionError("there is nothing to open")


async def test_a_call_has_the_same_bytes_in_a_list_and_by_itself(tenant: Tenant, http: AsyncClient) -> None:
    told = '{"first_name":"Zoë \\u2028 \\"李\\" 🙂","note":"\\u0001"}'
    kinds: tuple[dict[str, Any], ...] = (
        {"turns": 2, "variables": told, "warnings": '["first_name is empty"]', "unanswered_questions": '["Why?"]'},
        {"turns": 2, "ended_at": 1_000_000_000_999, "disposition": "goal_met", "callback_at": DIALLED_MS + 86_399_999},
        {"outcome": "busy", "answered_at": None, "duration_ms": 0, "cost_micros": 0, "billed_seconds": 0},
        {"status": "in_progress", "outcome": None, "ended_at": None, "cost_micros": None},
        {"status": "queued", "outcome": None, "started_at": None, "ringing_at": None, "answered_at": None}
        | {"ended_at": None, "duration_ms": 0, "cost_micros": None, "language": None},
        {
            "simulated": False,
            "call_type": "inbound",
            "cost_micros": 123_456_789,
            "billed_seconds": 1,
            "duration_ms": 500,
        },
    )
    for index, kind in enumerate(kinds):
        fields: dict[str, Any] = {"id": f"cal_{index}", "to_number": f"+1212555010{index}", **kind}
        await put_call(tenant, **fields)
    listed = await http.get("/v1/calls", params={"sort": "created_at"})
    each = [(await http.get(f"/v1/calls/cal_{index}")).content for index in range(len(kinds))]
    alone = [content.removeprefix(b'{"data":').removesuffix(b"}") for content in each]
    assert listed.content.startswith(b'{"data":[' + b",".join(alone) + b'],"pagination":')
    assert list(listed.json()["data"][0]) == [
        field.serialization_alias or name for name, field in Call.model_fields.items()
    ]


@pytest.mark.requirement("PAGE-05", "PAGE-06", "PAGE-14", "PATH-29")
async def test_a_transcript_is_paged_by_turns_without_repeats(tenant: Tenant, http: AsyncClient) -> None:
    call_id = await put_call(tenant, turns=7)
    whole = await tenant.client.calls.get_transcript(call_uuid=call_id)
    assert (whole.status, whole.turn_count, whole.next_cursor) == ("available", 7, None)
    assert (whole.language, whole.duration_seconds, whole.simulated) == ("en-US", 42.0, True)
    assert [entry.index for entry in whole.turns] == list(range(7))
    assert (whole.turns[1].role, whole.turns[1].start_seconds, whole.turns[1].end_seconds) == ("contact", 2.0, 3.5)
    first = await tenant.client.calls.get_transcript(call_uuid=call_id, per_page=3)
    seen, cursor = list(first.turns), first.next_cursor
    while cursor is not None:
        page = await tenant.client.calls.get_transcript(call_uuid=call_id, per_page=3, cursor=cursor)
        seen.extend(page.turns)
        cursor = page.next_cursor
    assert seen == whole.turns
    path = f"/v1/calls/{call_id}/transcript"
    assert first.next_cursor is not None
    elsewhere = f"/v1/calls/{await put_call(tenant, turns=7)}/transcript"
    refused(await http.get(elsewhere, params={"cursor": first.next_cursor}), 400, "invalid_cursor", "cursor")
    for bad in ("turn-3", "5", "ü", first.next_cursor[:-1], first.next_cursor + "A"):
        refused(await http.get(path, params={"cursor": bad}), 400, "invalid_cursor", "cursor")
    for wrong in ("0", "201", "many"):
        refused(await http.get(path, params={"per_page": wrong}), 400, "invalid_field", "per_page")


@pytest.mark.requirement("PATH-31", "ERR-66")
async def test_a_call_under_way_can_be_hung_up_and_an_ended_one_cannot(tenant: Tenant) -> None:
    under_way: dict[str, Any] = {"status": "in_progress", "outcome": None, "ended_at": None, "cost_micros": None}
    call_id = await put_call(tenant, **under_way)
    before = await tenant.client.calls.get(call_uuid=call_id)
    assert (before.cost, before.recording.status, before.outcome) == (None, "processing", None)
    assert (await tenant.client.calls.get_transcript(call_uuid=call_id)).status == "processing"
    asked = await tenant.client.calls.hang_up(call_uuid=call_id)
    assert asked.status == "in_progress"
    mark = select(calls.c.hang_up_requested_at).where(calls.c.id == call_id)
    assert await tenant.database.read(lambda connection: connection.execute(mark).scalar()) is not None
    ended = update(calls).where(calls.c.id == call_id).values(status="completed", ended_at=DIALLED_MS + 9_000)
    await tenant.database.write(lambda connection: connection.execute(ended).rowcount)
    await tenant.database.write(call_counts.add, [call_id])
    async with refusal(409, "invalid_state_transition") as kept:
        await tenant.client.calls.hang_up(call_uuid=call_id)
    assert kept[0].details == {"current_status": "completed", "allowed": []}


@pytest.mark.requirement("PATH-13", "FILTER-02", "FILTER-03", "FILTER-11")
async def test_calls_are_found_by_everything_they_are_about(tenant: Tenant) -> None:
    about: dict[str, Any] = {
        "deployment_id": "dep_1",
        "agent_id": "agt_2",
        "audience_id": "aud_1",
        "contact_id": "ctc_1",
    }
    first = await put_call(tenant, **about, disposition="goal_met")
    second = await put_call(tenant, outcome="busy", to_number="+12125550101", created_at=DIALLED_MS + 1_000)
    third = await put_call(
        tenant,
        outcome=None,
        status="ringing",
        ended_at=None,
        to_number="+12125550102",
        created_at=DIALLED_MS + 2_000,
    )
    find = tenant.client.calls.list
    assert [entry.id async for entry in find()] == [third, second, first]
    assert [entry.id async for entry in find(deployment_id="dep_1")] == [first]
    assert [entry.id async for entry in find(agent_id="agt_2")] == [first]
    assert [entry.id async for entry in find(audience_id="aud_1")] == [first]
    assert [entry.id async for entry in find(contact_id="ctc_1")] == [first]
    assert [entry.id async for entry in find(status=["ringing", "queued"])] == [third]
    assert [entry.id async for entry in find(outcome=["busy", "answered"])] == [second, first]
    assert [entry.id async for entry in find(disposition=["goal_met"])] == [first]
    assert [entry.id async for entry in find(to="+12125550101")] == [second]
    assert [entry.id async for entry in find(call_type="inbound")] == []
    middle = moment(DIALLED_MS + 1_000)
    assert milliseconds(middle) == DIALLED_MS + 1_000
    assert [entry.id async for entry in find(created_from=middle)] == [third, second]
    assert [entry.id async for entry in find(created_before=middle)] == [first]
    assert {entry.id async for entry in find(sort="-duration_seconds,ended_at")} == {first, second, third}
    assert (await find(sort="ended_at", per_page=1)).data[0].id == third
