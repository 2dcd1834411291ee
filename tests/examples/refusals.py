"""Requests that are refused, for the examples of problems."""

from typing import Any

from callwright.contract.webhooks import MOST_EARLIER_SECRETS, MOST_SUBSCRIPTIONS
from callwright.service.platform.clock.clock import MINUTE
from callwright.service.rest.incoming import MAX_BODY
from tests.examples.record import Recorder
from tests.examples.repeatable_service import ENDPOINT

_JSON = {"Content-Type": "application/json"}
_AGENT = {"name": "Cleo", "voice_id": "en-US-ada", "language": "en-US", "system_prompt": "Say hello."}
_ROWS = [{"phone_number": "+12025550100", "first_name": "Ada", "day": "Monday"}]
_CSV = "phone_number,first_name,day\n+12025550101,Bob,Monday\n"
_SIXTEEN_MINUTES_MS = 16 * MINUTE
_MORE_THAN_ALLOWED = 200


def _known(recorder: Recorder, name: str) -> Any:
    """The `data` of the answer that is kept for an operation."""
    return recorder.operations[name]["answer"]["body"]["data"]


async def be_refused(recorder: Recorder) -> None:
    """Everything but a lack of money."""
    await _misread(recorder)
    await _not_let_in(recorder)
    await _not_there_or_taken(recorder)
    await _in_use(recorder)
    await _in_the_wrong_state(recorder)
    await _more_than_fit(recorder)


async def be_refused_at_last(recorder: Recorder) -> None:
    """What nothing can follow: money, requests and the key's creator are gone afterwards."""
    service, number = recorder.service, {"country": "US"}
    await service.cap_spending()
    await recorder.refuse("spending_cap_reached", "POST", "/phone_numbers", json=number)
    await service.uncap_spending()
    await service.empty_the_wallet()
    await recorder.refuse("insufficient_credits", "POST", "/phone_numbers", json=number)
    await service.set_wallet_status("frozen")
    await recorder.refuse("wallet_frozen", "POST", "/phone_numbers", json=number)
    await service.set_wallet_status("active")
    await service.lose_the_numbers()
    await _too_many(recorder)
    await service.lose_the_creator()
    await recorder.refuse("api_key_owner_required", "POST", "/agents", json=_AGENT)
    await service.use_up_the_day()
    await recorder.refuse("daily_quota_exceeded", "GET", "/wallet")


async def _too_many(recorder: Recorder) -> None:
    for _ in range(_MORE_THAN_ALLOWED):
        answer = await recorder.ask("PATCH", "/phone_numbers/num_unknown", json={})
        if answer.status_code == 429:
            recorder.keep("rate_limited", answer)
            return
    raise AssertionError("nothing was too much")


async def _misread(recorder: Recorder) -> None:
    await recorder.refuse("invalid_json", "POST", "/agents", content=b'{"name": ', headers=_JSON)
    await recorder.refuse("missing_field", "POST", "/agents", json={"name": "Cleo", "voice_id": "en-US-ada"})
    await recorder.refuse("invalid_field", "GET", "/agents", params={"per_page": "500"})
    await recorder.refuse("invalid_cursor", "GET", "/calls", params={"cursor": "elsewhere"})
    await recorder.refuse("payload_too_large", "POST", "/agents", content=b" " * (MAX_BODY + 1), headers=_JSON)
    await recorder.refuse(
        "unsupported_media_type", "POST", "/agents", content=b"{}", headers={"Content-Type": "text/plain"}
    )


async def _not_let_in(recorder: Recorder) -> None:
    await recorder.refuse("api_key_required", "GET", "/wallet", headers={"Authorization": "Basic YWRhOg=="})
    unknown = f"Bearer svc_live_{'0' * 48}"
    await recorder.refuse("invalid_api_key", "GET", "/wallet", headers={"Authorization": unknown})
    await recorder.refuse("origin_not_allowed", "GET", "/wallet", headers={"Origin": "https://example.com"})


async def _not_there_or_taken(recorder: Recorder) -> None:
    await recorder.refuse("not_found", "GET", "/agents/agt_unknown")
    await recorder.refuse("method_not_allowed", "PUT", "/agents")
    await recorder.refuse("duplicate_name", "POST", "/agents", json={**_AGENT, "name": "Ada"})
    used = {"Idempotency-Key": recorder.operations["create_agent"]["request"]["headers"]["Idempotency-Key"]}
    await recorder.refuse("idempotency_key_reused", "POST", "/agents", json=_AGENT, headers=used)
    number = _known(recorder, "rent_phone_number")["number"]
    await recorder.refuse("number_unavailable", "POST", "/phone_numbers", json={"country": "US", "number": number})
    await recorder.refuse("number_not_at_carrier", "POST", "/phone_numbers/import", json={"number": "+12125550177"})
    dear = {"country": "US", "expected_monthly_cost": {"amount": "0.01"}}
    await recorder.refuse("price_changed", "POST", "/phone_numbers", json=dear)
    bound = recorder.operations["create_inbound_deployment"]["request"]["body"]
    inbound = {**bound, "name": "Night shift"}
    await recorder.refuse("phone_number_already_bound", "POST", "/deployments/inbound", json=inbound)
    inbound["phone_number_id"] = _known(recorder, "release_phone_number")["id"]
    await recorder.refuse("number_not_capable", "POST", "/deployments/inbound", json=inbound)
    recording = f"/calls/{_known(recorder, 'get_call')['id']}/recording"
    await recorder.refuse("range_not_satisfiable", "GET", recording, headers={"Range": "bytes=1000000000-"})


