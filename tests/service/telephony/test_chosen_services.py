"""Which services hear, think and speak: the agent's, the organization's, the installation's, or what is built in."""

from dataclasses import replace
from typing import Any

import pytest

from callwright.service.settings import InstalledService, ServiceSettings, SpeechSettings
from callwright.service.telephony.chosen_services import (
    NOTHING_HEARS,
    ChosenServices,
    ProviderUnusable,
    speech_services_of,
)
from callwright.service.telephony.engine import AgentSnapshot
from callwright.service.telephony.media.messages import SpeechService, SpeechServices
from tests.support.service import Tenant

KEY = "sk-thisIsTheKeyOfTheTests-9f3a"
AGENT = AgentSnapshot(id="agt_1", system_prompt="", welcome_message="", language="en-US", voice_id="en-US-ada")
INSTALLED = SpeechSettings(
    hearing=InstalledService(kind="deepgram", key="installed", model="nova-3"),
    thinking=InstalledService(kind="openai", url="https://llm.example.com/v1", key="installed", model="small"),
    speaking=InstalledService(kind="elevenlabs", key="installed", voice="her"),
)


async def chosen(tenant: Tenant, speech: SpeechSettings | None = None, **agent: Any) -> ChosenServices:
    settings: ServiceSettings = replace(tenant.services.settings, speech=speech or SpeechSettings())
    return await tenant.database.read(speech_services_of, settings, tenant.org_id, replace(AGENT, **agent))


async def test_with_nothing_set_the_rules_think_espeak_speaks_and_nothing_hears(tenant: Tenant) -> None:
    found = await chosen(tenant)
    assert found.services == SpeechServices()
    assert found.what_is_missing == NOTHING_HEARS


async def test_what_the_installation_sets_comes_next(tenant: Tenant) -> None:
    found = await chosen(tenant, INSTALLED)
    assert found.what_is_missing is None
    assert found.services == SpeechServices(
        hearing=SpeechService(kind="deepgram", key="installed", model="nova-3"),
        thinking=SpeechService(kind="openai", url="https://llm.example.com/v1", key="installed", model="small"),
        speaking=SpeechService(kind="elevenlabs", key="installed", voice="her"),
    )


@pytest.mark.requirement("PROVIDER-10")
async def test_a_default_of_the_organization_wins_over_the_installation(tenant: Tenant) -> None:
    providers = tenant.client.providers
    await providers.set(name="mind", kind="openai", roles=["thinking"], model="big", key=KEY, default_for=["thinking"])
    await providers.set(name="unused", kind="openai", key=KEY)
    found = (await chosen(tenant, INSTALLED)).services
    assert found.thinking == SpeechService(kind="openai", key=KEY, model="big", is_own=True)
    assert found.hearing == SpeechService(kind="deepgram", key="installed", model="nova-3")


@pytest.mark.requirement("PROVIDER-10")
async def test_what_the_agent_names_wins_over_all(tenant: Tenant) -> None:
    providers = tenant.client.providers
    await providers.set(name="all", kind="openai", key=KEY, default_for=["hearing", "thinking", "speaking"])
    await providers.set(name="ears", kind="deepgram", key=KEY + "1")
    await providers.set(name="mouth", kind="cartesia", voice="his", key=KEY + "2")
    await providers.set(name="mind", kind="openai", key=KEY + "3")
    named = {"hearing_provider": "ears", "speaking_provider": "mouth", "model_provider": "mind"}
    found = (await chosen(tenant, INSTALLED, **named)).services
    assert found == SpeechServices(
        hearing=SpeechService(kind="deepgram", key=KEY + "1", is_own=True),
        thinking=SpeechService(kind="openai", key=KEY + "3", is_own=True),
        speaking=SpeechService(kind="cartesia", key=KEY + "2", voice="his", is_own=True),
    )
    found = (await chosen(tenant, INSTALLED, **named, speaking_voice="hers", model_name="bigger")).services
    assert (found.speaking.voice, found.thinking.model) == ("hers", "bigger")


async def test_a_voice_and_a_model_may_be_named_without_a_provider(tenant: Tenant) -> None:
    found = (await chosen(tenant, INSTALLED, speaking_voice="hers", model_name="bigger")).services
    assert (found.speaking.kind, found.speaking.voice) == ("elevenlabs", "hers")
    assert (found.thinking.url, found.thinking.model) == ("https://llm.example.com/v1", "bigger")


async def test_elevenlabs_speaks_once_there_is_a_voice(tenant: Tenant) -> None:
    """A key that is in the environment for something else must not silence every call."""
    speech = SpeechSettings(speaking=InstalledService(kind="elevenlabs", key="installed"))
    assert (await chosen(tenant, speech)).services.speaking == SpeechService(kind="espeak")
    assert (await chosen(tenant, speech, speaking_voice="hers")).services.speaking.kind == "elevenlabs"


@pytest.mark.parametrize("named", [{"hearing_provider": "gone"}, {"hearing_provider": "mind"}])
async def test_a_named_provider_that_is_not_there_is_not_replaced_by_another(
    tenant: Tenant, named: dict[str, str]
) -> None:
    await tenant.client.providers.set(name="mind", kind="openai", roles=["thinking"], key=KEY)
    await tenant.client.providers.set(name="ears", kind="deepgram", key=KEY, default_for=["hearing"])
    with pytest.raises(ProviderUnusable, match=r"for hearing, which is not there: there are ears\."):
        await chosen(tenant, INSTALLED, **named)
