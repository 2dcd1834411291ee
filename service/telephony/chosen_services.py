"""Which services hear, think and speak on an agent's live calls: the agent's choice, the organization's, or what there
is without either.

For each role the first of these: the provider that the agent names, the organization's default, the installation's
(`SpeechSettings`), what is built in. Built in are the rules of the simulated network, which think, and espeak-ng, which
speaks; nothing that hears. What a service charges is between it and whoever holds the key.
"""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, select

from callwright.contract.providers import Role
from callwright.service.platform.secret_box import SecretBox, SecretUnreadable
from callwright.service.rules.call_tools import tools_in
from callwright.service.rules.provider_rules import NEEDS_VOICE
from callwright.service.settings import InstalledService, ServiceSettings
from callwright.service.tables import call_tool_secrets, providers
from callwright.service.tables.schema import agents
from callwright.service.telephony.engine import AgentSnapshot
from callwright.service.telephony.media.messages import SpeechService, SpeechServices, ToolAccess

NOTHING_HEARS = (
    "calls understand only keys and typed words: set CALLWRIGHT_STT_URL, or a provider that hears "
    "(`callwright providers set`)"
)


class ProviderUnusable(Exception):
    """A provider that an agent uses cannot be used. The text is a sentence that says what to do, without any key."""


@dataclass(frozen=True)
class ChosenServices:
    """The services of an agent's calls, with their keys, and what is missing for a whole conversation."""

    services: SpeechServices
    what_is_missing: str | None = None
    """A sentence without its first capital; None where everything is there."""


@dataclass(frozen=True)
class _Choice:
    """What an agent names for a role; None leaves it open."""

    provider: str | None
    model: str | None = None
    voice: str | None = None


def speech_services_of(
    connection: Connection, settings: ServiceSettings, org_id: str, agent: AgentSnapshot
) -> ChosenServices:
    """The services of an agent's calls as they are set now.

    Raises:
        ProviderUnusable: the agent names a provider that is not there or not for this any more, or the key of the one
            that is chosen cannot be read. No other is taken in its place: it could be heard, and cost, something else.
    """
    known = providers.all_of(connection, org_id)
    chooser = _Chooser(known, SecretBox(settings), org_id)
    installed = settings.speech
    hearing = chooser.service("hearing", _Choice(agent.hearing_provider), installed.hearing)
    thinking = chooser.service("thinking", _Choice(agent.model_provider, model=agent.model_name), installed.thinking)
    speaking = chooser.service(
        "speaking", _Choice(agent.speaking_provider, voice=agent.speaking_voice), installed.speaking
    )
    return ChosenServices(
        SpeechServices(
            hearing=hearing,
            thinking=thinking or SpeechService(kind="policy"),
            speaking=speaking or SpeechService(kind="espeak"),
            tools=_tool_access(connection, settings, org_id, agent),
        ),
        NOTHING_HEARS if hearing is None else None,
    )


def _tool_access(connection: Connection, settings: ServiceSettings, org_id: str, agent: AgentSnapshot) -> ToolAccess:
    """What the agent's tools need: the secrets as they are set now, whichever version of the agent speaks."""
    if agent.call_tools is None:
        return ToolAccess()
    own = select(agents.c.call_tool_secrets).where(agents.c.id == agent.id, agents.c.org_id == org_id)
    kept = connection.execute(own).scalar_one_or_none()
    return ToolAccess(
        secrets=call_tool_secrets.values_of(kept, tools_in(agent.call_tools), SecretBox(settings), (org_id, agent.id)),
        opened=tuple(str(network) for network in settings.webhook_networks),
    )


@dataclass(frozen=True)
class _Chooser:
    known: list[Row[Any]]
    box: SecretBox
    org_id: str

    def service(self, role: Role, choice: _Choice, installed: InstalledService | None) -> SpeechService | None:
        """The service of a role; None for what is built in. Raises `ProviderUnusable`."""
        row = self._named(role, choice.provider)
        if row is None:
            row = next((each for each in self.known if role in providers.defaults_of(each)), None)
        if row is not None:
            return SpeechService(
                kind=row.kind,
                url=row.url,
                key=self._key(row),
                model=choice.model or row.model,
                voice=(choice.voice or row.voice) if role == "speaking" else None,
                is_own=True,
            )
        if installed is None:
            return None
        voice = choice.voice or installed.voice
        if role == "speaking" and installed.kind in NEEDS_VOICE and voice is None:
            return None
        return SpeechService(
            kind=installed.kind,
            url=installed.url,
            key=installed.key or "",
            model=choice.model or installed.model,
            voice=voice if role == "speaking" else None,
        )

    def _named(self, role: Role, name: str | None) -> Row[Any] | None:
        if name is None:
            return None
        row = next((each for each in self.known if each.name == name), None)
        if row is None or role not in providers.roles_of(row):
            able = [each.name for each in self.known if role in providers.roles_of(each)]
            there = f"there are {', '.join(able)}" if able else "there is none"
            raise ProviderUnusable(f"The agent uses the provider {name} for {role}, which is not there: {there}.")
        return row

    def _key(self, row: Row[Any]) -> str:
        if row.encrypted_key is None:
            return ""
        try:
            return self.box.decrypt(row.encrypted_key, (self.org_id, row.name))
        except SecretUnreadable as error:
            raise ProviderUnusable(
                f"The key of the provider {row.name} cannot be read: {error}. Set the provider's key again, or start "
                "the service with the CALLWRIGHT_SECRETS_KEY that it was stored with."
            ) from None
