"""What the examples show: every operation of the contract, performed on a fresh service in a sensible order.

A practice has its patients called. Every number is a fictional one; on the simulated network 555-01NN of the area 202
behave as documented, so every outcome is certain.
"""

from pathlib import Path
from typing import Any

from callwright.contract.problems import PROBLEMS
from tests.examples.record import Recorder
from tests.examples.refusals import be_refused, be_refused_at_last
from tests.examples.repeatable_service import ENDPOINT, RepeatableService, open_repeatable_service
from tests.support.http.raw_requests import raw_client
from tests.support.service import OWNED

PROMPT = (
    "You call patients of Bright Dental. Ask whether they can come on {{day}}. The practice is open from nine to five."
)
WELCOME = "Hello {{first_name}}, this is Ada, the automated assistant of Bright Dental."
PEOPLE = [
    {"phone_number": "+12025550100", "first_name": "Maria", "day": "Tuesday", "patient_id": "P-1001"},
    {"phone_number": "+12025550101", "first_name": "James", "day": "Tuesday", "patient_id": "P-1002"},
]
CALL_TOOLS: list[dict[str, Any]] = [
    {
        "type": "http",
        "name": "free_times",
        "description": "Free times of a day. Call it before you offer any.",
        "url": "https://example.com/free?day={{day}}",
        "secret_headers": ["Authorization"],
        "parameters": {"type": "object", "properties": {"day": {"type": "string", "default": "Tuesday"}}},
        "rehearsal": {"times": ["ten", "half past two"]},
        "use_when": {
            "say": "There is a time at {{answer.times.0}}, and one at {{answer.times.1}}. Which one suits you?"
        },
    },
    {"type": "end_call", "name": "end_call", "description": "Ends the call once everything is said."},
]
MORE = [
    {"phone_number": "+12025550104", "first_name": "Olga", "day": "Wednesday", "patient_id": "P-1003"},
    {"phone_number": "+12025550103", "first_name": "Chen", "day": "Wednesday", "patient_id": "P-1004"}
    | {"sim.outcome": "transferred"},
]
CSV = "phone_number,first_name,day,patient_id\n+12025550109,Lucia,Thursday,P-1005\n+1234,Tom,Thursday,P-1006\n"
"""Somebody new, and a number that is none."""
ROUTING = "https://example.com/who-answers"
IMPORTED = "+12025550109"
"""The number of somebody who is in that file."""


async def examples(database_url: str, folder: Path) -> dict[str, Any]:
    """Performs it; gives what the file of examples holds."""
    async with open_repeatable_service(database_url, folder) as service, raw_client(service.tenant) as http:
        recorder = Recorder(service, http)
        await _build(recorder)
        await be_refused(recorder)
        await be_refused_at_last(recorder)
        events = await service.events()
    problems = {code: recorder.problems[code] for code in PROBLEMS if code in recorder.problems}
    return {"operations": recorder.operations, "problems": problems, "events": events}


async def _build(recorder: Recorder) -> None:
    agent_id = await _agent(recorder)
    audience_id = await _audience(recorder)
    number_id = await _number(recorder)
    draft = {"agent_id": agent_id, "audience_id": audience_id, "phone_number_ids": [number_id]}
    await _campaign(recorder, recorder.service, draft)
    await _calls(recorder)
    await _single(recorder, recorder.service, draft)
    await _steer(recorder, recorder.service, draft)
    await _review(recorder, draft)
    await _subscription(recorder)
    await recorder.use("get_wallet")
    await recorder.use("update_wallet", low_balance_threshold={"amount": "25.00"})
    await recorder.use("get_overview")
    await recorder.use("list_audit_log", action="start_deployment", per_page=1)
    await _do_not_call(recorder)
    await recorder.use("export_person", number=IMPORTED, per_page=2)
    await recorder.use("delete_person", number=IMPORTED, confirm=True)
    await recorder.use("talk_to_agent", id=agent_id, variables={"first_name": "Maria", "day": "Tuesday"})


