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


def _known(hand: Recorder, name: str) -> Any:
    """The `data` of the answer that is kept for an operation."""
    return hand.operations[name]["answer"]["body"]["data"]


async def be_refused(hand: Recorder) -> None:
    """Everything but a lack of money."""
    await _misread(hand)
    await _not_let_in(hand)
    await _not_there_or_taken(hand)
    await _in_use(hand)
    await _in_the_wrong_state(hand)
    await _more_than_fit(hand)


async def be_refused_at_last(hand: Recorder) -> None:
    """What nothing can follow: money, requests and the key's creator are gone afterwards."""
    stage, number = hand.stage, {"country": "US"}
    await stage.cap_spending()
    await hand.refuse("spending_cap_reached", "POST", "/phone_numbers", json=number)
    await stage.uncap_spending()
    await stage.empty_the_wallet()
    await hand.refuse("insufficient_credits", "POST", "/phone_numbers", json=number)
    await stage.lose_the_numbers()
    await _too_many(hand)
    await stage.lose_the_creator()
    await hand.refuse("api_key_owner_required", "POST", "/agents", json=_AGENT)
    await stage.use_up_the_day()
    await hand.refuse("daily_quota_exceeded", "GET", "/wallet")


async def _too_many(hand: Recorder) -> None:
    for _ in range(_MORE_THAN_ALLOWED):
        answer = await hand.ask("PATCH", "/phone_numbers/num_unknown", json={})
        if answer.status_code == 429:
            hand.keep("rate_limited", answer)
            return
    raise AssertionError("nothing was too much")


async def _misread(hand: Recorder) -> None:
    await hand.refuse("invalid_json", "POST", "/agents", content=b'{"name": ', headers=_JSON)
    await hand.refuse("missing_field", "POST", "/agents", json={"name": "Cleo", "voice_id": "en-US-ada"})
    await hand.refuse("invalid_field", "GET", "/agents", params={"per_page": "500"})
    await hand.refuse("invalid_cursor", "GET", "/calls", params={"cursor": "elsewhere"})
    await hand.refuse("payload_too_large", "POST", "/agents", content=b" " * (MAX_BODY + 1), headers=_JSON)
    await hand.refuse(
        "unsupported_media_type", "POST", "/agents", content=b"{}", headers={"Content-Type": "text/plain"}
    )


async def _not_let_in(hand: Recorder) -> None:
    await hand.refuse("api_key_required", "GET", "/wallet", headers={"Authorization": "Basic YWRhOg=="})
    unknown = f"Bearer svc_live_{'0' * 48}"
    await hand.refuse("invalid_api_key", "GET", "/wallet", headers={"Authorization": unknown})
    await hand.refuse("origin_not_allowed", "GET", "/wallet", headers={"Origin": "https://example.com"})


async def _not_there_or_taken(hand: Recorder) -> None:
    await hand.refuse("not_found", "GET", "/agents/agt_unknown")
    await hand.refuse("method_not_allowed", "PUT", "/agents")
    await hand.refuse("duplicate_name", "POST", "/agents", json={**_AGENT, "name": "Ada"})
    used = {"Idempotency-Key": hand.operations["create_agent"]["request"]["headers"]["Idempotency-Key"]}
    await hand.refuse("idempotency_key_reused", "POST", "/agents", json=_AGENT, headers=used)
    number = _known(hand, "rent_phone_number")["number"]
    await hand.refuse("number_unavailable", "POST", "/phone_numbers", json={"country": "US", "number": number})
    dear = {"country": "US", "expected_monthly_cost": {"amount": "0.01"}}
    await hand.refuse("price_changed", "POST", "/phone_numbers", json=dear)
    bound = hand.operations["create_inbound_deployment"]["request"]["body"]
    inbound = {**bound, "name": "Night shift"}
    await hand.refuse("phone_number_already_bound", "POST", "/deployments/inbound", json=inbound)
    inbound["phone_number_id"] = _known(hand, "release_phone_number")["id"]
    await hand.refuse("number_not_capable", "POST", "/deployments/inbound", json=inbound)
    recording = f"/calls/{_known(hand, 'get_call')['id']}/recording"
    await hand.refuse("range_not_satisfiable", "GET", recording, headers={"Range": "bytes=1000000000-"})