def _parts(recorder: Recorder) -> dict[str, Any]:
    return {
        "agent_id": _known(recorder, "create_agent")["id"],
        "audience_id": _known(recorder, "create_audience")["id"],
        "phone_number_ids": [_known(recorder, "rent_phone_number")["id"]],
    }


async def _in_use(recorder: Recorder) -> None:
    parts = _parts(recorder)
    draft = await recorder.use("create_deployment", name="Follow-up", **parts)
    gone_by = {"expected_revisions": {draft["id"]: draft["revision"]}}
    await recorder.use("update_deployment", id=draft["id"], max_concurrency=3)
    path = f"/deployments/{draft['id']}"
    await recorder.refuse("revision_mismatch", "PATCH", path, json={"max_concurrency": 4, **gone_by})
    await recorder.refuse("agent_in_use", "DELETE", f"/agents/{parts['agent_id']}")
    await recorder.refuse("audience_in_use", "DELETE", f"/audiences/{parts['audience_id']}")
    await recorder.refuse("phone_number_in_use", "DELETE", f"/phone_numbers/{parts['phone_number_ids'][0]}")
    await recorder.use("delete_deployment", id=draft["id"])


async def _in_the_wrong_state(recorder: Recorder) -> None:
    parts = _parts(recorder)
    finished = _known(recorder, "cancel_deployment")["id"]
    await recorder.refuse("invalid_state_transition", "POST", f"/deployments/{finished}/resume")

    nobody = await recorder.use("create_audience", name="Nobody")
    empty = await recorder.use("create_deployment", name="Empty", **{**parts, "audience_id": nobody["id"]})
    await recorder.refuse("audience_not_ready", "POST", f"/deployments/{empty['id']}/start")

    unfunded = await recorder.use("create_deployment", name="Unfunded", budget_cap={"amount": "0.01"}, **parts)
    await recorder.refuse("budget_reached", "POST", f"/deployments/{unfunded['id']}/start")

    turned = f"/webhooks/{(await recorder.use('create_webhook', url=ENDPOINT, events=['*']))['id']}/rotate_secret"
    for _ in range(MOST_EARLIER_SECRETS):
        assert (await recorder.ask("POST", turned, json={})).status_code == 200
    await recorder.refuse("secrets_still_sign", "POST", turned, json={})

    arriving = await recorder.use("create_audience", name="Arriving", rows=_ROWS)
    some = await recorder.use("create_deployment", name="Some", **{**parts, "audience_id": arriving["id"]})
    await recorder.ask("POST", f"/audiences/{arriving['id']}/imports", json={"csv": _CSV})
    await recorder.refuse("audience_importing", "POST", f"/deployments/{some['id']}/start")

    decide = f"/compliance_reviews/{_known(recorder, 'decide_compliance_review')['id']}/decide"
    await recorder.refuse("review_already_decided", "POST", decide, json={"decision": "reject"})
    offers = await recorder.use("create_deployment", name="No", **parts, compliance={"purpose": "marketing"})
    await recorder.refuse("compliance_rejected", "POST", f"/deployments/{offers['id']}/start")

    draft = await recorder.use("create_deployment", name="Reminders", **parts)
    start = f"/deployments/{draft['id']}/start"
    shown = await recorder.use("preview_deployment", id=draft["id"])
    await recorder.use("update_deployment", id=draft["id"], max_concurrency=2)
    await recorder.refuse("plan_stale", "POST", start, json={"plan_id": shown["plan_id"]})
    shown = await recorder.use("preview_deployment", id=draft["id"])
    recorder.service.clock.move(_SIXTEEN_MINUTES_MS)
    await recorder.refuse("plan_expired", "POST", start, json={"plan_id": shown["plan_id"]})


async def _more_than_fit(recorder: Recorder) -> None:
    there = len((await recorder.ask("GET", "/webhooks")).json()["data"])
    for _ in range(MOST_SUBSCRIPTIONS - there):
        await recorder.use("create_webhook", url=ENDPOINT, events=["*"])
    await recorder.refuse("plan_limit_reached", "POST", "/webhooks", json={"url": ENDPOINT, "events": ["*"]})
