"""One scenario that uses every tool, with any client: a campaign is built and run, then another is steered by hand.

The contacts carry reserved numbers, so every outcome is certain.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol

import anyio

PROMPT = """You call patients of the practice Bright Dental on behalf of its front desk.
- Ask whether they can come on {{day}}
The practice is at 12 Harbour Street. It is open from nine to five on weekdays."""
WELCOME = "Hello {{first_name}}, this is Ada, the automated assistant of Bright Dental."
PEOPLE = [
    {"phone_number": f"+120255501{ending}", "first_name": name, "day": "Tuesday"}
    for ending, name in (("00", "Maria"), ("01", "James"), ("02", "Aisha"), ("03", "Chen"))
]
CSV = """phone_number,first_name,day
+12025550104,Olga,Tuesday
+1234,Tom,Wednesday
+12025550109,Lucia,Thursday
+12025550100,Maria,Tuesday
"""
"""Two people who are new, one with a number that is none, one who is there already."""
OUTCOMES = {"answered": 2, "busy": 1, "no_answer": 1, "voicemail": 1, "unreachable": 1}
ONCE = {"max_attempts": 1}
LONG_S = 120.0


class Hand(Protocol):
    """Calls tools."""

    async def use(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Calls a tool that succeeds; gives its data."""
        ...

    async def refused(self, tool: str, /, **arguments: Any) -> str:
        """Calls a tool that refuses; gives its words."""
        ...


@dataclass(frozen=True)
class Built:
    """What the first part leaves for the second."""

    agent_id: str
    audience_id: str
    number_id: str
    deployment_id: str
    call_id: str
    """A call that reached its goal."""


