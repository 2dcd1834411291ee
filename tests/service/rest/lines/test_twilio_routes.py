"""What Twilio asks and tells, at the routes of the service: only what is signed, of the call that was placed."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from sqlalchemy import Connection, Row, update

from callwright.client.transport import ASGITransport, httpx
from callwright.service.platform.clock.clock import SECOND
from callwright.service.settings import LineSettings, ServiceSettings
from callwright.service.tables.schema import legs
from callwright.service.telephony.engine import AgentSnapshot, CallRequest, EarlyEnd
from callwright.service.telephony.legs import carrier_reports, leg_rows
from callwright.service.telephony.legs.carrier_reports import CarrierSaid
from callwright.service.telephony.legs.leg_tokens import hash_of
from tests.support.service import Tenant, open_service
from tests.support.twilio.account import SID, TOKEN, signature

pytestmark = pytest.mark.asyncio
ROOT = "https://voice.example.com"
CALL, LEG_TOKEN, CA = "cal_1", "the-token-of-the-leg", "CA" + "0" * 32
HANG_UP = '<?xml version="1.0" encoding="UTF-8"?><Response><Hangup/></Response>'
HOST_URL = "https://lines-2.example.com"


@dataclass
class Asked:
    """Asks as Twilio does, about the leg of one call."""

    tenant: Tenant
    now_ms: int = field(init=False)

    def __post_init__(self) -> None:
        self.now_ms = self.tenant.services.clock.now_ms()

    async def place(self, *, lives_ms: int = 15 * SECOND) -> None:
        """A leg that a host is placing, and of whose request no answer has come."""
        await self.tenant.database.write(self._place, lives_ms)

    def _place(self, connection: Connection, lives_ms: int) -> None:
        agent = AgentSnapshot("agt_1", "", "", "en-US", "en-US-ada")
        request = CallRequest(
            call_id=CALL,
            org_id=self.tenant.org_id,
            deployment_id="dep_1",
            contact_id="ctc_1",
            attempt=1,
            to="+14155550123",
            from_="+12125550190",
            agent=agent,
            variables={},
        )
        leg_rows.add(connection, "twilio", request, self.now_ms)
        wanted, until = leg_rows.Wanted(["twilio"]), {"now_ms": self.now_ms, "until_ms": self.now_ms + lives_ms}
        assert leg_rows.take(connection, "hst_1", wanted, 1, **until)
        assert leg_rows.begin_placing(connection, CALL, "hst_1", self.now_ms)
        carrier_reports.open_to_carrier(connection, CALL, hash_of(LEG_TOKEN), HOST_URL)

    async def leg(self) -> Row[Any]:
        """The leg as it is stored."""
        found = await self.tenant.database.read(leg_rows.find, CALL)
        assert found is not None
        return found

    async def said(self) -> CarrierSaid:
        """What Twilio has told of the call."""
        return (await self.tenant.database.read(carrier_reports.news_of, [CALL]))[CALL].said

    async def ask(
        self,
        what: str,
        *,
        token: str = LEG_TOKEN,
        call_id: str = CALL,
        signed: str | None = None,
        body: str | None = None,
        **fields: str,
    ) -> httpx.Response:
        """A request as Twilio sends it; `signed` and `body` replace its signature and its body."""
        path = f"/lines/twilio/{what}?{urlencode({'call': call_id, 't': token})}"
        form = {"CallSid": CA, "AccountSid": SID, "CallStatus": "in-progress", **fields}
        headers = {
            "X-Twilio-Signature": signature(ROOT + path, form) if signed is None else signed,
            "Content-Type": "application/x-www-form-urlencoded",
        }
        transport = ASGITransport(app=self.tenant.service.asgi)
        async with httpx.AsyncClient(transport=transport, base_url="http://inside:8080") as client:
            return await client.post(path, content=urlencode(form) if body is None else body, headers=headers)


@asynccontextmanager
async def asked(database_url: str, data: Path) -> AsyncGenerator[Asked]:
    lines = LineSettings(count=0, twilio_account_sid=SID, twilio_auth_token=TOKEN)
    settings = ServiceSettings(data=data, database_url=database_url, public_url=ROOT, lines=lines)
    async with open_service(database_url, data, settings=settings, workers=False) as tenant:
        yield Asked(tenant)


@pytest.mark.requirement("TWILIO-03")
async def test_the_sound_of_a_call_that_is_answered_goes_to_its_host(database_url: str, tmp_path: Path) -> None:
    async with asked(database_url, tmp_path) as twilio:
        await twilio.place()
        answer = await twilio.ask("answer")
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/xml")
        address = f"wss://lines-2.example.com/lines/twilio/media/{CALL}/{LEG_TOKEN}"
        assert f'<Connect><Stream url="{address}"/></Connect>' in answer.text
        leg = await twilio.leg()
        assert (leg.state, leg.provider_call_id) == ("placed", CA)
        assert leg.answered_at is not None
        assert (await twilio.ask("answer")).text == answer.text, "Twilio asks again for the same call"


@pytest.mark.requirement("TWILIO-03")
async def test_a_second_call_for_the_same_leg_is_hung_up(database_url: str, tmp_path: Path) -> None:
    async with asked(database_url, tmp_path) as twilio:
        await twilio.place()
        await twilio.ask("answer")
        second = await twilio.ask("answer", CallSid="CA" + "1" * 32)
        assert (second.status_code, second.text) == (200, HANG_UP)
        assert (await twilio.ask("status", CallSid="CA" + "1" * 32, CallStatus="busy")).status_code == 204
        assert ((await twilio.leg()).provider_call_id, await twilio.said()) == (CA, CarrierSaid())


@pytest.mark.requirement("TWILIO-03")
@pytest.mark.parametrize("why", ["no leg", "another token", "ended", "to be hung up", "host is gone"])
async def test_a_call_that_is_answered_is_hung_up_unless_its_leg_goes_on(
    database_url: str, tmp_path: Path, why: str
) -> None:
    async with asked(database_url, tmp_path) as twilio:
        write, now_ms = twilio.tenant.database.write, twilio.now_ms
        if why != "no leg":
            await twilio.place(lives_ms=-SECOND if why == "host is gone" else 15 * SECOND)
        if why == "ended":
            await write(_end, now_ms)
        elif why == "to be hung up":
            await write(leg_rows.ask_to_hang_up, CALL, EarlyEnd(), now_ms)
        answer = await twilio.ask("answer", token="another" if why == "another token" else LEG_TOKEN)
        assert (answer.status_code, answer.text) == (200, HANG_UP)


def _end(connection: Connection, now_ms: int) -> None:
    connection.execute(update(legs).where(legs.c.call_id == CALL).values(state="ended", ended_at=now_ms))


@pytest.mark.requirement("TWILIO-03")
@pytest.mark.parametrize("what", ["answer", "status", "amd"])
async def test_what_is_not_signed_counts_for_nothing(database_url: str, tmp_path: Path, what: str) -> None:
    async with asked(database_url, tmp_path) as twilio:
        await twilio.place()
        before = await twilio.leg()
        for signed in ("", "AAAA", signature(f"{ROOT}/lines/twilio/{what}", {})):
            answer = await twilio.ask(what, signed=signed, AnsweredBy="human")
            assert answer.status_code == 403
        nonsense = await twilio.ask(what, body="=" * 10 + "&" * 300)
        assert nonsense.status_code == 400
        assert await twilio.leg() == before


@pytest.mark.requirement("TWILIO-04")
async def test_a_status_that_comes_late_or_twice_changes_nothing(database_url: str, tmp_path: Path) -> None:
    async with asked(database_url, tmp_path) as twilio:
        await twilio.place()
        await twilio.ask("status", CallStatus="in-progress")
        answered_at = (await twilio.leg()).answered_at
        await twilio.ask("status", CallStatus="ringing")
        await twilio.ask("status", CallStatus="initiated")
        leg = await twilio.leg()
        assert (leg.ringing_at, leg.answered_at) == (None, answered_at)
        await twilio.ask("status", CallStatus="completed")
        await twilio.ask("status", CallStatus="busy", SipResponseCode="486")
        assert await twilio.said() == CarrierSaid("completed")
        assert (await twilio.ask("status", CallStatus="of-tomorrow")).status_code == 204
        await twilio.tenant.database.write(_end, twilio.now_ms)
        ended = await twilio.leg()
        assert (await twilio.ask("status", CallStatus="failed")).status_code == 204
        assert await twilio.leg() == ended


async def test_who_answered_is_kept_once(database_url: str, tmp_path: Path) -> None:
    async with asked(database_url, tmp_path) as twilio:
        await twilio.place()
        await twilio.ask("amd", AnsweredBy="machine_end_other")
        await twilio.ask("amd", AnsweredBy="human")
        assert (await twilio.said()).answered_by == "machine_end_silence"


@pytest.mark.requirement("TWILIO-02")
async def test_a_leg_that_was_unconfirmed_is_placed_once_twilio_tells_of_it(database_url: str, tmp_path: Path) -> None:
    async with asked(database_url, tmp_path) as twilio:
        await twilio.place()
        await twilio.tenant.database.write(leg_rows.not_confirmed, CALL)
        await twilio.ask("status", CallStatus="ringing")
        leg = await twilio.leg()
        assert (leg.state, leg.provider_call_id) == ("placed", CA)
        assert leg.ringing_at is not None


async def test_without_an_account_there_are_no_routes_of_twilio(tenant: Tenant) -> None:
    transport = ASGITransport(app=tenant.service.asgi)
    async with httpx.AsyncClient(transport=transport, base_url="http://inside") as client:
        assert (await client.post("/lines/twilio/status")).status_code == 404