async def _do_not_call(recorder: Recorder) -> None:
    wanted = [{"number": "(202) 555-0142", "note": "Asked by mail"}, {"number": "555", "reason": "regulator"}]
    added = await recorder.use("add_do_not_call", entries=wanted, default_country="US")
    entry_id: str = added["entries"][0]["id"]
    csv = "phone,reason\n+12025550143,regulator\n+12025550142,litigator\n12,regulator\n"
    await recorder.use("import_do_not_call", csv=csv)
    await recorder.use("list_do_not_call", simulated=False, per_page=1)
    await recorder.use("get_do_not_call", id=entry_id)
    await recorder.use("export_do_not_call", simulated=False)
    await recorder.use("remove_do_not_call", id=entry_id, reason="Asked by mail to be called again")


async def _agent(recorder: Recorder) -> str:
    await recorder.use("list_voices", language="en-US", gender="female", per_page=2)
    await recorder.use("get_voice", id="en-US-ada")
    await recorder.use("get_voice_preview", id="en-US-ada")
    agent = await recorder.use(
        "create_agent",
        name="Ada",
        voice_id="en-US-ada",
        language="en-US",
        system_prompt=PROMPT,
        welcome_message=WELCOME,
        metadata={"team": "front desk"},
    )
    await recorder.use("get_agent", id=agent["id"])
    await _providers(recorder, agent["id"])
    spare = await recorder.use(
        "create_agent", name="Ben", voice_id="en-US-ada", language="en-US", system_prompt="Say that we are closed."
    )
    await recorder.use("list_agents", language="en-US", sort="name", per_page=1)
    await recorder.use("update_agent", id=spare["id"], name="Bea", welcome_message="Hello, this is Bea.")
    await recorder.use("delete_agent", id=spare["id"])
    return agent["id"]


async def _providers(recorder: Recorder, agent_id: str) -> None:
    ours = {"name": "our-openai", "kind": "openai", "key": "sk-0123456789abcdef", "default_for": ["hearing"]}
    await recorder.use("set_provider", **ours)
    await recorder.use("list_providers", kind="openai")
    await recorder.use("update_agent", id=agent_id, speech={"hearing": "our-openai"})
    await recorder.refuse("provider_in_use", "DELETE", "/providers/our-openai")
    await recorder.use("update_agent", id=agent_id, speech=None)
    await recorder.use("remove_provider", name="our-openai")
    await recorder.use("set_call_tools", id=agent_id, call_tools=CALL_TOOLS)
    secret = {"tool": "free_times", "header": "Authorization", "value": "Bearer 0123456789abcdef"}
    await recorder.use("set_call_tool_secret", id=agent_id, **secret)
    await recorder.use("list_agent_versions", id=agent_id)


async def _audience(recorder: Recorder) -> str:
    audience = await recorder.use(
        "create_audience", name="Patients", default_country="US", external_id_column="patient_id", rows=PEOPLE
    )
    audience_id: str = audience["id"]
    await recorder.use("add_audience_rows", id=audience_id, rows=MORE)
    begun = await recorder.use("import_audience", id=audience_id, csv=CSV)
    await recorder.service.run_imports()
    await recorder.use("get_audience_import", id=audience_id, import_id=begun["id"])
    await recorder.use("list_import_errors", id=audience_id, import_id=begun["id"], code="invalid_phone", per_page=2)
    await recorder.use("list_audience_rows", id=audience_id, per_page=2)
    await recorder.use("update_audience", id=audience_id, description="Patients with an appointment this week.")
    await recorder.use("get_audience", id=audience_id)
    await recorder.use("list_audiences", status=["ready"], per_page=2)
    spare = await recorder.use("create_audience", name="Staff")
    await recorder.use("delete_audience", id=spare["id"])
    return audience_id


