"""Makes calls in a media process."""

import secrets
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from callwright.contract.agents.call_tools import CallTool
from callwright.service.rules.call_tools import stored_tools
from callwright.service.telephony.engine import AgentSnapshot, CallRequest, Turn, VoicemailPolicy
from callwright.service.telephony.media.messages import (
    BeginCall,
    Ended,
    HangUp,
    Limits,
    Said,
    SawMachine,
    SpeechService,
    SpeechServices,
    ToolAccess,
)
from tests.service.telephony.media.caller import Caller, caller
from tests.service.telephony.media.media_process import MediaProcess
from tests.service.telephony.media.sentences import GREETING, PROMPT
from tests.service.telephony.media.speech_endpoint import Endpoint

_HANGS_UP, _LIMITS = VoicemailPolicy(), Limits()
TURN_S = 30.0
"""How long a turn is waited for on a busy machine."""


@dataclass
class FollowedCall:
    """A call of a media process, by what is reported of it."""

    call_id: str
    media: MediaProcess
    sounds: Mapping[str, bytes]

    def said(self) -> list[Said]:
        return self.media.reports.said(self.call_id)

    def turns(self) -> list[Turn]:
        return [each.turn for each in self.said()]

    def words(self) -> list[tuple[str, str]]:
        """Who said what, in order."""
        return [(turn.speaker, turn.text) for turn in self.turns()]

    async def turn(self, speaker: str, number: int = 1) -> Turn:
        """That side's turn with this number, counted from 1."""

        def found(_: Said) -> bool:
            return len([turn for turn in self.turns() if turn.speaker == speaker]) >= number

        await self.media.reports.wait_for(Said, found, within_s=TURN_S)
        return [turn for turn in self.turns() if turn.speaker == speaker][number - 1]

    async def says(self, text: str) -> None:
        """Waits until the agent has said exactly this."""

        def found(_: Said) -> bool:
            return ("agent", text) in self.words()

        await self.media.reports.wait_for(Said, found, within_s=TURN_S)

    async def ended(self, within_s: float = 60.0) -> Ended:
        return await self.media.ended(self.call_id, within_s)

    async def hang_up(self, sentence: str = "", **order: Any) -> None:
        await self.media.send(HangUp(call_id=self.call_id, sentence=sentence, **order))

    async def saw(self, answered_by: Any) -> None:
        await self.media.send(SawMachine(call_id=self.call_id, answered_by=answered_by))


@dataclass
class LiveCall(FollowedCall):
    """A call with its page."""

    page: Caller

    async def say(self, text: str) -> None:
        await self.page.say(self.sounds[text])


@dataclass
class Line:
    """Makes calls. What a call is given replaces the defaults."""

    media: MediaProcess
    service: Endpoint
    sounds: Mapping[str, bytes]
    folder: Path

    def order(
        self,
        *,
        welcome: str = GREETING,
        hears: bool = True,
        thinks: bool = False,
        voicemail: VoicemailPolicy = _HANGS_UP,
        limits: Limits = _LIMITS,
        ring_timeout_s: float = 30.0,
        discloses: bool = False,
        tools: Sequence[CallTool] = (),
        tool_secrets: Mapping[str, Mapping[str, str]] | None = None,
        services: SpeechServices | None = None,
        **options: Any,
    ) -> BeginCall:
        """The order that begins a call."""
        openai = SpeechService(kind="openai", url=self.service.url)
        request = CallRequest(
            call_id=f"cal_{secrets.token_hex(8)}",
            org_id="org_1",
            deployment_id="dep_1",
            contact_id="con_1",
            attempt=1,
            to="+14155550123",
            from_="+14155550100",
            agent=AgentSnapshot("agt_1", PROMPT, welcome, "en-US", "en-US-ada", call_tools=stored_tools(tools)),
            variables={},
            seed="s",
            ring_timeout_s=ring_timeout_s,
            voicemail=voicemail,
            ai_disclosure=discloses,
        )
        access = ToolAccess(secrets=tool_secrets or {}, opened=("127.0.0.0/8",))
        chosen = SpeechServices(hearing=openai if hears else None, tools=access)
        if thinks:
            chosen = SpeechServices(hearing=openai if hears else None, thinking=openai, tools=access)
        return BeginCall(
            request=request, token=secrets.token_hex(16), services=services or chosen, limits=limits, **options
        )

    async def begin(self, order: BeginCall) -> None:
        """Gives the order and waits until the websocket may be opened."""
        await self.media.send(order)
        await self.media.listening(order.request.call_id)

    @asynccontextmanager
    async def call(self, *, muted: bool = False, **options: Any) -> AsyncGenerator[LiveCall]:
        """A call whose page is open."""
        order = self.order(**options)
        await self.begin(order)
        async with self.joined(order, muted=muted) as call:
            yield call

    @asynccontextmanager
    async def joined(self, order: BeginCall, *, muted: bool = False) -> AsyncGenerator[LiveCall]:
        """The page of a call that may be opened."""
        async with caller(self.media.port, order.token, muted=muted) as page:
            yield LiveCall(order.request.call_id, self.media, self.sounds, page)
