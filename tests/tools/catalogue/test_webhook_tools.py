"""Tools for webhook subscriptions, their deliveries and the log of events, as a model reads them."""

from datetime import timedelta
from typing import Any, cast

import pytest

from callwright.client.errors import NotOffered, ServiceProblem
from callwright.contract.webhooks import Replayed
from callwright.tools.toolsets import PROFILES, enabled_tools, known_tools
from tests.support.tools import event_samples as sent
from tests.support.tools import samples
from tests.support.tools.fakes import FakeCaller, FakeClock, assistant, server
from tests.support.tools.hostile import fences_of, outside
from tests.support.tools.lookups import text_from
from tests.support.tools.results import text_of

EVENTS = frozenset(tool.name for tool in known_tools() if tool.toolset == "events")
TEST = {"id": "whk_1"}


async def used(
    name: str, arguments: dict[str, Any], *, era: str = "2026-07-28", clock: FakeClock | None = None, **answers: Any
) -> tuple[str, dict[str, Any], FakeCaller]:
    """What a tool says and gives, and what it asked."""
    caller = FakeCaller(answers=samples.answers() | answers)
    async with assistant(server(caller, clock=clock), era) as client:
        result = await client.call_tool(name, arguments)
    assert not result.is_error, text_of(result)
    return text_of(result), cast("dict[str, Any]", result.structured_content), caller


def test_events_are_switched_on_with_everything_or_by_name() -> None:
    assert EVENTS
    assert enabled_tools(profile="all") >= EVENTS
    assert enabled_tools(toolsets=("events",)) == EVENTS
    for profile in PROFILES[:-1]:
        assert not enabled_tools(profile=profile) & EVENTS


@pytest.mark.parametrize("name", ["create_webhook", "rotate_webhook_secret"])
async def test_a_secret_is_shown_once_with_the_words_that_it_is_not_shown_again(name: str, era: str) -> None:
    arguments = sent.ARGUMENTS["create_webhook"] if name == "create_webhook" else TEST
    text, data, _ = await used(name, arguments, era=era)
    assert text.count(sent.SECRET) == 1
    assert "It is shown this once and not again" in text
    assert data["secret"] == sent.SECRET


@pytest.mark.parametrize("name", ["get_webhook", "list_webhooks", "update_webhook"])
async def test_no_other_tool_shows_a_secret(name: str) -> None:
    listed = name == "list_webhooks"
    answer = sent.webhook(secret=sent.SECRET[:20])  # as if a service gave one
    answers = samples.answers() | {name: samples.page([answer]) if listed else answer}
    text = await text_from(name, {} if listed else TEST, answers)
    assert sent.SECRET[:20] not in text


async def test_a_rotation_says_until_when_the_old_secret_signs() -> None:
    text, _, _ = await used("rotate_webhook_secret", TEST)
    assert "Until 2026-11-21 09:30Z deliveries are signed with an earlier secret as well." in text
    text, _, _ = await used("rotate_webhook_secret", TEST, rotate_webhook_secret=sent.new_webhook())
    assert "signed with the new secret alone" in text


@pytest.mark.parametrize("name", ["create_webhook", "rotate_webhook_secret"])
async def test_a_secret_is_not_taken_from_a_conversation(name: str) -> None:
    caller = FakeCaller()
    async with assistant(server(caller), "2026-07-28") as client:
        arguments = {"id": "whk_1"} if name == "rotate_webhook_secret" else sent.ARGUMENTS["create_webhook"]
        result = await client.call_tool(name, {**arguments, "secret": sent.SECRET})
    assert result.is_error
    assert "secret: unknown argument" in text_of(result)
    assert caller.asked == []


async def test_a_disabled_subscription_says_why_and_how_it_is_enabled() -> None:
    off = sent.webhook(status="disabled", disabled_reason="consecutive_failures", consecutive_failures=23)
    text, _, _ = await used("get_webhook", TEST, get_webhook=off)
    assert "disabled (consecutive_failures)  23 events in a row did not arrive" in text
    assert "update_webhook with status active enables it; replay_webhook then sends what was missed." in text


