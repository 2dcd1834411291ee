"""What Stripe's events do to the wallet, and what does nothing because it is not from Stripe."""

import json
import logging
from typing import Any

import anyio
import pytest

from callwright.service.platform.clock.clock import DAY
from tests.support.http.raw_requests import refused
from tests.support.stripe.imitation import SECRET_KEY, WEBHOOK_SECRET, event, signature
from tests.support.stripe.paying import Paying

ELSEWHERE: dict[str, Any] = {"id": "cs_shop", "object": "checkout.session", "payment_status": "paid", "metadata": {}}


@pytest.mark.requirement("TOPUP-03")
async def test_a_payment_is_in_the_wallet_the_list_the_audit_log_and_the_events(paid: Paying) -> None:
    session = await paid.topup("50.00")
    assert (await paid.balance(), await paid.states()) == ("0.000000", ["pending"])
    answer = await paid.tell(paid.stripe.pay(session))
    assert (answer.status_code, answer.json()) == (200, {"received": True})
    assert await paid.booked() == [("topup", "50.000000")]
    (topup,) = await paid.topups()
    assert (topup["status"], topup["paid"]["amount"]) == ("settled", "50.000000")
    (told,) = [one async for one in paid.client.events.list()]
    assert told.type == "wallet.topup_settled"
    assert (told.data["amount"], told.data["balance"], told.data["method"]) == ("50.000000", "50.000000", "stripe")
    assert told.data["play_money"] is False
    entries = [(entry.action, entry.subject_id) async for entry in paid.client.audit_log.list()]
    assert entries[0] == ("wallet.topup_settled", topup["id"])
    assert ("wallet.topup_asked", topup["id"]) in entries


@pytest.mark.requirement("TOPUP-03")
async def test_an_event_that_comes_many_times_at_once_books_once(paid: Paying) -> None:
    said = paid.stripe.pay(await paid.topup("20.00"))
    answers: list[int] = []

    async def tell() -> None:
        answers.append((await paid.tell(said)).status_code)

    async with anyio.create_task_group() as tasks:
        for _ in range(8):
            tasks.start_soon(tell)
    assert answers == [200] * 8
    assert await paid.booked() == [("topup", "20.000000")]
    assert len([one async for one in paid.client.events.list()]) == 1


@pytest.mark.requirement("TOPUP-03")
async def test_an_expiry_that_comes_after_the_payment_takes_nothing_back(paid: Paying) -> None:
    session = await paid.topup()
    late = event("checkout.session.expired", {**paid.stripe.sessions[session], "status": "expired"})
    await paid.tell(paid.stripe.pay(session))
    assert (await paid.tell(late)).status_code == 200
    assert (await paid.balance(), await paid.states()) == ("50.000000", ["settled"])


@pytest.mark.requirement("TOPUP-03")
async def test_money_that_was_paid_after_the_expiry_is_booked(paid: Paying) -> None:
    session = await paid.topup()
    await paid.tell(paid.stripe.expire(session))
    assert await paid.states() == ["expired"]
    await paid.tell(paid.stripe.pay(session))
    assert (await paid.balance(), await paid.states()) == ("50.000000", ["settled"])


async def test_a_way_of_paying_that_takes_days_leaves_the_topup_pending_until_it_ends(paid: Paying) -> None:
    good, bad = await paid.topup("10.00"), await paid.topup("30.00")
    for session in (good, bad):
        await paid.tell(paid.stripe.finish_unpaid(session))
    assert await paid.states() == ["pending", "pending"]
    paid.stripe.pay(good)
    await paid.tell(event("checkout.session.async_payment_succeeded", paid.stripe.sessions[good]))
    await paid.tell(event("checkout.session.async_payment_failed", paid.stripe.sessions[bad]))
    assert await paid.states() == ["failed", "settled"]
    assert await paid.balance() == "10.000000"


@pytest.mark.requirement("TOPUP-05")
async def test_another_amount_than_asked_for_is_booked_as_it_was_paid(paid: Paying) -> None:
    await paid.tell(paid.stripe.pay(await paid.topup("50.00"), cents=4_250))
    assert await paid.booked() == [("topup", "42.500000")]
    (topup,) = await paid.topups()
    assert (topup["amount"]["amount"], topup["paid"]["amount"]) == ("50.000000", "42.500000")


@pytest.mark.requirement("TOPUP-05")
async def test_another_currency_fails_the_topup_with_a_line_in_the_log(
    paid: Paying, caplog: pytest.LogCaptureFixture
) -> None:
    said = paid.stripe.pay(await paid.topup(), currency="eur")
    assert [(await paid.tell(said)).status_code for _ in range(2)] == [200, 200]
    assert (await paid.balance(), await paid.states()) == ("0.000000", ["failed"])
    (topup,) = await paid.topups()
    lines = [record for record in caplog.records if "another currency" in record.message]
    assert {record.__dict__["topup_id"] for record in lines} == {topup["id"]}


