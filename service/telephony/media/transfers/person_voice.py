"""The agent's voice on the line of a person who is to take a call over: a small pipeline of its own."""

# Pipecat passes keywords on without their types.
# pyright: reportUnknownMemberType=false

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
from pipecat.frames.frames import TTSSpeakFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.workers.runner import WorkerRunner

from callwright.service.speech.synthesiser import Synthesiser
from callwright.service.telephony.media.findings import Then
from callwright.service.telephony.media.messages import BeginCall
from callwright.service.telephony.media.other_side import OtherSide
from callwright.service.telephony.media.sound.sound_clock import RATE, SoundClock, Track
from callwright.service.telephony.media.sound.transport import AgentTurn, CallTransport
from callwright.service.telephony.media.speech import speech_services
from callwright.service.telephony.media.transfers.means import Saying
from callwright.service.telephony.media.turns.frames import TurnBegins, TurnEnds

_LONGEST_S = 60.0
_CANCEL_S = 5.0


class _Done:
    """Is told when a sentence was said."""

    def __init__(self) -> None:
        self.said = anyio.Event()

    def agent_starts(self) -> None:
        """It begins."""

    def agent_said(self, turn: AgentTurn) -> None:
        """Its sound is over."""

    def agent_is_done(self, then: Then) -> None:
        """All of it was said."""
        self.said.set()


class SpeakingVoice:
    """Speaks with the voice of a call's agent. What is said is neither recorded nor in the transcript."""

    def __init__(self, begin: BeginCall, synthesiser: Synthesiser) -> None:
        self._begin, self._synthesiser = begin, synthesiser

    @asynccontextmanager
    async def speaking_to(self, person: OtherSide) -> AsyncGenerator[Saying]:
        """Speaks to this side within the block."""
        clock, done = SoundClock(), _Done()
        transport = CallTransport(clock, Track(clock), Track(clock), done)
        speaking = speech_services.speaking(self._begin.services.speaking, self._begin.request.agent, self._synthesiser)
        worker = PipelineWorker(
            Pipeline([speaking, transport.output()]),
            params=PipelineParams(audio_in_sample_rate=RATE, audio_out_sample_rate=RATE),
            cancel_timeout_secs=_CANCEL_S,
            check_dangling_tasks=False,
            enable_rtvi=False,
            enable_turn_tracking=False,
            idle_timeout_secs=None,
        )
        runner = WorkerRunner(handle_sigint=False, check_dangling_tasks=False)
        await runner.add_workers(worker)
        clock.start()
        transport.output().attach(person)

        async def say(text: str, language: str) -> None:
            done.said = anyio.Event()
            with anyio.move_on_after(_LONGEST_S):
                await worker.queue_frames([TurnBegins("policy", language), TTSSpeakFrame(text), TurnEnds()])
                await done.said.wait()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(runner.run)
            try:
                yield say
            finally:
                with anyio.move_on_after(_CANCEL_S, shield=True):
                    await worker.cancel()
            tasks.cancel_scope.cancel()
