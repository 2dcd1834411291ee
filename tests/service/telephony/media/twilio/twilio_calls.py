"""Calls of a campaign through the imitation of Twilio: dialler, line host and media process are the real ones."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from callwright.contract.agents.call_tools import CallTool
from callwright.contract.calls.calls import Call, TranscriptTurn
from callwright.service.settings import InstalledService, SpeechSettings
from tests.service.telephony.media.closed_set import ClosedSet
from tests.service.telephony.media.conftest import Sounds
from tests.service.telephony.media.sentences import GREETING, PROMPT
from tests.service.telephony.media.speech_endpoint import Endpoint, endpoint
from tests.support.campaigns import ONCE, PLAIN, calls_of, draft, make_agent, people, phone
from tests.support.service import Tenant
from tests.support.twilio.account import NUMBER
from tests.support.twilio.imitation import Twilio, imitated_twilio
from tests.support.twilio.service import calling_through
from tests.support.twilio.telephone import Telephone

CALLED = phone(0)


@dataclass
class Calls:
    """Calls people through Twilio."""

    twilio: Twilio
    tenant: Tenant
    sounds: Sounds
    known: ClosedSet
    speech: Endpoint

    def telephone(self, does: str = "answers", **how: Any) -> Telephone:
        """The telephone that is called."""
        self.twilio.telephones[CALLED] = made = Telephone(does, **how)
        return made

    async def begin(
        self, *, welcome_message: str = GREETING, call_tools: list[CallTool] | None = None, **fields: Any
    ) -> str:
        """Begins to call; returns the id of the campaign."""
        agent = await make_agent(self.tenant, system_prompt=PROMPT, welcome_message=welcome_message)
        if call_tools is not None:
            await self.tenant.client.agents.set_call_tools(id=agent.id, call_tools=call_tools)
        number = await self.tenant.client.phone_numbers.import_owned(number=NUMBER)
        given: dict[str, Any] = {"retry_policy": ONCE, "compliance": PLAIN, "phone_number_ids": [number.id], **fields}
        made = await draft(self.tenant, people(1), agent_id=agent.id, **given)
        preview = await self.tenant.client.deployments.preview(id=made.id)
        await self.tenant.client.deployments.start(id=made.id, plan_id=preview.plan_id)
        return made.id

    async def ended(self, deployment_id: str) -> Call:
        """The call once its campaign is over."""
        await self.tenant.ended(deployment_id, within_s=90)
        (call,) = await calls_of(self.tenant, deployment_id)
        return call

    async def turns(self, call: Call) -> list[TranscriptTurn]:
        """What was said."""
        return list((await self.tenant.client.calls.get_transcript(call_uuid=call.id)).turns)

    async def words(self, call: Call) -> list[tuple[str, str]]:
        """Who said what."""
        return [(turn.role, turn.text) for turn in await self.turns(call)]


@asynccontextmanager
async def calls_through_twilio(
    database_url: str, data: Path, sounds: Sounds, *, thinks: bool = False, prices: Path | None = None
) -> AsyncGenerator[Calls]:
    """A service that calls through Twilio. What is said are the sentences of `sounds`."""
    known = sounds.closed_set()
    async with imitated_twilio(NUMBER) as twilio, endpoint(known) as service:
        openai = InstalledService(kind="openai", url=service.url, model="test")
        speech = SpeechSettings(hearing=openai, thinking=openai if thinks else None)
        async with calling_through(twilio, database_url, data, speech=speech, prices=prices) as tenant:
            yield Calls(twilio, tenant, sounds, known, service)