async def _number(recorder: Recorder) -> str:
    found = await recorder.use("search_available_numbers", country="US", area_code="212", contains="01", per_page=2)
    wanted, other = [entry["number"] for entry in found]
    rented = await recorder.use("rent_phone_number", country="US", number=wanted, label="Front desk")
    await recorder.use("get_phone_number", id=rented["id"])
    spare = await recorder.use("rent_phone_number", country="US", number=other)
    await recorder.use("import_phone_number", number=OWNED[0], label="Our own line")
    await recorder.use("update_phone_number", id=spare["id"], label="Spare line", auto_renew=False)
    await recorder.use("list_phone_numbers", status=["active", "suspended"], country="US", per_page=1)
    await recorder.use("release_phone_number", id=spare["id"])
    return rented["id"]


async def _campaign(recorder: Recorder, service: RepeatableService, draft: dict[str, Any]) -> None:
    made = await recorder.use("create_deployment", name="Check-ups", **draft, retry_policy={"max_attempts": 1})
    await recorder.use("update_deployment", id=made["id"], calls_per_second=2, budget_cap={"amount": "5.00"})
    preview = await recorder.use("preview_deployment", id=made["id"])
    await recorder.use("start_deployment", id=made["id"], plan_id=preview["plan_id"])
    await service.run_campaign(made["id"])
    await recorder.use("get_deployment", id=made["id"])
    await recorder.use("list_deployments", status=["active", "completed"], sort="-created_at,name", per_page=1)
    await recorder.use("list_contacts", id=made["id"], status=["completed"], per_page=2)
    await recorder.use("export_deployment", id=made["id"], of="calls")


async def _calls(recorder: Recorder) -> None:
    (call,) = await recorder.use("list_calls", outcome=["answered"], disposition=["goal_met"], per_page=1)
    await recorder.use("get_call", call_uuid=call["id"])
    await recorder.use("get_transcript", call_uuid=call["id"], per_page=2)
    judged = {"disposition": "callback_requested", "note": "She asked for Tuesday, and no time was agreed."}
    await recorder.use("correct_disposition", call_uuid=call["id"], **judged)
    await recorder.use("get_call_evidence", call_uuid=call["id"])
    await recorder.use("list_evidence", id=call["deployment_id"], per_page=1)
    await recorder.use("get_recording", call_uuid=call["id"], format="mp3")
    await recorder.use("search_transcripts", query='"come on" Tuesday', speaker="agent", snippets=1, per_page=1)
    await recorder.use("get_call_stats", group_by=["outcome"], deployment_id=call["deployment_id"])
    await recorder.use("read_conversations", deployment_id=call["deployment_id"], max_tokens=400)
    await recorder.use("list_transactions", type=["call_charge"], reference_id=call["id"], per_page=1)


async def _steer(recorder: Recorder, service: RepeatableService, draft: dict[str, Any]) -> None:
    """A campaign that is paused, resumed and stopped, a call that is hung up, a draft that is deleted, and callers."""
    made = await recorder.use("create_deployment", name="By hand", **draft, max_concurrency=1)
    await recorder.use("start_deployment", id=made["id"])
    call_id = await service.leave_a_call_open(made["id"])
    await recorder.use("pause_deployment", id=made["id"])
    person = {"number": (await recorder.ask("GET", f"/calls/{call_id}")).json()["data"]["to"], "confirm": True}
    await recorder.refuse("call_under_way", "POST", "/people/delete", json=person)
    await recorder.use("hang_up_call", call_uuid=call_id)
    await recorder.use("resolve_call", call_uuid=await service.leave_a_call_unconfirmed(made["id"]), placed=True)
    await recorder.use("resume_deployment", id=made["id"])
    await recorder.use("cancel_deployment", id=made["id"])
    unused = await recorder.use("clone_deployment", id=made["id"], name="By hand, again")
    await recorder.use("delete_deployment", id=unused["id"])
    number_id = draft["phone_number_ids"][0]
    await recorder.use(
        "create_inbound_deployment", name="Reception", agent_id=draft["agent_id"], phone_number_id=number_id
    )
    await _routing(recorder, service, number_id)