async def test_a_subscription_is_found_by_its_url() -> None:
    text, _, caller = await used("get_webhook", {"webhook_id": sent.URL})
    assert caller.names() == ["list_webhooks", "get_webhook"]
    assert f'webhook "{sent.URL}" is whk_1' in text


# test_webhook


def tried(*steps: Any) -> dict[str, Any]:
    """A test whose delivery is seen in these states, one after the other."""
    return {"get_webhook_delivery": list(steps)}


QUEUED = sent.delivered(status="pending", attempts=[], attempt_count=0)
ARRIVED = sent.delivered(status="succeeded", attempts=[sent.attempt(outcome="succeeded", response_status=200)])
FAILED = sent.delivered()


async def test_a_test_that_arrives_says_what_the_endpoint_answered(era: str) -> None:
    clock = FakeClock()
    text, data, caller = await used("test_webhook", TEST, era=era, clock=clock, **tried(QUEUED, QUEUED, ARRIVED))
    assert text == "The test arrived at whk_1: the endpoint answered 200 after 85 ms."
    assert (data["arrived"], data["response_status"], data["duration_ms"]) == (True, 200, 85)
    assert caller.names() == ["test_webhook", *["get_webhook_delivery"] * 3]
    assert caller.asked[0].key is not None
    assert clock.slept == [0.2, pytest.approx(0.3)]


async def test_a_test_that_fails_says_why_and_what_to_repair_and_fences_the_answer(era: str) -> None:
    text, data, caller = await used("test_webhook", TEST, era=era, **tried(FAILED))
    assert caller.names()[-1] == "explain_event"
    around = outside(text)
    assert "The test did not arrive at whk_1. Attempt 1 at" in around
    assert "Next: Correct the path in the URL of the subscription" in around
    assert sent.ANSWER not in around
    assert [fence.body.strip() for fence in fences_of(text)] == [sent.ANSWER]
    assert (data["arrived"], data["outcome"], data["next_step"]) == (False, "rejected", sent.arrival().next_step)


async def test_a_failed_attempt_that_is_tried_again_is_not_waited_for() -> None:
    clock = FakeClock()
    waits = sent.delivered(status="pending", attempts=[sent.attempt(outcome="timeout", response_status=None)])
    text, data, _ = await used("test_webhook", TEST, clock=clock, **tried(waits))
    assert clock.slept == []
    assert (data["status"], data["outcome"]) == ("pending", "timeout")
    assert text.startswith("The test did not arrive at whk_1.")


async def test_a_test_that_is_not_sent_is_waited_for_twelve_seconds_and_no_longer() -> None:
    clock = FakeClock()
    text, data, caller = await used("test_webhook", TEST, clock=clock, get_webhook_delivery=QUEUED)
    assert sum(clock.slept) == pytest.approx(12)
    assert len(caller.asked) < 25
    assert text.splitlines() == [
        "The test was not sent within 12 seconds; it waits for its turn.",
        "get_webhook_delivery with delivery_id dlv_1 shows its attempts.",
    ]
    assert (data["arrived"], data["status"]) == (False, "pending")
    assert "outcome" not in data


async def test_a_test_whose_explanation_is_missing_still_says_its_outcome() -> None:
    lost = ServiceProblem("No event.", code="not_found", status=404, type="not_found_error")
    text, data, _ = await used("test_webhook", TEST, explain_event=lost, **tried(FAILED))
    assert "The test did not arrive at whk_1. Its outcome is rejected." in text
    assert "next_step" not in data


async def test_a_test_at_a_service_without_a_log_says_that_it_is_sent() -> None:
    absent = NotOffered("get_webhook_delivery", status=404, base_url="https://x.test", tried=("GET /webhooks",))
    text, _, _ = await used("test_webhook", TEST, get_webhook_delivery=absent)
    assert text == "The test is being sent. This service does not show its result: look at the endpoint."


# deliveries


async def test_a_delivery_shows_each_attempt_and_fences_what_the_endpoint_said() -> None:
    moved = sent.attempt(number=2, outcome="redirected", response_status=301, detail="redirects to https://evil.test")
    found = sent.delivered(attempts=[sent.attempt(), moved], attempt_count=2)
    text, data, _ = await used(
        "get_webhook_delivery", sent.ARGUMENTS["get_webhook_delivery"], get_webhook_delivery=found
    )
    around = outside(text)
    assert "attempt 1  2026-11-21T09:30:00.123Z  rejected 404  85 ms" in around
    assert "attempt 2" in around
    assert "evil" not in around
    assert sent.ANSWER not in around
    assert "explain_event says why it did not arrive." in around
    assert [one["number"] for one in data["attempts"]] == [1, 2]


