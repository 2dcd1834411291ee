"""The part of the scenario in which another program is told of what happens, by every tool for webhooks and events."""

from tests.journeys.receiver import Receiver
from tests.journeys.scenario import Built, Hand, until


async def tell(hand: Hand, built: Built, receiver: Receiver) -> str:
    """A subscription from its first test to its end; gives its secret."""
    made = await hand.use("create_webhook", url=receiver.url, events=["deployment.completed"], description="Our CRM")
    webhook_id, secret = made["id"], made["secret"]
    tried = await hand.use("test_webhook", webhook_id=webhook_id)
    assert (tried["arrived"], tried["response_status"]) == (True, 200)
    assert [event["type"] for event in receiver.events] == ["webhook.test"]
    assert receiver.signatures[0].startswith("t=")
    await _missed(hand, built, receiver, webhook_id)
    rotated = await hand.use("rotate_webhook_secret", webhook_id=webhook_id)
    assert secret != rotated["secret"]
    await _switched(hand, webhook_id)
    assert (await hand.use("delete_webhook", webhook_id=webhook_id))["deleted"] is True
    assert "list_webhooks" in await hand.refused("get_webhook", webhook_id=webhook_id)
    await _routed(hand, built, receiver)
    return secret


async def _routed(hand: Hand, built: Built, receiver: Receiver) -> None:
    """An address is to decide what callers get, and gives no usable answer."""
    number = {"phone_number_id": built.number_id}
    made = await hand.use("set_inbound_routing", **number, url=receiver.url, fallback={"action": "reject"})
    assert made["secret"].startswith("whsec_")
    tried = await hand.use("test_inbound_routing", **number)
    assert (tried["outcome"], tried["response_status"], tried["detail"]) == (
        "bad_answer",
        200,
        "The answer is not JSON.",
    )
    assert tried["decision"] == "No active deployment answers the number, so the call is refused as closed."
    assert receiver.events[-1]["type"] == "inbound.routing"
    (entry,) = (await hand.use("list_routing_requests", **number, failed=True))["data"]
    assert entry["id"] == tried["id"]
    assert (await hand.use("remove_inbound_routing", **number))["deleted"] is True
    assert "nobody answers the number" in await hand.refused("simulate_inbound_call", **number)


async def _missed(hand: Hand, built: Built, receiver: Receiver, webhook_id: str) -> None:
    """An event from before the subscription: why it did not arrive, and how it does."""
    (event,) = (await hand.use("list_events", type="call.completed", subject_id=built.call_id))["data"]
    whole = await hand.use("get_event", event_id=event["id"])
    assert (whole["data"]["call_id"], whole["data"]["outcome"]) == (built.call_id, "answered")
    (before,) = (await hand.use("explain_event", event_id=event["id"]))["webhooks"]
    assert (before["webhook_id"], before["arrival"]) == (webhook_id, "not_subscribed")
    assert (await hand.use("replay_event", event_id=event["id"], webhook_id=webhook_id))["queued"] == 1
    await until(
        lambda: hand.use("explain_event", event_id=event["id"]),
        lambda seen: seen["webhooks"][0]["arrival"] == "arrived",
    )
    assert receiver.events[-1] == {name: whole[name] for name in ("id", "type", "created_at", "org_id", "data")}
    (delivery,) = (await hand.use("list_event_deliveries", event_id=event["id"]))["data"]
    assert (delivery["cause"], delivery["status"]) == ("replay", "succeeded")
    shown = await hand.use("get_webhook_delivery", webhook_id=webhook_id, delivery_id=delivery["id"])
    assert [attempt["response_excerpt"] for attempt in shown["attempts"]] == ["Taken"]


async def _switched(hand: Hand, webhook_id: str) -> None:
    """Off and on again."""
    assert (await hand.use("update_webhook", webhook_id=webhook_id, status="disabled"))["disabled_reason"] == "manual"
    assert "get_webhook" in await hand.refused("test_webhook", webhook_id=webhook_id)
    assert (await hand.use("update_webhook", webhook_id=webhook_id, status="active"))["status"] == "active"
    assert (await hand.use("replay_webhook", webhook_id=webhook_id))["queued"] == 0
    sent = (await hand.use("list_webhook_deliveries", webhook_id=webhook_id, status="succeeded"))["data"]
    assert [delivery["event_type"] for delivery in sent] == ["call.completed", "webhook.test"]
    assert (await hand.use("get_webhook", webhook_id=webhook_id))["last_response_status"] == 200
    assert [webhook["id"] for webhook in (await hand.use("list_webhooks"))["data"]] == [webhook_id]
