"""A call through Twilio whose contact wants a person."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from callwright.contract.agents.call_tools import TransferTool
from callwright.contract.agents.transfer_destinations import TransferDestination
from callwright.contract.calls.calls import Call
from tests.service.telephony.media.conftest import Sounds
from tests.service.telephony.media.sentences import GREETING, PERSON, SUMMARY
from tests.service.telephony.media.twilio.twilio_calls import Calls, calls_through_twilio
from tests.support.campaigns import calls_of
from tests.support.twilio.imitation import PlacedCall
from tests.support.twilio.telephone import Telephone

DESK = "+14155550177"
WITHIN_S = 40.0


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

    async def asks_for_person(self, sounds: Sounds) -> None:
        """Asks for a person, and once more whenever nothing comes of it: a busy machine may not understand."""
        for _ in range(3):
            await self.contact.say(sounds.contact[PERSON])
            with anyio.move_on_after(WITHIN_S / 3):
                while True:
                    if (await self.under_way()).transfer is not None:
                        return
                    await anyio.sleep(0.1)
        raise AssertionError(f"no transfer began: {await self.seen()}")

    async def reaches(self, status: str) -> Call:
        """Waits until the transfer has a status."""
        with anyio.move_on_after(WITHIN_S):
            while True:
                call = await self.under_way()
                if call.transfer is not None and call.transfer.status == status:
                    return call
                await anyio.sleep(0.1)
        raise AssertionError(f"the transfer is not {status}: {await self.seen()}")

    async def seen(self) -> str:
        """What became of the call and of those through Twilio, for a test that fails."""
        call = await self.under_way()
        through = [(one["To"], one.status, [kind for kind, _ in one.requests]) for one in self.calls.twilio.calls]
        return f"{call.status} {call.transfer} {call.warnings}, through Twilio {through}, said {self.contact.was_told}"

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
        wanted = Wanting(calls, campaign, contact, person)
        await wanted.asks_for_person(sounds)
        yield wanted