async def _routing(recorder: Recorder, service: RepeatableService, number_id: str) -> None:
    """An address that decides what callers of a number get, as long as it answers."""
    fallback = {"action": "forward", "forward_to": "+12125550177"}
    await recorder.use("set_inbound_routing", id=number_id, url=ROUTING, fallback=fallback)
    await recorder.use("test_inbound_routing", id=number_id)
    await service.lose_the_routing(number_id)
    await recorder.use("list_routing_requests", id=number_id, failed=True, per_page=1)
    await recorder.use("remove_inbound_routing", id=number_id)
    await recorder.use("simulate_inbound_call", id=number_id, caller="+12065550111")
    await recorder.use("talk_to_number", id=number_id)


async def _review(recorder: Recorder, draft: dict[str, Any]) -> None:
    """A campaign whose consents nobody has seen waits for a person, who approves it."""
    attested = {"purpose": "marketing", "consent_attested": True}
    made = await recorder.use("create_deployment", name="Offers", **draft, compliance=attested)
    await recorder.use("start_deployment", id=made["id"])
    (review,) = await recorder.use("list_compliance_reviews", status=["open"], subject_id=made["id"], per_page=2)
    await recorder.use("get_compliance_review", id=review["id"])
    await recorder.use(
        "decide_compliance_review", id=review["id"], decision="approve", note="Consents are in the folder of May."
    )
    await recorder.use(
        "ask_confirmation",
        tool="start_deployment",
        about="9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        question='Call 3 people of the campaign "Check-ups", at most 0.54 USD.',
        mark="0a1b2c3d",
        people=3,
        cost_at_most={"amount": "0.54"},
    )
    await recorder.use("cancel_deployment", id=made["id"])


async def _single(recorder: Recorder, service: RepeatableService, draft: dict[str, Any]) -> None:
    placed = await recorder.use(
        "place_call",
        agent_id=draft["agent_id"],
        phone_number_id=draft["phone_number_ids"][0],
        to="+12025550100",
        variables={"first_name": "Maria", "day": "Friday"},
    )
    await service.run_campaign(placed["id"])


async def _subscription(recorder: Recorder) -> None:
    """A subscription that is tried and refuses an event, which is sent to it again; and a spare one."""
    made = await recorder.use(
        "create_webhook", url=ENDPOINT, events=["call.completed", "deployment.completed"], description="To our CRM"
    )
    webhook_id: str = made["id"]
    await recorder.use("get_webhook", id=webhook_id)
    await recorder.use("update_webhook", id=webhook_id, events=["call.completed", "webhook.disabled"])
    await recorder.use("test_webhook", id=webhook_id)
    await recorder.service.deliver("succeeded", 200, "thanks")
    (event,) = await recorder.use("list_events", type=["call.completed"], per_page=1)
    event_id: str = event["id"]
    await recorder.use("get_event", id=event_id)
    await recorder.use("replay_event", id=event_id, webhook_id=webhook_id)
    await recorder.service.deliver("rejected", 422, "unknown call")
    await recorder.use("explain_event", id=event_id)
    (sent,) = await recorder.use("list_webhook_deliveries", id=webhook_id, status=["failed"], per_page=1)
    await recorder.use("get_webhook_delivery", id=webhook_id, delivery_id=sent["id"])
    await recorder.use("replay_webhook", id=webhook_id, statuses=["failed"])
    await recorder.service.deliver("succeeded", 200, "thanks")
    await recorder.use("list_event_deliveries", id=event_id, per_page=2)
    await recorder.use("rotate_webhook_secret", id=webhook_id, overlap_seconds=3_600)
    spare = await recorder.use("create_webhook", url=ENDPOINT, events=["*"], description="To try")
    await recorder.use("update_webhook", id=spare["id"], status="disabled")
    await recorder.use("list_webhooks", status=["active", "disabled"], per_page=1)
    await recorder.use("delete_webhook", id=spare["id"])
