"""How Stripe is asked: what is sent, what is done when it does not answer, and what is stored before and after."""

import anyio
import pytest

from callwright.service.payments import stripe_checkout
from callwright.service.platform.clock.clock import DAY, MINUTE
from tests.support.processes.programs import START_S, STOP_S, spawned
from tests.support.stripe.paying import PUBLIC_URL, Paying


@pytest.mark.requirement("TOPUP-02")
async def test_the_request_says_amount_and_topup_and_has_its_id_as_idempotency_key(paid: Paying) -> None:
    await paid.topup("50.25")
    (topup,) = await paid.topups()
    ((request, key, fields),) = paid.stripe.requests
    assert (request, key) == ("POST /v1/checkout/sessions", topup["id"])
    assert fields == {
        "mode": "payment",
        "line_items[0][quantity]": "1",
        "line_items[0][price_data][currency]": "usd",
        "line_items[0][price_data][unit_amount]": "5025",
        "line_items[0][price_data][product_data][name]": "Callwright credits",
        "client_reference_id": topup["id"],
        "metadata[callwright_topup]": topup["id"],
        "payment_intent_data[metadata][callwright_topup]": topup["id"],
        "success_url": f"{PUBLIC_URL}/payments/done",
    }


@pytest.mark.requirement("TOPUP-02")
async def test_a_request_whose_answer_got_lost_is_repeated_and_makes_one_session(paid: Paying) -> None:
    paid.stripe.failures += [500]
    await paid.topup()
    assert len(paid.stripe.requests) == 2
    assert len({key for _, key, _ in paid.stripe.requests}) == 1
    assert (len(paid.stripe.sessions), await paid.states()) == (1, ["pending"])


@pytest.mark.requirement("TOPUP-02")
async def test_a_topup_for_which_stripe_never_answered_is_pending_and_expires(paid: Paying) -> None:
    paid.stripe.failures += [503] * 3
    done = await paid.command("orgs", "topup", "acme", "--amount=50.00")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Stripe did not answer in time; nobody has paid" in done.stderr
    assert await paid.states() == ["pending"]
    assert await paid.reconcile(2 * MINUTE) == 0
    assert await paid.reconcile(DAY + MINUTE) == 1
    assert (await paid.states(), await paid.balance()) == (["expired"], "0.000000")


@pytest.mark.requirement("TOPUP-02")
async def test_a_command_that_is_killed_while_stripe_answers_leaves_a_topup_that_expires(paid: Paying) -> None:
    paid.stripe.hangs = True
    place = ("--data", paid.home / "data", "--database", paid.tenant.services.settings.database_url)
    words = ("orgs", "topup", "acme", "--amount=50.00", *place)
    with spawned(paid.home, *words, settings=paid.settings) as command:
        with anyio.fail_after(START_S):
            while not paid.stripe.requests:  # noqa: ASYNC110  # it happens in another process
                await anyio.sleep(0.01)
        assert await paid.states() == ["pending"]
        command.kill()
        command.wait(STOP_S)
    assert await paid.reconcile(DAY + MINUTE) == 1
    assert (await paid.states(), await paid.booked()) == (["expired"], [])


async def test_money_for_a_topup_whose_answer_got_lost_is_booked_all_the_same(paid: Paying) -> None:
    paid.stripe.failures += [503] * 3
    await paid.command("orgs", "topup", "acme", "--amount=50.00")
    (session,) = paid.stripe.sessions
    assert (await paid.tell(paid.stripe.pay(session))).status_code == 200
    assert (await paid.states(), await paid.balance()) == (["settled"], "50.000000")


async def test_a_wrong_key_is_said_without_the_key_and_fails_the_topup(paid: Paying) -> None:
    wrong = "sk_test_" + "wrong" * 6
    done = await paid.command("orgs", "topup", "acme", "--amount=50.00", CALLWRIGHT_STRIPE_SECRET_KEY=wrong)
    assert done.returncode == 2
    assert "CALLWRIGHT_STRIPE_SECRET_KEY" in done.stderr
    assert wrong not in done.stderr
    assert await paid.states() == ["failed"]


async def test_an_api_that_is_not_there_is_given_up_within_the_limit(paid: Paying) -> None:
    assert stripe_checkout.TRY_S * (1 + stripe_checkout.MORE_TRIES) <= stripe_checkout.LIMIT_S
    gone = "http://127.0.0.1:9"
    done = await paid.command("orgs", "topup", "acme", "--amount=50.00", CALLWRIGHT_STRIPE_API_BASE=gone)
    assert done.returncode == 2
    assert "Stripe did not answer in time" in done.stderr


@pytest.mark.requirement("TOPUP-07")
async def test_a_payment_whose_event_got_lost_is_found_and_booked_once(paid: Paying) -> None:
    session = await paid.topup()
    said = paid.stripe.pay(session)
    assert await paid.reconcile(0) == 0
    assert await paid.reconcile(2 * MINUTE) == 1
    assert await paid.reconcile(4 * MINUTE) == 0
    await paid.tell(said)
    assert (await paid.booked(), await paid.states()) == ([("topup", "50.000000")], ["settled"])


@pytest.mark.requirement("TOPUP-07")
async def test_an_expiry_whose_event_got_lost_is_found_and_only_stripe_decides_it(paid: Paying) -> None:
    session = await paid.topup()
    assert await paid.reconcile(2 * DAY) == 0
    assert await paid.states() == ["pending"]
    paid.stripe.expire(session)
    assert await paid.reconcile(2 * DAY + 2 * DAY) == 1
    assert await paid.states() == ["expired"]


@pytest.mark.requirement("TOPUP-07")
async def test_a_pending_topup_is_looked_at_less_and_less_often(paid: Paying) -> None:
    await paid.topup()
    for after_minutes in (1.5, 2, 3, 4, 5, 7):
        await paid.reconcile(round(after_minutes * MINUTE))
    asked = [request for request, _, _ in paid.stripe.requests if request.startswith("GET")]
    assert len(asked) == 3  # after one and a half, three and five minutes
    await paid.reconcile(3 * DAY)
    await paid.reconcile(3 * DAY + 30 * MINUTE)
    asked = [request for request, _, _ in paid.stripe.requests if request.startswith("GET")]
    assert len(asked) == 4


async def test_a_stripe_that_does_not_answer_leaves_the_topup_pending_for_later(paid: Paying) -> None:
    session = await paid.topup()
    paid.stripe.pay(session)
    paid.stripe.failures += [500] * 3
    assert await paid.reconcile(2 * MINUTE) == 0
    assert await paid.states() == ["pending"]
    assert await paid.reconcile(5 * MINUTE) == 1
    assert await paid.states() == ["settled"]
