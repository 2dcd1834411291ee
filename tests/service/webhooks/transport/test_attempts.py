"""When deliveries are attempted, again or not, and what the log says about it."""

import json
from pathlib import Path

import pytest
from sqlalchemy import update

from callwright.client import InvalidSignature, verify
from callwright.contract.attempts import AttemptOutcome
from callwright.service.tables.schema import webhooks
from tests.support.webhooks.delivering import Delivering, answer, delivering, url_of
from tests.support.webhooks.signature_check import verified

SECOND = 1_000
OFFSETS_S = (0, 15, 60, 195, 600)
"""When an event that never arrives is attempted: gaps of 15, 45, 135 and 405 seconds."""


@pytest.mark.requirement("EVENT-04", "LIMIT-13")
async def test_an_endpoint_that_always_fails_is_tried_five_times_within_ten_minutes(at: Delivering) -> None:
    await at.subscribe()
    at.endpoints.answers[url_of("a")] = lambda _: answer("server_error", 503)
    begun = at.clock.now_ms()
    await at.deliver_new()
    for number, gap_ms in enumerate((15_000, 45_000, 135_000, 405_000), 1):
        await at.deliver(after_ms=gap_ms - 1)
        assert len(at.endpoints.requests) == number
        await at.deliver(after_ms=1)
    await at.deliver(after_ms=3_600_000)
    assert [(request.at_ms - begun) // SECOND for request in at.endpoints.requests] == list(OFFSETS_S)
    (delivery,) = await at.deliveries()
    assert (delivery.status, delivery.attempt_count, delivery.next_attempt_at) == ("failed", 5, None)
    assert (delivery.last_outcome, delivery.last_response_status) == ("server_error", 503)
    attempts = await at.attempts()
    assert [(one.number, one.outcome, one.response_status) for one in attempts] == [
        (number, "server_error", 503) for number in range(1, 6)
    ]


@pytest.mark.parametrize("chance", [0.0, 0.999999])
async def test_gaps_are_up_to_a_tenth_shorter_or_longer_at_random(
    database_url: str, tmp_path: Path, chance: float
) -> None:
    async with delivering(database_url, tmp_path, chance=lambda: chance) as at:
        await at.subscribe()
        at.endpoints.answers[url_of("a")] = lambda _: answer("timeout")
        await at.deliver_new()
        for gap_ms in (15_000, 45_000, 135_000, 405_000):
            await at.deliver(after_ms=round(gap_ms * (0.9 if chance == 0 else 1.1)))
        assert len(at.endpoints.requests) == 5
        assert [one.status for one in await at.deliveries()] == ["failed"]


@pytest.mark.requirement("EVENT-04", "EVENT-26")
@pytest.mark.parametrize(
    "outcome", ["server_error", "timeout", "connection_failed", "tls_failed", "dns_failed", "bad_answer"]
)
async def test_what_may_pass_is_tried_again_and_then_arrives(at: Delivering, outcome: AttemptOutcome) -> None:
    webhook = await at.subscribe()
    at.endpoints.answers[url_of("a")] = lambda request: answer(
        outcome if len(at.endpoints.to(request.url)) == 1 else "succeeded"
    )
    await at.deliver_new()
    (waiting,) = await at.deliveries()
    assert (waiting.status, waiting.last_outcome) == ("pending", outcome)
    assert (await at.endpoint_queue(webhook.id)).due_at == waiting.next_attempt_at == at.clock.now_ms() + 15_000
    await at.deliver(after_ms=15_000)
    (delivery,) = await at.deliveries()
    assert (delivery.status, delivery.attempt_count, delivery.finished_at) == ("succeeded", 2, at.clock.now_ms())
    assert [one.outcome for one in await at.attempts()] == [outcome, "succeeded"]
    row = await at.webhook(webhook.id)
    assert (row.consecutive_failures, row.last_success_at, row.last_failure_at) == (
        0,
        at.clock.now_ms(),
        at.clock.now_ms() - 15_000,
    )
    queue = await at.endpoint_queue(webhook.id)
    assert (queue.due_at, queue.lease_owner, queue.lease_until) == (None, None, None)


@pytest.mark.requirement("EVENT-05", "EVENT-26")
@pytest.mark.parametrize(
    ("outcome", "status"),
    [("rejected", 400), ("rejected", 408), ("rejected", 429), ("redirected", 301), ("forbidden_address", None)],
)
async def test_what_stands_is_not_tried_again(at: Delivering, outcome: AttemptOutcome, status: int | None) -> None:
    webhook = await at.subscribe()
    at.endpoints.answers[url_of("a")] = lambda _: answer(outcome, status)
    await at.deliver_new()
    await at.deliver(after_ms=3_600_000)
    (delivery,) = await at.deliveries()
    assert (delivery.status, delivery.attempt_count, delivery.last_outcome) == ("failed", 1, outcome)
    assert (await at.webhook(webhook.id)).consecutive_failures == 1


@pytest.mark.requirement("EVENT-07")
async def test_every_attempt_of_an_event_sends_the_same_bytes_and_names_it(at: Delivering) -> None:
    await at.subscribe()
    at.endpoints.answers[url_of("a")] = lambda _: answer("server_error")
    (event,) = await at.happen()
    await at.deliver()
    for gap_ms in (15_000, 45_000, 135_000, 405_000):
        await at.deliver(after_ms=gap_ms)
    requests = at.endpoints.requests
    assert len(requests) == 5
    assert {request.body for request in requests} == {requests[0].body}
    assert json.loads(requests[0].body)["id"] == event
    assert {request.headers["X-Service-Event-Id"] for request in requests} == {event}
    assert len({request.headers["X-Service-Signature"] for request in requests}) == 5


@pytest.mark.requirement("EVENT-08")
async def test_the_log_keeps_what_was_sent_and_what_was_answered_and_no_secret(at: Delivering) -> None:
    webhook = await at.subscribe()
    at.endpoints.answers[url_of("a")] = lambda _: answer("rejected", 422, "no such thing")
    await at.deliver_new(simulated=True)
    (delivery,) = (await at.tenant.client.webhooks.list_deliveries(id=webhook.id)).data
    logged = (await at.tenant.client.webhooks.get_delivery(id=webhook.id, delivery_id=delivery.id)).attempts[0]
    (request,) = at.endpoints.requests
    assert logged.request_headers == request.headers
    assert request.headers["Content-Type"] == "application/json"
    assert request.headers["User-Agent"].startswith("Callwright/")
    assert request.headers["X-Service-Delivery-Id"] == delivery.id
    assert request.headers["X-Service-Simulated"] == "true"
    assert (logged.number, logged.outcome, logged.response_status) == (1, "rejected", 422)
    assert (logged.url, logged.response_excerpt, logged.detail) == (url_of("a"), "no such thing", "It was rejected.")
    assert webhook.secret not in logged.model_dump_json()


async def test_an_event_that_is_not_simulated_does_not_say_so(at: Delivering) -> None:
    await at.subscribe()
    await at.deliver_new()
    assert "X-Service-Simulated" not in at.endpoints.requests[0].headers


async def test_a_test_is_sent_once_whatever_is_answered_and_counts_as_no_failed_event(at: Delivering) -> None:
    webhook = await at.subscribe()
    at.endpoints.answers[url_of("a")] = lambda _: answer("server_error")
    await at.tenant.client.webhooks.test(id=webhook.id)
    await at.deliver(after_ms=1_000)
    await at.deliver(after_ms=3_600_000)
    (delivery,) = await at.deliveries()
    assert (delivery.cause, delivery.status, delivery.attempt_count) == ("test", "failed", 1)
    row = await at.webhook(webhook.id)
    assert (row.consecutive_failures, row.last_response_status) == (0, 500)


@pytest.mark.requirement("SIGN-01", "SIGN-02", "SIGN-03", "SIGN-06", "SIGN-08")
async def test_a_receiver_that_knows_only_the_description_accepts_every_attempt(at: Delivering) -> None:
    webhook = await at.subscribe(secret="whsec_Zwölf·Boxkämpfer·jagen·Viktor")
    at.endpoints.answers[url_of("a")] = lambda _: answer("server_error")
    await at.deliver_new(20)
    await at.deliver(after_ms=15_000)
    assert len(at.endpoints.requests) == 40
    for request in at.endpoints.requests:
        header = request.headers["X-Service-Signature"]
        verified(header, request.body, webhook.secret, now_s=request.at_ms / SECOND)
        assert header.startswith(f"t={request.at_ms // SECOND},v1=")
        assert header.count("v1=") == 1


@pytest.mark.requirement("SIGN-07")
async def test_both_secrets_sign_until_the_overlap_is_over(at: Delivering) -> None:
    before = await at.subscribe()
    after = await at.tenant.client.webhooks.rotate_secret(id=before.id, overlap_seconds=3_600)
    ((_, until_ms),) = json.loads((await at.webhook(before.id)).earlier_secrets)
    at.clock.at_ms = until_ms - 1
    await at.deliver_new()
    at.clock.at_ms = until_ms
    await at.deliver_new()
    both, one = at.endpoints.requests
    header = both.headers["X-Service-Signature"]
    assert header.count("v1=") == 2
    for secret in (before.secret, after.secret):
        verified(header, both.body, secret, now_s=both.at_ms / SECOND)
    header = one.headers["X-Service-Signature"]
    assert header.count("v1=") == 1
    verified(header, one.body, after.secret, now_s=one.at_ms / SECOND)


@pytest.mark.requirement("SIGN-07", "HOOK-14")
async def test_receivers_with_any_valid_secret_accept_what_is_sent_after_three_rotations(at: Delivering) -> None:
    made = await at.subscribe()
    secrets = [made.secret]
    for hours in (1, 2, 3):
        turned = await at.tenant.client.webhooks.rotate_secret(id=made.id, overlap_seconds=hours * 3_600)
        secrets.append(turned.secret)
    earlier = json.loads((await at.webhook(made.id)).earlier_secrets)
    ends = [until_ms for _, until_ms in reversed(earlier)]
    for still, moment_ms in enumerate([ends[0] - 1, *ends]):
        at.clock.at_ms = moment_ms
        await at.deliver_new()
        sent = at.endpoints.requests[-1]
        header = sent.headers["X-Service-Signature"]
        assert header.count("v1=") == len(secrets) - still
        for secret in secrets[still:]:
            assert verify(sent.body, header, secret, now_s=sent.at_ms / SECOND).type == "deployment.paused"
        for secret in secrets[:still]:
            with pytest.raises(InvalidSignature, match="no signature fits"):
                verify(sent.body, header, secret, now_s=sent.at_ms / SECOND)


async def test_a_changed_address_and_secret_hold_from_the_next_attempt_on(at: Delivering) -> None:
    webhook = await at.subscribe("old")
    at.endpoints.answers[url_of("old")] = lambda _: answer("timeout")
    await at.deliver_new()
    await at.change(update(webhooks).values(url=url_of("new"), secret="whsec_" + "n" * 24))
    await at.deliver(after_ms=15_000)
    (request,) = at.endpoints.to(url_of("new"))
    verified(request.headers["X-Service-Signature"], request.body, "whsec_" + "n" * 24, now_s=request.at_ms / SECOND)
    assert [one.url for one in await at.attempts()] == [url_of("old"), url_of("new")]
    assert (await at.endpoint_queue(webhook.id)).due_at is None
