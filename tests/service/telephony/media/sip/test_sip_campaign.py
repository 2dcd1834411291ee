"""A campaign that is called over a SIP trunk: dialler, legs, line host, carrier, media process and a telephone."""

from functools import partial
from pathlib import Path

import anyio
import pytest

from callwright.service.telephony.carriers.media_calls import always
from callwright.service.telephony.carriers.sip import SipCarrier
from callwright.service.telephony.lines.media_processes import MediaProcesses
from callwright.service.telephony.media.messages import SpeechService, SpeechServices
from tests.service.telephony.media.conftest import Sounds
from tests.service.telephony.media.sentences import GREETING, PROMPT, QUESTION, YES
from tests.service.telephony.media.sip.telephone import Telephone, telephone
from tests.service.telephony.media.speech_endpoint import endpoint
from tests.support.campaigns import ONCE, PLAIN, calls_of, make_agent, people, started
from tests.support.scripted_carrier import driven_on_lines, host_of
from tests.support.service import open_service

pytestmark = [pytest.mark.xdist_group("live-calls")]


"""The agent says its greeting and nothing more."""


async def _answers(phone: Telephone, sounds: Sounds) -> None:
    """A person who hears the greeting to its end, answers, hears the next sentence and hangs up."""
    await phone.wait_for("answered")
    known = sounds.closed_set()
    await phone.hears(known, GREETING)
    await phone.say(sounds.contact[YES])
    await phone.hears(known, QUESTION)
    await phone.do("hang_up")


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_a_campaign_is_called_over_a_trunk(
    database_url: str, tmp_path: Path, sounds: Sounds, alone: None
) -> None:
    media = MediaProcesses(1)
    async with (
        telephone() as phone,
        open_service(database_url, tmp_path, workers=False) as tenant,
        endpoint(sounds.closed_set()) as service,
        anyio.create_task_group() as tasks,
    ):
        hears = SpeechServices(hearing=SpeechService(kind="openai", url=service.url))
        carrier = SipCarrier("scripted", media, always(hears), phone.trunk)
        host = host_of(tenant, carrier, lines=1, is_ready=media.has_room)
        tasks.start_soon(media.run)
        tasks.start_soon(host.run)
        tasks.start_soon(partial(_answers, phone, sounds))
        agent = await make_agent(tenant, system_prompt=PROMPT, welcome_message=GREETING)
        made = await started(tenant, people(1), agent_id=agent.id, retry_policy=ONCE, compliance=PLAIN)
        await driven_on_lines(tenant, made.id)
        (call,) = await calls_of(tenant, made.id)
        transcript = await tenant.client.calls.get_transcript(call_uuid=call.id)
        assert (call.outcome, call.hangup_cause) == ("answered", "contact_hangup")
        assert [(turn.role, turn.text) for turn in transcript.turns] == [
            ("agent", GREETING),
            ("contact", YES),
            ("agent", QUESTION),
        ]
        assert call.ringing_at is not None
        assert call.answered_at is not None
        tasks.cancel_scope.cancel()
