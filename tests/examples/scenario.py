"""The story that the examples tell: every operation of the contract, performed on a fresh service in a sensible order.

A practice has its patients called. Every number is a fictional one; on the simulated network 555-01NN of the area 202
behave as documented, so every outcome is certain.
"""

from pathlib import Path
from typing import Any

from callwright.contract.problems import PROBLEMS
from tests.examples.record import Recorder
from tests.examples.refusals import be_refused, be_refused_at_last
from tests.examples.repeatable_service import ENDPOINT, Stage, open_stage
from tests.support.raw_requests import by_hand

PROMPT = (
    "You call patients of Bright Dental. Ask whether they can come on {{day}}. The practice is open from nine to five."
)
WELCOME = "Hello {{first_name}}, this is Ada, the automated assistant of Bright Dental."
PEOPLE = [
    {"phone_number": "+12025550100", "first_name": "Maria", "day": "Tuesday", "patient_id": "P-1001"},
    {"phone_number": "+12025550101", "first_name": "James", "day": "Tuesday", "patient_id": "P-1002"},
]
MORE = [
    {"phone_number": "+12025550104", "first_name": "Olga", "day": "Wednesday", "patient_id": "P-1003"},
    {"phone_number": "+12025550103", "first_name": "Chen", "day": "Wednesday", "patient_id": "P-1004"}
    | {"sim.outcome": "transferred"},
]
CSV = "phone_number,first_name,day,patient_id\n+12025550109,Lucia,Thursday,P-1005\n+1234,Tom,Thursday,P-1006\n"
"""Somebody new, and a number that is none."""


async def examples(database_url: str, folder: Path) -> dict[str, Any]:
    """Tells the story; gives what the file of examples holds."""
    async with open_stage(database_url, folder) as stage, by_hand(stage.door) as http:
        hand = Recorder(stage, http)
        await _build(hand)
        await be_refused(hand)
        await be_refused_at_last(hand)
        events = await stage.events()
    problems = {code: hand.problems[code] for code in PROBLEMS if code in hand.problems}
    return {"operations": hand.operations, "problems": problems, "events": events}


async def _build(hand: Recorder) -> None:
    agent_id = await _agent(hand)
    audience_id = await _audience(hand)
    number_id = await _number(hand)
    draft = {"agent_id": agent_id, "audience_id": audience_id, "phone_number_ids": [number_id]}
    await _campaign(hand, hand.stage, draft)
    await _calls(hand)
    await _steer(hand, hand.stage, draft)
    await _subscription(hand)
    await hand.use("get_wallet")
    await hand.use("update_wallet", low_balance_threshold={"amount": "25.00"})


async def _agent(hand: Recorder) -> str:
    await hand.use("list_voices", language="en-US", gender="female", per_page=2)
    await hand.use("get_voice", id="en-US-ada")
    await hand.use("get_voice_preview", id="en-US-ada")
    agent = await hand.use(
        "create_agent",
        name="Ada",
        voice_id="en-US-ada",
        language="en-US",
        system_prompt=PROMPT,
        welcome_message=WELCOME,
        metadata={"team": "front desk"},
    )
    await hand.use("get_agent", id=agent["id"])
    spare = await hand.use(
        "create_agent", name="Ben", voice_id="en-US-ada", language="en-US", system_prompt="Say that we are closed."
    )
    await hand.use("list_agents", language="en-US", sort="name", per_page=1)
    await hand.use("update_agent", id=spare["id"], name="Bea", welcome_message="Hello, this is Bea.")
    await hand.use("delete_agent", id=spare["id"])
    return agent["id"]


async def _audience(hand: Recorder) -> str:
    audience = await hand.use(
        "create_audience", name="Patients", default_country="US", external_id_column="patient_id", rows=PEOPLE
    )
    audience_id: str = audience["id"]
    await hand.use("add_audience_rows", id=audience_id, rows=MORE)
    begun = await hand.use("import_audience", id=audience_id, csv=CSV)
    await hand.stage.run_imports()
    await hand.use("get_audience_import", id=audience_id, import_id=begun["id"])
    await hand.use("list_import_errors", id=audience_id, import_id=begun["id"], code="invalid_phone", per_page=2)
    await hand.use("list_audience_rows", id=audience_id, per_page=2)
    await hand.use("update_audience", id=audience_id, description="Patients with an appointment this week.")
    await hand.use("get_audience", id=audience_id)
    await hand.use("list_audiences", status=["ready"], per_page=2)
    spare = await hand.use("create_audience", name="Staff")
    await hand.use("delete_audience", id=spare["id"])
    return audience_id