async def test_a_list_of_deliveries_says_state_attempts_and_the_next_one() -> None:
    waits = sent.delivery(status="pending", attempt_count=2, next_attempt_at=samples.AT + timedelta(minutes=2))
    text, _, _ = await used(
        "list_webhook_deliveries", TEST, list_webhook_deliveries=samples.page([sent.delivery(), waits])
    )
    assert text.splitlines() == [
        "dlv_1  to whk_1  call.completed  evt_1  2026-11-21 09:30Z  failed  1 attempt  rejected 404",
        "dlv_1  to whk_1  call.completed  evt_1  2026-11-21 09:30Z  pending  2 attempts  rejected 404  "
        "next 2026-11-21 09:32Z",
    ]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Replayed(queued=1, has_more=False), "1 delivery is queued and sent from now on."),
        (
            Replayed(queued=10_000, has_more=True),
            "10000 deliveries are queued and sent from now on.\nMore fit: call again.",
        ),
        (Replayed(queued=0, has_more=False), "Nothing fits, so nothing is sent again."),
    ],
    ids=["one", "many", "none"],
)
async def test_a_replay_says_how_many_are_sent_again(answer: Replayed, said: str) -> None:
    text, _, _ = await used("replay_webhook", TEST, replay_webhook=answer)
    assert text.startswith(said)


# the log


async def test_events_of_a_thing_are_found_by_its_name() -> None:
    text, _, caller = await used("list_events", {"subject_id": "March reminders"})
    assert cast("Any", caller.asked[-1].asked).subject_id == "dep_1"
    assert text.endswith("evt_1  call.completed  2026-11-21T09:30:00.123Z  about cal_1  simulated")


async def test_an_event_shows_its_data() -> None:
    text, data, _ = await used("get_event", {"event_id": "evt_1"})
    assert '"outcome": "answered"' in text
    assert data["data"] == sent.event().data


async def test_an_explanation_names_for_each_subscription_what_happened_and_the_tools_that_help(era: str) -> None:
    missed = sent.arrival(
        webhook_id="whk_2",
        arrival="missed",
        response_excerpt="",
        explanation="Nothing was sent. It is disabled.",
        next_step="Enable the subscription, then replay the event, or all that was missed.",
    )
    text, data, _ = await used(
        "explain_event", {"event_id": "evt_1"}, era=era, explain_event=sent.explanation(sent.arrival(), missed)
    )
    around = outside(text)
    assert f"whk_1  {sent.URL}  failed  delivery dlv_1" in around
    assert "  Next: Correct the path in the URL of the subscription, then replay the event." in around
    assert "  Nothing was sent. It is disabled." in around
    assert around.rstrip().endswith(
        "update_webhook changes or enables a subscription. replay_webhook sends all that a subscription missed. "
        "replay_event sends it again, with webhook_id to one subscription."
    )
    assert sent.ANSWER not in around
    assert [fence.body.strip() for fence in fences_of(text)] == [f"whk_1: {sent.ANSWER}"]
    assert [one["arrival"] for one in data["webhooks"]] == ["failed", "missed"]


async def test_an_event_that_arrived_needs_no_advice() -> None:
    arrived = sent.arrival(arrival="arrived", response_excerpt="", explanation="Arrived at 09:30.", next_step="")
    text = await text_from("explain_event", {"event_id": "evt_1"}, {"explain_event": sent.explanation(arrived)})
    assert "Next:" not in text
    assert "replay_event" not in text


async def test_an_event_nobody_subscribed_to_names_the_tool_that_subscribes() -> None:
    nobody = sent.explanation().model_copy(
        update={"webhooks": [], "summary": "It was sent to nobody: there is no subscription. create_webhook makes one."}
    )
    text = await text_from("explain_event", {"event_id": "evt_1"}, {"explain_event": nobody})
    assert text.endswith("create_webhook makes one.")
