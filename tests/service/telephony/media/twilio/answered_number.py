"""A number of a Twilio account that an agent answers: reception, line host and media process are the real ones."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from callwright.contract.calls.calls import Call
from callwright.contract.deployments.deployments import Deployment
from callwright.service.telephony.legs import leg_rows
from tests.service.telephony.media.conftest import Sounds
from tests.service.telephony.media.sentences import PROMPT, WELCOME
from tests.service.telephony.media.twilio.twilio_calls import Calls, calls_through_twilio
from tests.support.campaigns import calls_of, make_agent
from tests.support.twilio.account import NUMBER
from tests.support.twilio.callers import calls_in
from tests.support.twilio.imitation import PlacedCall
from tests.support.twilio.telephone import Telephone

CALLER = "+14155550123"
WITHIN_S = 40.0
_MOST_SAYINGS = 4
_UNDERSTOOD_WITHIN_S = 7.0
"""Less than the silence that ends a message."""


@dataclass
class Desk:
    """A number of the account that an agent answers."""

    calls: Calls
    deployment: Deployment
    number_id: str

    def ring(self, telephone: Telephone, from_: str = CALLER) -> PlacedCall:
        """Somebody calls the number."""
        url = f"{self.calls.tenant.services.settings.public_url}/lines/twilio/incoming"
        return calls_in(self.calls.twilio, NUMBER, from_, telephone, url)

    async def said(self) -> list[tuple[str, str]]:
        """What each side has said in the first call, as it is kept while it lasts."""
        calls = await calls_of(self.calls.tenant, self.deployment.id)
        leg = await self.calls.tenant.services.database.read(leg_rows.find, calls[0].id) if calls else None
        so_far = None if leg is None else leg_rows.so_far_of(leg)
        return [(turn.speaker, turn.text) for turn in (so_far.turns if so_far else ())]

    async def says(self, count: int, role: str) -> None:
        """Waits until one side has said so many turns in the first call."""
        with anyio.fail_after(WITHIN_S):
            while True:
                if sum(speaker == role for speaker, _ in await self.said()) >= count:
                    return
                await anyio.sleep(0.1)

    async def understands(self, telephone: Telephone, sound: bytes) -> None:
        """The caller says something, and once more whenever it is not understood: a busy machine may not hear it."""
        for _ in range(_MOST_SAYINGS):
            await telephone.say(sound)
            with anyio.move_on_after(_UNDERSTOOD_WITHIN_S):
                while True:
                    if "contact" in dict(await self.said()):
                        return
                    await anyio.sleep(0.1)
        calls = await calls_of(self.calls.tenant, self.deployment.id)
        raise AssertionError(f"nothing was understood: {await self.said()}, {telephone.is_over.is_set()}, {calls}")

    async def ended(self, count: int = 1) -> list[Call]:
        """The calls, once so many have ended, in the order of their coming."""
        with anyio.fail_after(WITHIN_S):
            while True:
                found = await calls_of(self.calls.tenant, self.deployment.id)
                if len(found) >= count and all(call.ended_at is not None for call in found):
                    return found
                await anyio.sleep(0.1)


@asynccontextmanager
async def answering(database_url: str, data: Path, sounds: Sounds, **fields: Any) -> AsyncGenerator[Desk]:
    """An agent answers the number."""
    async with calls_through_twilio(database_url, data, sounds) as calls:
        tenant = calls.tenant
        agent = await make_agent(tenant, system_prompt=PROMPT, welcome_message=WELCOME)
        number = await tenant.client.phone_numbers.import_owned(number=NUMBER)
        assert number.capabilities.voice_inbound
        deployment = await tenant.client.deployments.create_inbound(
            name="Desk", agent_id=agent.id, phone_number_id=number.id, **fields
        )
        yield Desk(calls, deployment, number.id)
