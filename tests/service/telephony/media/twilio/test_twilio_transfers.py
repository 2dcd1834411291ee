"""Transfers of calls through Twilio: dialler, line host, media process, the routes, and an imitation of Twilio."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import anyio
import pytest
from sqlalchemy import Connection, update

from callwright.contract.agents.call_tools import TransferTool
from callwright.contract.agents.transfer_destinations import TransferDestination
from callwright.contract.calls.calls import Call
from callwright.service.tables.schema import awaited_charges
from callwright.service.telephony.carriers.media_calls import always
from callwright.service.telephony.carriers.twilio import transfers
from callwright.service.telephony.carriers.twilio.account import TwilioAccount
from callwright.service.telephony.carriers.twilio.api import TwilioApi
from callwright.service.telephony.carriers.twilio.carrier import TwilioCarrier
from callwright.service.telephony.carriers.twilio.media_places import MediaPlaces
from callwright.service.telephony.carriers.twilio.reports import TwilioReports
from callwright.service.telephony.legs import leg_rows
from callwright.service.telephony.lines.media_processes import MediaProcesses
from callwright.service.telephony.media.messages import SpeechServices
from callwright.service.workers import late_charges
from tests.service.dialling.costs.amounts import charged, micros
from tests.service.telephony.media.conftest import Sounds
from tests.service.telephony.media.sentences import GREETING, PERSON, SUMMARY
from tests.service.telephony.media.twilio.twilio_calls import CALLED, Calls, calls_through_twilio
from tests.support.campaigns import calls_of
from tests.support.ledger_check import check_ledgers
from tests.support.service import Tenant
from tests.support.twilio.account import NUMBER, SID, TOKEN
from tests.support.twilio.imitation import PlacedCall
from tests.support.twilio.telephone import Telephone

pytestmark = [pytest.mark.xdist_group("live-calls")]
DESK = "+14155550177"
SORRY = "none of my colleagues"
WITHIN_S = 40.0
PRICES = """
version = "2026.11.27"

[platform]
minute = 5_000