async def _number(hand: Recorder) -> str:
    found = await hand.use("search_available_numbers", country="US", area_code="212", contains="01", per_page=2)
    wanted, other = [entry["number"] for entry in found]
    rented = await hand.use("rent_phone_number", country="US", number=wanted, label="Front desk")
    await hand.use("get_phone_number", id=rented["id"])
    spare = await hand.use("rent_phone_number", country="US", number=other)
    await hand.use("update_phone_number", id=spare["id"], label="Spare line", auto_renew=False)
    await hand.use("list_phone_numbers", status=["active", "suspended"], country="US", per_page=1)
    await hand.use("release_phone_number", id=spare["id"])
    return rented["id"]


async def _campaign(hand: Recorder, stage: Stage, draft: dict[str, Any]) -> None:
    made = await hand.use("create_deployment", name="Check-ups", **draft, retry_policy={"max_attempts": 1})
    await hand.use("update_deployment", id=made["id"], calls_per_second=2, budget_cap={"amount": "5.00"})
    preview = await hand.use("preview_deployment", id=made["id"])
    await hand.use("start_deployment", id=made["id"], plan_id=preview["plan_id"])
    await stage.run_campaign(made["id"])
    await hand.use("get_deployment", id=made["id"])
    await hand.use("list_deployments", status=["active", "completed"], sort="-created_at,name", per_page=1)
    await hand.use("list_contacts", id=made["id"], status=["completed"], per_page=2)


async def _calls(hand: Recorder) -> None:
    (call,) = await hand.use("list_calls", outcome=["answered"], disposition=["goal_met"], per_page=1)
    await hand.use("get_call", call_uuid=call["id"])
    await hand.use("get_transcript", call_uuid=call["id"], per_page=2)
    await hand.use("get_recording", call_uuid=call["id"], format="mp3")
    await hand.use("search_transcripts", query='"come on" Tuesday', speaker="agent", snippets=1, per_page=1)
    await hand.use("get_call_stats", group_by=["outcome"], deployment_id=call["deployment_id"])
    await hand.use("list_transactions", type=["call_charge"], reference_id=call["id"], per_page=1)


async def _steer(hand: Recorder, stage: Stage, draft: dict[str, Any]) -> None:
    """A campaign that is paused, resumed and stopped, a call that is hung up, a draft that is deleted, and callers."""
    made = await hand.use("create_deployment", name="By hand", **draft, max_concurrency=1)
    await hand.use("start_deployment", id=made["id"])
    call_id = await stage.leave_a_call_open(made["id"])
    await hand.use("pause_deployment", id=made["id"])
    await hand.use("hang_up_call", call_uuid=call_id)
    await hand.use("resume_deployment", id=made["id"])
    await hand.use("cancel_deployment", id=made["id"])
    unused = await hand.use("clone_deployment", id=made["id"], name="By hand, again")
    await hand.use("delete_deployment", id=unused["id"])
    number_id = draft["phone_number_ids"][0]
    await hand.use("create_inbound_deployment", name="Reception", agent_id=draft["agent_id"], phone_number_id=number_id)


async def _subscription(hand: Recorder) -> None:
    """A subscription that is tried and refuses an event, which is sent to it again; and a spare one."""
    made = await hand.use(
        "create_webhook", url=ENDPOINT, events=["call.completed", "deployment.completed"], description="To our CRM"
    )
    webhook_id: str = made["id"]
    await hand.use("get_webhook", id=webhook_id)
    await hand.use("update_webhook", id=webhook_id, events=["call.completed", "webhook.disabled"])
    await hand.use("test_webhook", id=webhook_id)
    await hand.stage.deliver("succeeded", 200, "thanks")
    (event,) = await hand.use("list_events", type=["call.completed"], per_page=1)
    event_id: str = event["id"]
    await hand.use("get_event", id=event_id)
    await hand.use("replay_event", id=event_id, webhook_id=webhook_id)
    await hand.stage.deliver("rejected", 422, "unknown call")
    await hand.use("explain_event", id=event_id)
    (sent,) = await hand.use("list_webhook_deliveries", id=webhook_id, status=["failed"], per_page=1)
    await hand.use("get_webhook_delivery", id=webhook_id, delivery_id=sent["id"])
    await hand.use("replay_webhook", id=webhook_id, statuses=["failed"])
    await hand.stage.deliver("succeeded", 200, "thanks")
    await hand.use("list_event_deliveries", id=event_id, per_page=2)
    await hand.use("rotate_webhook_secret", id=webhook_id, overlap_seconds=3_600)
    spare = await hand.use("create_webhook", url=ENDPOINT, events=["*"], description="To try")
    await hand.use("update_webhook", id=spare["id"], status="disabled")
    await hand.use("list_webhooks", status=["active", "disabled"], per_page=1)
    await hand.use("delete_webhook", id=spare["id"])