@pytest.mark.requirement("TOPUP-06")
async def test_refunds_are_booked_down_once_each_and_never_below_what_was_paid(paid: Paying) -> None:
    session = await paid.topup("50.00")
    await paid.tell(paid.stripe.pay(session))
    part, rest = paid.stripe.refund(session, 2_000, marked=False), paid.stripe.refund(session, 5_000)
    for said in (part, part):
        await paid.tell(said)
    assert (await paid.balance(), await paid.states()) == ("30.000000", ["settled"])
    for said in (rest, part, rest):
        assert (await paid.tell(said)).status_code == 200
    assert await paid.states() == ["refunded"]
    assert await paid.booked() == [
        ("topup", "50.000000"),
        ("adjustment", "-20.000000"),
        ("adjustment", "-30.000000"),
    ]


@pytest.mark.requirement("TOPUP-06")
async def test_a_refund_that_comes_before_the_payment_is_booked_with_it(paid: Paying) -> None:
    session = await paid.topup("50.00")
    said = paid.stripe.pay(session)
    assert (await paid.tell(paid.stripe.refund(session, 5_000))).status_code == 200
    assert await paid.booked() == []
    await paid.tell(said)
    assert await paid.booked() == [("topup", "50.000000"), ("adjustment", "-50.000000")]
    assert await paid.states() == ["refunded"]


@pytest.mark.requirement("TOPUP-04")
@pytest.mark.parametrize("forged", ["unsigned", "other secret", "other body", "too old", "no signature", "not ascii"])
async def test_what_is_not_from_stripe_is_refused_and_changes_nothing(paid: Paying, forged: str) -> None:
    body = json.dumps(paid.stripe.pay(await paid.topup())).encode()
    signed = {
        "unsigned": None,
        "other secret": signature(body, secret="whsec_other"),
        "other body": signature(body.replace(b"5000", b"9000")),
        "too old": signature(body, age_s=301),
        "no signature": "t=1,v0=aa",
        "not ascii": signature(body).replace("v1=", "v1=é"),
    }[forged]
    answer = await paid.send(body, signed)
    refused(answer, 400, "invalid_field", "Stripe-Signature")
    assert not [secret for secret in (SECRET_KEY, WEBHOOK_SECRET, "pi_") if secret in answer.text]
    assert (await paid.balance(), await paid.states()) == ("0.000000", ["pending"])


@pytest.mark.requirement("TOPUP-04")
@pytest.mark.parametrize(
    "body", [b"", b"[]", b"null", b"{}", b'{"type":1}', b"\xff", b"[" * 20_000, b'{"object":"v2.core.event"}']
)
async def test_a_signed_body_that_is_no_event_is_refused_by_name(paid: Paying, body: bytes) -> None:
    problem = (await paid.send(body, signature(body))).json()["error"]
    assert (problem["code"], problem["field"]) in [("invalid_field", "body"), ("invalid_field", "Stripe-Signature")]


async def test_a_session_without_what_stripe_promises_is_refused(paid: Paying) -> None:
    session = paid.stripe.sessions[await paid.topup()]
    answer = await paid.tell(event("checkout.session.completed", {**session, "amount_total": "much"}))
    refused(answer, 400, "invalid_field", "body")


async def test_events_about_something_else_are_taken_and_do_nothing(paid: Paying) -> None:
    shop = event("checkout.session.completed", ELSEWHERE)
    other = event("customer.created", {"id": "cus_1", "object": "customer"})
    charge = event("charge.refunded", {"id": "ch_1", "amount_refunded": 5, "currency": "usd", "payment_intent": None})
    assert [(await paid.tell(said)).status_code for said in (shop, other, charge)] == [200, 200, 200]
    assert await paid.booked() == []


async def test_a_topup_that_this_database_does_not_have_is_refused_so_that_stripe_shows_it(
    paid: Paying, caplog: pytest.LogCaptureFixture
) -> None:
    marked = {**ELSEWHERE, "metadata": {"callwright_topup": "top_" + "0" * 24}}
    answer = await paid.tell(event("checkout.session.completed", marked))
    refused(answer, 400, "invalid_field", "data.object.metadata.callwright_topup")
    assert [record.levelno for record in caplog.records if "not here" in record.message] == [logging.ERROR]


async def test_a_body_that_is_too_large_is_refused(paid: Paying) -> None:
    body = b" " * 1_000_001
    refused(await paid.send(body, signature(body)), 413, "payload_too_large")


async def test_nothing_secret_and_nothing_of_the_payment_is_logged(
    paid: Paying, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    said = paid.stripe.pay(await paid.topup(), currency="eur")
    await paid.tell(said)
    await paid.send(b"{}", signature(b"{}", secret="whsec_other"))
    await paid.reconcile(2 * DAY)
    text = "\n".join(f"{record.getMessage()} {record.__dict__}" for record in caplog.records)
    assert not [word for word in (SECRET_KEY, WEBHOOK_SECRET, "checkout.stripe.com") if word in text]


async def test_a_wallet_of_real_money_does_not_make_the_network_a_real_one(paid: Paying) -> None:
    found = await paid.client.overview.get()
    assert (found.network, found.wallet.play_money, found.wallet.low_balance) == ("simulated", False, True)