def _parts(hand: Recorder) -> dict[str, Any]:
    return {
        "agent_id": _known(hand, "create_agent")["id"],
        "audience_id": _known(hand, "create_audience")["id"],
        "phone_number_ids": [_known(hand, "rent_phone_number")["id"]],
    }


async def _in_use(hand: Recorder) -> None:
    parts = _parts(hand)
    draft = await hand.use("create_deployment", name="Follow-up", **parts)
    gone_by = {"expected_revisions": {draft["id"]: draft["revision"]}}
    await hand.use("update_deployment", id=draft["id"], max_concurrency=3)
    path = f"/deployments/{draft['id']}"
    await hand.refuse("revision_mismatch", "PATCH", path, json={"max_concurrency": 4, **gone_by})
    await hand.refuse("agent_in_use", "DELETE", f"/agents/{parts['agent_id']}")
    await hand.refuse("audience_in_use", "DELETE", f"/audiences/{parts['audience_id']}")
    await hand.refuse("phone_number_in_use", "DELETE", f"/phone_numbers/{parts['phone_number_ids'][0]}")
    await hand.use("delete_deployment", id=draft["id"])


async def _in_the_wrong_state(hand: Recorder) -> None:
    parts = _parts(hand)
    finished = _known(hand, "cancel_deployment")["id"]
    await hand.refuse("invalid_state_transition", "POST", f"/deployments/{finished}/resume")

    nobody = await hand.use("create_audience", name="Nobody")
    empty = await hand.use("create_deployment", name="Empty", **{**parts, "audience_id": nobody["id"]})
    await hand.refuse("audience_not_ready", "POST", f"/deployments/{empty['id']}/start")

    unfunded = await hand.use("create_deployment", name="Unfunded", budget_cap={"amount": "0.01"}, **parts)
    await hand.refuse("budget_reached", "POST", f"/deployments/{unfunded['id']}/start")

    turned = f"/webhooks/{(await hand.use('create_webhook', url=ENDPOINT, events=['*']))['id']}/rotate_secret"
    for _ in range(MOST_EARLIER_SECRETS):
        assert (await hand.ask("POST", turned, json={})).status_code == 200
    await hand.refuse("secrets_still_sign", "POST", turned, json={})

    arriving = await hand.use("create_audience", name="Arriving", rows=_ROWS)
    some = await hand.use("create_deployment", name="Some", **{**parts, "audience_id": arriving["id"]})
    await hand.ask("POST", f"/audiences/{arriving['id']}/imports", json={"csv": _CSV})
    await hand.refuse("audience_importing", "POST", f"/deployments/{some['id']}/start")

    draft = await hand.use("create_deployment", name="Reminders", **parts)
    start = f"/deployments/{draft['id']}/start"
    shown = await hand.use("preview_deployment", id=draft["id"])
    await hand.use("update_deployment", id=draft["id"], max_concurrency=2)
    await hand.refuse("plan_stale", "POST", start, json={"plan_id": shown["plan_id"]})
    shown = await hand.use("preview_deployment", id=draft["id"])
    hand.stage.clock.move(_SIXTEEN_MINUTES_MS)
    await hand.refuse("plan_expired", "POST", start, json={"plan_id": shown["plan_id"]})


async def _more_than_fit(hand: Recorder) -> None:
    there = len((await hand.ask("GET", "/webhooks")).json()["data"])
    for _ in range(MOST_SUBSCRIPTIONS - there):
        await hand.use("create_webhook", url=ENDPOINT, events=["*"])
    await hand.refuse("plan_limit_reached", "POST", "/webhooks", json={"url": ENDPOINT, "events": ["*"]})