async def until(look: Callable[[], Awaitable[dict[str, Any]]], met: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Looks again and again until what is seen is right."""
    with anyio.fail_after(LONG_S):
        while not met(seen := await look()):  # noqa: ASYNC110  # it happens in another process
            await anyio.sleep(0.02)
    return seen


async def build_and_run(hand: Hand) -> Built:
    """From nothing to a finished campaign whose calls were read. Simulated time runs as fast as it can."""
    assert float((await hand.use("get_wallet"))["balance"]["amount"]) == 100
    warned = await hand.use("update_wallet", low_balance_threshold={"amount": "5.00"})
    assert float(warned["low_balance_threshold"]["amount"]) == 5
    agent_id = await _agent(hand)
    audience_id = await _audience(hand)
    number_id = await _number(hand)
    await _desk(hand, agent_id, number_id)
    deployment_id = await _campaign(hand, agent_id, audience_id, number_id)
    call_id = await _calls(hand, deployment_id)
    charges = await hand.use("list_transactions", type=["call_charge"], reference_id=call_id)
    assert [float(charge["amount"]["amount"]) < 0 for charge in charges["data"]] == [True]
    await _review(hand, {"agent_id": agent_id, "audience_id": audience_id, "phone_number_ids": [number_id]})
    return Built(agent_id, audience_id, number_id, deployment_id, call_id)


async def _agent(hand: Hand) -> str:
    voices = await hand.use("list_voices", language="en-US")
    voice = await hand.use("get_voice", voice_id=voices["data"][0]["id"])
    heard = await hand.use("get_voice_preview", voice_id=voice["id"])
    assert heard["media_type"] == "audio/mpeg"
    assert voice["language"] == "en-US"
    assert (await hand.use("list_providers"))["data"] == []
    assert "list_providers" in await hand.refused("remove_provider", name="ours")
    agent = await hand.use(
        "create_agent", name="Ada", voice_id=voice["id"], language="en-US", system_prompt="Say hello."
    )
    changed = await hand.use("update_agent", agent_id=agent["id"], system_prompt=PROMPT, welcome_message=WELCOME)
    assert sorted(changed["variables"]) == ["day", "first_name"]
    whole = await hand.use("get_agent", agent_id=agent["id"])
    assert (whole["system_prompt"], whole["welcome_message"]) == (PROMPT, WELCOME)
    tools = [{"type": "end_call", "name": "end_call", "description": "Ends the call."}]
    told = await hand.refused("set_call_tools", agent_id=agent["id"], call_tools=[{**tools[0], "name": "hang_up"}])
    assert "call_tools.0.name" in told
    assert (await hand.use("set_call_tools", agent_id=agent["id"], call_tools=tools))["id"] == agent["id"]
    whole = await hand.use("get_agent", agent_id=agent["id"])
    assert [tool["name"] for tool in whole["call_tools"]] == ["end_call"]
    versions = (await hand.use("list_agent_versions", agent_id=agent["id"]))["data"]
    assert [(each["version"], each["changed"]) for each in versions] == [
        (3, ["call_tools"]),
        (2, ["system_prompt", "welcome_message"]),
        (1, []),
    ]
    assert [found["id"] for found in (await hand.use("list_agents", name="Ada"))["data"]] == [agent["id"]]
    spare = await hand.use(
        "create_agent", name="Spare", voice_id=voice["id"], language="en-US", system_prompt="Say hello."
    )
    assert (await hand.use("delete_agent", agent_id=spare["id"]))["deleted"] is True
    assert "list_agents" in await hand.refused("get_agent", agent_id=spare["id"])
    assert "list_agents" in await hand.refused(
        "create_agent", name="Ada", voice_id=voice["id"], language="en-US", system_prompt="Say hello."
    )
    return agent["id"]


async def _audience(hand: Hand) -> str:
    audience_id: str = (await hand.use("create_audience", name="Patients"))["id"]
    added = await hand.use("add_audience_rows", audience_id=audience_id, rows=PEOPLE)
    assert (added["added"], added["invalid"]) == (4, 0)
    begun = await hand.use("import_audience", audience_id=audience_id, csv=CSV)
    imported = await until(
        lambda: hand.use("get_audience_import", audience_id=audience_id, import_id=begun["id"]),
        lambda seen: seen["status"] not in ("pending", "importing"),
    )
    assert imported["status"] == "completed_with_errors"
    assert (imported["added"], imported["invalid"], imported["duplicates"]) == (2, 1, 1)
    refused = (await hand.use("list_import_errors", audience_id=audience_id, import_id=begun["id"]))["data"]
    assert [(row["row_number"], row["code"]) for row in refused if not row["code"].startswith("duplicate")] == [
        (2, "invalid_phone")
    ]
    rows = (await hand.use("list_audience_rows", audience_id=audience_id))["data"]
    assert [row["phone_number"][-2:] for row in rows] == ["00", "01", "02", "03", "04", "09"]
    await hand.use("update_audience", audience_id=audience_id, name="Patients of the practice")
    audience = await hand.use("get_audience", audience_id=audience_id)
    assert (audience["valid_count"], audience["name"]) == (6, "Patients of the practice")
    assert [found["id"] for found in (await hand.use("list_audiences"))["data"]] == [audience_id]
    spare = await hand.use("create_audience", name="Spare")
    assert (await hand.use("delete_audience", audience_id=spare["id"]))["id"] == spare["id"]
    return audience_id


async def _number(hand: Hand) -> str:
    free = await hand.use("search_available_numbers", country="US", per_page=2)
    wanted, spare = [found["number"] for found in free["data"]]
    number_id: str = (await hand.use("rent_phone_number", country="US", number=wanted))["id"]
    await hand.use("update_phone_number", phone_number_id=number_id, label="Front desk")
    assert (await hand.use("get_phone_number", phone_number_id=number_id))["label"] == "Front desk"
    released = (await hand.use("rent_phone_number", country="US", number=spare))["id"]
    assert (await hand.use("release_phone_number", phone_number_id=released))["status"] == "released"
    held = (await hand.use("list_phone_numbers", status=["active"]))["data"]
    assert [found["number"] for found in held] == [wanted]
    return number_id


async def _desk(hand: Hand, agent_id: str, number_id: str) -> None:
    """The number is answered, for a while, and somebody calls."""
    desk = await hand.use("create_inbound_deployment", name="Desk", agent_id=agent_id, phone_number_id=number_id)
    assert (desk["status"], desk["simulated"]) == ("active", True)
    assert (await hand.use("get_phone_number", phone_number_id=number_id))["inbound_deployment_id"] == desk["id"]
    found = (await hand.use("list_deployments", status=["active"]))["data"]
    assert [(one["id"], one["call_type"]) for one in found] == [(desk["id"], "inbound")]
    await hand.use("update_deployment", deployment_id=desk["id"], inbound={"after_hours": {"action": "voicemail"}})
    whole = await hand.use("get_deployment", deployment_id=desk["id"], wait_seconds=30)
    assert whole["inbound"]["after_hours"]["action"] == "voicemail"
    coming = await hand.use("simulate_inbound_call", phone_number_id=number_id, caller="+12065550111")
    assert (coming["deployment_id"], coming["count"]) == (desk["id"], 1)
    link = await hand.use("talk_to_number", phone_number_id=number_id)
    assert link["url"].partition("#")[0].endswith(f"/talk/{link['call_id']}")
    assert "list_phone_numbers" in await hand.refused(
        "create_inbound_deployment", name="Second", agent_id=agent_id, phone_number_id=number_id
    )
    assert "calls nobody" in await hand.refused("preview_deployment", deployment_id=desk["id"])
    assert (await hand.use("cancel_deployment", deployment_id=desk["id"]))["status"] == "cancelled"


async def _campaign(hand: Hand, agent_id: str, audience_id: str, number_id: str) -> str:
    draft = {"agent_id": agent_id, "audience_id": audience_id, "phone_number_ids": [number_id], "retry_policy": ONCE}
    spare = await hand.use("create_deployment", name="Spare", **draft)
    copy = await hand.use("clone_deployment", deployment_id=spare["id"], name="Copy")
    assert (copy["status"], copy["simulated"]) == ("draft", True)
    assert (await hand.use("delete_deployment", deployment_id=copy["id"]))["deleted"] is True
    assert (await hand.use("delete_deployment", deployment_id=spare["id"]))["deleted"] is True
    deployment_id: str = (await hand.use("create_deployment", name="Check", **draft))["id"]
    await hand.use("update_deployment", deployment_id=deployment_id, name="Check-ups", calls_per_second=10)
    preview = await hand.use("preview_deployment", deployment_id=deployment_id)
    assert (preview["eligible"], preview["problems"]) == (6, [])
    assert preview["greeting"].startswith("Hello Maria, this is Ada")
    assert (await hand.use("start_deployment", deployment_id=deployment_id))["simulated"] is True
    done = await until(
        lambda: hand.use("get_deployment", deployment_id=deployment_id, wait_seconds=30),
        lambda seen: seen["status"] != "active",
    )
    assert (done["status"], done["stats"]["outcomes"]) == ("completed", OUTCOMES)
    assert done["stats"]["dispositions"] == {"goal_met": 1, "do_not_call": 1}
    contacts = (await hand.use("list_contacts", deployment_id=deployment_id))["data"]
    assert (await hand.use("export_deployment", deployment_id=deployment_id, of="calls"))["media_type"] == "text/csv"
    assert [contact["attempts"] for contact in contacts] == [1] * 6
    found = (await hand.use("list_deployments", status=["completed"]))["data"]
    assert [deployment["name"] for deployment in found] == ["Check-ups"]
    return deployment_id


async def _review(hand: Hand, draft: dict[str, Any]) -> None:
    """A campaign whose consents nobody has seen calls nobody before a person has approved it, nor at that moment."""
    attested = {"purpose": "marketing", "consent_attested": True}
    deployment_id: str = (await hand.use("create_deployment", name="Offers", **draft, compliance=attested))["id"]
    assert (await hand.use("start_deployment", deployment_id=deployment_id))["status"] == "paused"
    (review,) = (await hand.use("list_compliance_reviews", status=["open"]))["data"]
    assert (review["category"], review["subject"]["id"]) == ("consent_missing", deployment_id)
    whole = await hand.use("get_compliance_review", compliance_review_id=review["id"])
    assert whole["blocking"] is True
    assert review["id"] in await hand.refused("resume_deployment", deployment_id=deployment_id)
    decided = await hand.use("decide_compliance_review", compliance_review_id=review["id"], decision="approve")
    assert decided["status"] == "approved"
    assert (await hand.use("get_deployment", deployment_id=deployment_id))["status"] == "paused"
    await hand.use("cancel_deployment", deployment_id=deployment_id)


async def _calls(hand: Hand, deployment_id: str) -> str:
    found = (await hand.use("list_calls", deployment_id=deployment_id, disposition=["goal_met"]))["data"]
    call_id: str = found[0]["id"]
    call = await hand.use("get_call", call_id=call_id)
    assert (call["to"], call["outcome"], call["simulated"]) == ("+1202•••0100", "answered", True)
    kept = await hand.use("get_call_evidence", call_id=call_id)
    assert kept["local_time"]
    assert len((await hand.use("list_evidence", deployment_id=deployment_id, per_page=2))["data"]) == 2
    transcript = await hand.use("get_transcript", call_id=call_id)
    assert transcript["turns"][0]["text"].startswith("Hello Maria, this is Ada")
    assert transcript["turn_count"] == len(transcript["turns"]) == call["turn_count"]
    recording = await hand.use("get_recording", call_id=call_id)
    assert recording["resource_uri"] == f"callwright://calls/{call_id}/recording"
    assert "get_call" in await hand.refused("hang_up_call", call_id=call_id)
    matches = (await hand.use("search_transcripts", query='"this is Ada"', disposition=["goal_met"]))["data"]
    assert call_id in [match["call_id"] for match in matches]
    read = await hand.use("read_conversations", deployment_id=deployment_id, speaker="contact")
    assert call_id in [one["call_id"] for one in read["conversations"]]
    said = await hand.use("read_conversations", deployment_id=deployment_id, view="distinct_turns")
    assert said["calls"] == len(read["conversations"])
    assert any(one["text"].startswith("Hello") for one in said["distinct_turns"])
    judged = await hand.use("correct_disposition", call_id=call_id, disposition="interested", note="Not sure yet.")
    assert (judged["disposition"], judged["disposition_source"]) == ("interested", "person")
    stats = await hand.use("get_call_stats", group_by=["outcome"], deployment_id=deployment_id)
    assert {group["key"]["outcome"]: group["calls"] for group in stats["groups"]} == OUTCOMES
    return call_id


async def _single(hand: Hand, draft: dict[str, Any]) -> None:
    """One call, drafted: what there is then, and who made it."""
    single = {"agent_id": draft["agent_id"], "phone_number_id": draft["phone_number_ids"][0], "to": "+12025550100"}
    placed = await hand.use("place_call", **single, variables={"first_name": "Ada", "day": "Monday"}, auto_start=False)
    assert placed["status"] == "draft"
    overview = await hand.use("get_overview")
    assert placed["id"] in [shown["id"] for shown in overview["deployments"]["shown"]]
    (entry,) = (await hand.use("list_audit_log", action="place_call"))["data"]
    assert (entry["subject_id"], entry["tool"]) == (placed["id"], "place_call")
    talk = await hand.use("talk_to_agent", agent_id=draft["agent_id"], variables={"first_name": "Ada", "day": "Monday"})
    assert talk["url"].partition("#")[2].startswith("tlk_")
    assert "CALLWRIGHT_SIP_NUMBERS" in await hand.refused("import_phone_number", number="+12125550191")
    await _do_not_call(hand)
    await hand.use("create_audience", name="Once", rows=[{"phone_number": "+12025550117", "first_name": "Ida"}])
    kept = await hand.use("export_person", number="+12025550117")
    assert (kept["counts"]["audience_rows"], kept["audience_rows"][0]["name"]) == (1, "Ida")
    gone = await hand.use("delete_person", number="+12025550117", confirm=True)
    assert (gone["complete"], gone["deleted"]["audience_rows"], gone["id"]) == (True, 1, kept["id"])


async def _do_not_call(hand: Hand) -> None:
    """The do-not-call list: filled by hand and from a file, read, fetched and emptied by one."""
    added = await hand.use("add_do_not_call", entries=[{"number": "+12025550142"}])
    entry_id: str = added["entries"][0]["id"]
    assert (added["added"], added["entries"][0]["result"]) == (1, "added")
    imported = await hand.use("import_do_not_call", csv="phone\n+12025550143\n12\n")
    assert (imported["added"], imported["refused"]) == (1, 1)
    assert len((await hand.use("list_do_not_call", simulated=False))["data"]) == 2
    assert (await hand.use("get_do_not_call", do_not_call_id=entry_id))["reason"] == "requested"
    assert (await hand.use("export_do_not_call"))["media_type"] == "text/csv"
    assert (await hand.use("remove_do_not_call", do_not_call_id=entry_id))["id"] == entry_id


async def steer(hand: Hand, built: Built) -> None:
    """A campaign that is paused, resumed and stopped, and a call that is hung up. Simulated time runs as in life."""
    draft = {"agent_id": built.agent_id, "audience_id": built.audience_id, "phone_number_ids": [built.number_id]}
    deployment_id: str = (await hand.use("create_deployment", name="By hand", **draft, max_concurrency=1))["id"]
    assert (await hand.use("start_deployment", deployment_id=deployment_id))["status"] == "active"
    await until(
        lambda: hand.use("get_deployment", deployment_id=deployment_id), lambda seen: seen["stats"]["in_flight"] == 1
    )
    (under_way,) = (await hand.use("list_calls", deployment_id=deployment_id))["data"]
    call_id: str = under_way["id"]
    assert under_way["status"] in ("queued", "initiated", "ringing", "in_progress")
    assert (await hand.use("pause_deployment", deployment_id=deployment_id))["status"] == "paused"
    await hand.use("hang_up_call", call_id=call_id)
    assert "unconfirmed" in await hand.refused("resolve_call", call_id=call_id, placed=True)
    call = await until(lambda: hand.use("get_call", call_id=call_id), lambda seen: "ended_at" in seen)
    assert call["ended_by"] != "contact"
    assert (await hand.use("resume_deployment", deployment_id=deployment_id))["status"] == "active"
    assert (await hand.use("cancel_deployment", deployment_id=deployment_id))["status"] == "cancelled"
    assert "get_deployment" in await hand.refused("resume_deployment", deployment_id=deployment_id)
    await _single(hand, draft)
