"""What is asked of Twilio, and what its answers mean: refused, not sent, or not known."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from decimal import Decimal
from typing import Any

import anyio
import pytest

from callwright.server.embedded.embedded import address_of, listener_on
from callwright.service.platform.clock.clock import SECOND, SystemClock
from callwright.service.telephony.carriers.twilio.account import TwilioAccount
from callwright.service.telephony.carriers.twilio.api import TwilioApi, TwilioUnavailable
from callwright.service.telephony.carriers.twilio.signature import is_signed, signature_of
from callwright.service.telephony.engine import AgentSnapshot, CallRequest, VoicemailPolicy
from callwright.service.telephony.legs.carrier import LegRequest, NotSent, Refused, Unknown
from tests.support.twilio.account import NUMBER, SID, TOKEN
from tests.support.twilio.imitation import Twilio, imitated_twilio
from tests.support.twilio.telephone import Telephone

pytestmark = pytest.mark.asyncio
TO = "+14155550123"
AGENT = AgentSnapshot("agt_1", "", "", "en-US", "en-US-ada")
REQUEST = CallRequest(
    call_id="cal_1",
    org_id="org_1",
    deployment_id="dep_1",
    contact_id="ctc_1",
    attempt=1,
    to=TO,
    from_=NUMBER,
    agent=AGENT,
    variables={},
    voicemail=VoicemailPolicy(detection=False),
)


def leg(*, within_s: float = 5.0, **changes: Any) -> LegRequest:
    """A leg that must be placed within this time."""
    return LegRequest(replace(REQUEST, **changes), anyio.current_time() + within_s, token="secret-of-the-leg")


@asynccontextmanager
async def account(*, limit_s: float = 2.0) -> AsyncGenerator[tuple[Twilio, TwilioApi]]:
    """The imitation, whose callbacks reach nobody, and what asks it."""
    with listener_on() as nobody:
        away = address_of(nobody).removesuffix("/v1")
    async with imitated_twilio(NUMBER) as twilio:
        twilio.telephones[TO] = Telephone("busy")
        yield twilio, TwilioApi(TwilioAccount(SID, TOKEN, away, away, twilio.url), limit_s)


async def test_a_call_is_asked_for_once_with_the_addresses_of_its_leg() -> None:
    async with account() as (twilio, api):
        sid = await api.place(leg(voicemail=VoicemailPolicy(action="leave_message", message="Bye."), ring_timeout_s=30))
        (call,) = twilio.calls
        assert sid == call.sid
        for name, path in (("Url", "answer"), ("StatusCallback", "status"), ("AsyncAmdStatusCallback", "amd")):
            assert call[name] == f"{api.account.public_url}/lines/twilio/{path}?call=cal_1&t=secret-of-the-leg"
        assert (call["Timeout"], call["TimeLimit"], call["MachineDetection"]) == ("25", "620", "DetectMessageEnd")
        await api.place(leg())
        assert "MachineDetection" not in twilio.calls[-1].form


@pytest.mark.requirement("TWILIO-02")
@pytest.mark.parametrize(("how", "made"), [("500", 1), ("nonsense", 1), ("hang", 1), ("redirect", 0)])
async def test_an_answer_that_says_nothing_leaves_it_unknown_and_is_not_asked_again(how: str, made: int) -> None:
    async with account(limit_s=0.7) as (twilio, api):
        twilio.placing.append(how)
        with pytest.raises(Unknown):
            await api.place(leg())
        assert len(twilio.calls) == made


@pytest.mark.parametrize(
    ("changes", "code", "cause", "outcome"),
    [
        ({"to": "+19005550123"}, 21211, "unallocated_number", "invalid_number"),
        ({"from_": "+12125550100"}, 21210, "carrier_rejected", "failed"),
    ],
)
async def test_a_refusal_is_certain_and_names_the_error_and_no_number(
    changes: dict[str, Any], code: int, cause: str, outcome: str
) -> None:
    async with account() as (twilio, api):
        with pytest.raises(Refused) as refused:
            await api.place(leg(**changes))
        result = refused.value.result
        assert (result.hangup_cause, result.outcome, result.ended_by) == (cause, outcome, "carrier")
        said = f"{refused.value} {result.warnings}"
        assert str(code) in said
        assert "+1" not in said
        assert twilio.calls == []


async def test_a_wrong_token_is_said_by_the_names_of_the_settings() -> None:
    async with account() as (twilio, api):
        twilio.refuses_account = True
        with pytest.raises(Refused) as refused:
            await api.place(leg())
        assert "CALLWRIGHT_TWILIO_AUTH_TOKEN" in refused.value.result.warnings[0]
        with pytest.raises(TwilioUnavailable, match="CALLWRIGHT_TWILIO_AUTH_TOKEN"):
            await api.call("CA1")


@pytest.mark.requirement("TWILIO-02")
async def test_what_did_not_leave_is_said_to_be_so() -> None:
    async with account() as (twilio, api):
        with pytest.raises(NotSent, match="late"):
            await api.place(leg(within_s=-0.1))
        away = TwilioApi(replace(api.account, api_base=api.account.public_url))
        with pytest.raises(NotSent, match="no connection"):
            await away.place(leg())
        assert twilio.calls == []


@pytest.mark.requirement("TWILIO-02")
async def test_a_call_is_found_by_its_numbers_and_its_moment_once_the_list_shows_it() -> None:
    async with account() as (twilio, api):
        twilio.list_lag_s = 0.6
        placing_ms = SystemClock().now_ms()

        async def found(at_ms: int = placing_ms, to: str = TO) -> list[str]:
            return [call.sid for call in await api.calls_between(to, NUMBER, at_ms, within_s=10.0)]

        sid = await api.place(leg())
        assert await found() == [], "it is listed with a lag"
        await anyio.sleep(twilio.list_lag_s)
        assert await found() == [sid]
        assert await found(to="+14155550124") == []
        assert await found(placing_ms + 60 * SECOND) == [], "it was made for an earlier leg"
        assert await found(placing_ms - 60 * SECOND) == [], "it was made later"
        twilio.list_lag_s = 0.0
        other = await api.place(leg())
        assert set(await found()) == {sid, other}


async def test_hanging_up_may_be_repeated_and_a_call_that_is_over_is_left_alone() -> None:
    async with account() as (twilio, api):
        twilio.telephones[TO] = Telephone(rings_s=30.0)
        sid = await api.place(leg())
        await api.hang_up(sid)
        with anyio.fail_after(10):
            await twilio.telephones[TO].is_over.wait()
        assert (await api.call(sid)).status == "canceled"
        await api.hang_up(sid)
        await api.hang_up("CA-that-is-not-there")


async def test_the_price_of_a_call_is_what_twilio_has_rated() -> None:
    async with account() as (twilio, api):
        sid = await api.place(leg())
        assert (await api.call(sid)).price is None
        twilio.prices[sid] = "-0.01400"
        call = await api.call(sid)
        assert (call.price, call.price_unit) == (Decimal("-0.01400"), "USD")


async def test_a_signature_is_that_of_the_address_and_the_sorted_form() -> None:
    # The example of Twilio's page about security.
    url = "https://example.com/myapp.php?foo=1&bar=2"
    form = [
        ("Digits", "1234"),
        ("To", "+18005551212"),
        ("From", "+14158675310"),
        ("Caller", "+14158675310"),
        ("CallSid", "CA1234567890ABCDE"),
    ]
    given = signature_of("12345", url, form)
    assert is_signed("12345", url, form[::-1], given)
    assert not is_signed("12346", url, form, given)
    assert not is_signed("12345", url + "&baz=3", form, given)
    assert not is_signed("12345", url, [*form, ("More", "")], given)