[carriers.twilio]
"*" = { minute = 14_000, increment_s = 60 }
"+14155550177" = { minute = 20_000, increment_s = 60 }
"""


@dataclass
class Wanting:
    """A call whose contact has asked for a person. The desk is called."""

    calls: Calls
    campaign: str
    contact: Telephone
    desk: Telephone

    async def under_way(self) -> Call:
        (call,) = await calls_of(self.calls.tenant, self.campaign)
        return call

    async def reaches(self, status: str) -> Call:
        """Waits until the transfer has a status."""
        with anyio.fail_after(WITHIN_S):
            while True:
                call = await self.under_way()
                if call.transfer is not None and call.transfer.status == status:
                    return call
                await anyio.sleep(0.1)

    async def person_call(self) -> PlacedCall:
        """The call to the desk, once it is placed."""
        with anyio.fail_after(WITHIN_S):
            while True:
                for call in self.calls.twilio.calls:
                    if call["To"] == DESK:
                        return call
                await anyio.sleep(0.05)

    async def ended(self) -> Call:
        return await self.calls.ended(self.campaign)

    def told_contact(self) -> str:
        """What Twilio said to the contact."""
        return " ".join(self.contact.was_told)


@asynccontextmanager
async def wanting(
    database_url: str,
    data: Path,
    sounds: Sounds,
    *,
    desk: Telephone | None = None,
    kind: str = "warm",
    moving: list[str] | None = None,
    placing: list[str] | None = None,
    prices: Path | None = None,
    **destination: Any,
) -> AsyncGenerator[Wanting]:
    """A call through Twilio whose contact asks for a person. The agent may call the desk, which answers unless told
    otherwise. `moving` and `placing` are what becomes of the next requests that move and place calls."""
    given = {"name": "desk", "to": DESK, "kind": kind, "ring_timeout_seconds": 10, "summary": SUMMARY}
    tool = TransferTool(
        type="transfer",
        name="transfer_call",
        description="To a person.",
        destinations=[TransferDestination.model_validate(given | destination)],
    )
    async with calls_through_twilio(database_url, data, sounds, prices=prices) as calls:
        contact, person = calls.telephone(), desk or Telephone()
        calls.twilio.telephones[DESK] = person
        campaign = await calls.begin(call_tools=[tool])
        await contact.hears(calls.known, GREETING)
        calls.twilio.moving += moving or []
        calls.twilio.placing += placing or []
        await contact.say(sounds.contact[PERSON])
        yield Wanting(calls, campaign, contact, person)


def carrier_of(calls: Calls) -> TwilioCarrier:
    """Twilio as a process with lines asks it."""
    services, url = calls.tenant.services, calls.twilio.url
    reports = TwilioReports(services.database, services.clock)
    account = TwilioAccount(SID, TOKEN, url, url, url)
    return TwilioCarrier(
        "twilio", MediaProcesses(1), always(SpeechServices()), TwilioApi(account), MediaPlaces(), reports
    )


def due_now(connection: Connection) -> None:
    connection.execute(update(awaited_charges).values(next_at=0))


async def items_of(tenant: Tenant, call: Call) -> list[tuple[str, int, str | None]]:
    """The items of a call that lasts less than a minute, but for hearing, of which the list has no price."""
    cost = (await tenant.client.calls.get(call_uuid=call.id)).cost
    assert cost is not None
    return [(one.item, micros(one.amount), one.status) for one in cost.breakdown if one.item != "stt"]


@pytest.mark.requirement("TWILIO-08")
async def test_a_person_who_answers_hears_the_summary_and_meets_the_contact(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None
) -> None:
    async with wanting(database_url, tmp_path, sounds) as made:
        bridged = await made.reaches("bridged")
        (room,) = made.calls.twilio.rooms.values()
        with anyio.fail_after(WITHIN_S):
            await room.is_full.wait()
        assert room.numbers == [DESK, CALLED]
        assert made.desk.was_told == [SUMMARY]
        assert (await made.under_way()).ended_at is None, "the call ended although the two talk"
        made.desk.hang_up()
        call = await made.ended()
        person, contact = await made.person_call(), made.calls.twilio.calls[0]
        assert bridged.transfer is not None
        assert (bridged.transfer.type, bridged.transfer.cause, bridged.transfer.name) == ("warm", None, "desk")
        assert (call.outcome, call.hangup_cause, call.ended_by) == ("transferred", "transfer_completed", "agent")
        assert (person["From"], person["Timeout"], person["TimeLimit"]) == (NUMBER, "5", "620")
        assert (person.status, contact.status, len(made.calls.twilio.calls)) == ("completed", "completed", 2)


@pytest.mark.requirement("TWILIO-08")
@pytest.mark.parametrize(
    ("does", "sip_status", "cause"),
    [
        ("busy", None, "busy"),
        ("no-answer", None, "no_answer"),
        ("failed", 603, "rejected"),
        ("failed", 404, "unreachable"),
    ],
)
async def test_a_contact_is_back_with_the_agent_when_the_person_does_not_answer(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None, does: str, sip_status: int | None, cause: str
) -> None:
    async with wanting(database_url, tmp_path, sounds, desk=Telephone(does, sip_status=sip_status)) as made:
        failed = await made.reaches("failed")
        assert failed.transfer is not None
        assert failed.transfer.cause == cause
        await made.contact.heard(len(made.contact.sound) / 8_000 + 4.5)
        made.contact.hang_up()
        call = await made.ended()
        assert (call.outcome, call.hangup_cause, call.ended_by) == ("answered", "contact_hangup", "contact")
        assert any(SORRY in text for _, text in await made.calls.words(call))
        assert [each["To"] for each in made.calls.twilio.calls] == [CALLED, DESK]


@pytest.mark.requirement("TWILIO-08")
@pytest.mark.parametrize("keys", [["1"], ["7", "1"]])
async def test_a_person_takes_the_call_with_the_key(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None, keys: list[str]
) -> None:
    async with wanting(database_url, tmp_path, sounds, desk=Telephone(keys=list(keys)), confirm_key="1") as made:
        reached = await made.reaches("bridged")
        assert reached.transfer is not None
        assert reached.transfer.cause is None
        made.contact.hang_up()
        assert (await made.ended()).outcome == "transferred"
        assert (await made.person_call()).status == "completed"
        assert len(made.calls.twilio.rooms) == 1


@pytest.mark.requirement("TWILIO-08")
@pytest.mark.parametrize("keys", [[], ["7"], ["7", "8"]])
async def test_a_person_who_never_presses_the_key_is_asked_twice_and_the_contact_is_back_with_the_agent(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None, keys: list[str]
) -> None:
    async with wanting(database_url, tmp_path, sounds, desk=Telephone(keys=list(keys)), confirm_key="1") as made:
        failed = await made.reaches("failed")
        assert failed.transfer is not None
        assert failed.transfer.cause == "no_answer"
        await made.contact.heard(len(made.contact.sound) / 8_000 + 4.5)
        made.contact.hang_up()
        call = await made.ended()
        assert made.desk.was_told == [SUMMARY, SUMMARY]
        assert (call.outcome, call.hangup_cause, call.ended_by) == ("answered", "contact_hangup", "contact")
        assert any(SORRY in text for _, text in await made.calls.words(call))
        assert (await made.person_call()).status == "completed"
        assert made.calls.twilio.rooms == {}


@pytest.mark.requirement("TWILIO-08")
async def test_a_person_who_hangs_up_while_the_summary_is_said_has_not_taken_over(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None
) -> None:
    # It hangs up at the first word: nothing that Twilio asks then comes any more.
    desk = Telephone()
    async with wanting(database_url, tmp_path, sounds, desk=desk, confirm_key="1") as made:
        await made.person_call()
        desk.hang_up()
        failed = await made.reaches("failed")
        assert failed.transfer is not None
        assert failed.transfer.cause == "hung_up"
        made.contact.hang_up()
        assert (await made.ended()).outcome == "answered"


@pytest.mark.requirement("TWILIO-09", "TRANSFER-06")
async def test_a_person_is_called_no_more_when_the_contact_hangs_up(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None
) -> None:
    async with wanting(database_url, tmp_path, sounds, desk=Telephone(rings_s=60)) as made:
        person = await made.person_call()
        made.contact.hang_up()
        call = await made.ended()
        with anyio.fail_after(20):
            await made.desk.is_over.wait()
        assert person.status == "canceled"
        assert call.transfer is not None
        assert (call.outcome, call.transfer.status, call.transfer.cause) == ("answered", "failed", "hung_up")


@pytest.mark.requirement("TWILIO-09")
@pytest.mark.parametrize("how", ["500", "nonsense"])
async def test_a_person_of_whose_call_no_answer_came_is_hung_up_and_not_called_again(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None, how: str
) -> None:
    async with wanting(database_url, tmp_path, sounds, desk=Telephone(rings_s=2.0), placing=[how]) as made:
        failed = await made.reaches("failed")
        with anyio.fail_after(20):
            await made.desk.is_over.wait()
        person = await made.person_call()
        assert failed.transfer is not None
        assert failed.transfer.cause == "carrier_error"
        assert person.status in ("canceled", "completed")
        assert made.calls.twilio.rooms == {}
        made.contact.hang_up()
        assert (await made.ended()).outcome == "answered"
        assert [each["To"] for each in made.calls.twilio.calls] == [CALLED, DESK]


@pytest.mark.requirement("TWILIO-10")
async def test_a_contact_is_given_to_a_person_at_once_in_a_cold_transfer(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None
) -> None:
    async with wanting(database_url, tmp_path, sounds, kind="cold") as made:
        await made.reaches("bridged")
        person = await made.person_call()
        assert (person.status, person["From"], made.contact.is_over.is_set()) == ("in-progress", NUMBER, False)
        made.contact.hang_up()
        call = await made.ended()
        with anyio.fail_after(20):
            await made.desk.is_over.wait()
        assert (call.outcome, call.hangup_cause, call.ended_by) == ("transferred", "transfer_completed", "agent")
        assert made.desk.was_told == []


@pytest.mark.requirement("TWILIO-10")
@pytest.mark.parametrize(("does", "cause"), [("busy", "busy"), ("no-answer", "no_answer")])
async def test_a_contact_hears_that_nobody_takes_over_when_a_cold_transfer_fails(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None, does: str, cause: str
) -> None:
    async with wanting(database_url, tmp_path, sounds, kind="cold", desk=Telephone(does)) as made:
        call = await made.ended()
        assert SORRY in made.told_contact()
        assert call.transfer is not None
        ended = (call.outcome, call.hangup_cause, call.transfer.status, call.transfer.cause)
        assert ended == ("answered", "transfer_failed", "failed", cause), call.warnings
        assert made.calls.twilio.calls[0].status == "completed"


@pytest.mark.requirement("TWILIO-09")
@pytest.mark.parametrize("kind", ["warm", "cold"])
async def test_two_people_are_not_left_alone_when_twilio_does_not_move_the_call(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None, kind: str
) -> None:
    async with wanting(database_url, tmp_path, sounds, kind=kind, moving=["500"] * 3) as made:
        call = await made.ended()
        assert call.transfer is not None
        ended = (call.outcome, call.hangup_cause, call.transfer.status, call.transfer.cause)
        assert ended == ("answered", "transfer_failed", "failed", "carrier_error"), call.warnings
        assert {each.status for each in made.calls.twilio.calls} == {"completed"}


@pytest.mark.requirement("TWILIO-09")
@pytest.mark.parametrize("tells", ["twice", "backwards", "never"])
async def test_what_twilio_tells_of_a_person_twice_out_of_order_or_never_changes_nothing(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None, tells: str
) -> None:
    async with wanting(database_url, tmp_path, sounds) as made:
        made.calls.twilio.tells = tells
        await made.reaches("bridged")
        made.desk.hang_up()
        assert (await made.ended()).outcome == "transferred"


@pytest.mark.requirement("COST-10", "COST-04")
@pytest.mark.parametrize("kind", ["warm", "cold"])
async def test_the_call_to_the_person_is_paid_and_what_twilio_says_of_both_later_counts_once(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None, kind: str
) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text(PRICES, encoding="utf-8")
    async with wanting(database_url, tmp_path / "data", sounds, kind=kind, prices=prices) as made:
        await made.reaches("bridged")
        made.contact.hang_up()
        call = await made.ended()
        tenant, person, contact = made.calls.tenant, await made.person_call(), made.calls.twilio.calls[0]
        assert await items_of(tenant, call) == [
            ("telephony", 14_000, "pending"),
            ("platform", 5_000, "known"),
            ("transfer", 20_000, "pending"),
        ]
        for told in ({}, {person.sid: "-0.0110"}, {contact.sid: "-0.0085"}, {}):
            made.calls.twilio.prices |= told
            await tenant.services.database.write(due_now)
            await late_charges.run(tenant.services, {"twilio": carrier_of(made.calls)})
        assert await items_of(tenant, call) == [
            ("telephony", 8_500, "known"),
            ("platform", 5_000, "known"),
            ("transfer", 11_000, "known"),
        ]
        assert await charged(tenant, call.id) == 8_500 + 5_000 + 11_000
        await check_ledgers(tenant.services.database)


@pytest.mark.requirement("COST-10")
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_what_two_who_talk_have_come_to_is_kept_while_they_do(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfers, "PERSON_TOLD_EVERY_S", 0.2)
    async with wanting(database_url, tmp_path, sounds) as made:
        call, database = await made.reaches("bridged"), made.calls.tenant.services.database
        talked_s = 0.0
        with anyio.fail_after(WITHIN_S):
            while talked_s < 2.0:
                await anyio.sleep(0.1)
                leg = await database.read(leg_rows.find, call.id)
                so_far = None if leg is None else leg_rows.so_far_of(leg)
                for one in so_far.transfer_legs if so_far else ():
                    talked_s = one.ended_s - one.answered_s
        made.contact.hang_up()
        assert (await made.ended()).outcome == "transferred"


@pytest.mark.requirement("TWILIO-09")
async def test_words_about_a_person_that_are_forged_change_nothing(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None
) -> None:
    async with wanting(database_url, tmp_path, sounds, desk=Telephone(rings_s=3.0)) as made:
        person, twilio = await made.person_call(), made.calls.twilio
        await made.reaches("ringing")
        ends = twilio.form(person, "busy")
        assert (await twilio.post(person["StatusCallback"], ends, signed="forged")).status_code == 403
        taken = person["Url"].replace("/answer?", "/taken?")
        assert (await twilio.post(taken, ends, signed="forged")).status_code == 403
        token = parse_qs(urlsplit(person["Url"]).query)["t"][0]
        for url in (person["StatusCallback"], taken):  # signed, and with another token
            answer = await twilio.post(url.replace(token, "another"), ends)
            assert "Conference" not in answer.text
        other = await twilio.post(taken, ends | {"CallSid": "CA" + "1" * 32})
        assert "<Hangup/>" in other.text
        await made.reaches("bridged")
        made.contact.hang_up()
        assert (await made.ended()).outcome == "transferred"
