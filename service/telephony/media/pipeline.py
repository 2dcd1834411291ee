"""The pipeline of a call: websocket, hearing, turns, model or policy, speaking, websocket."""

# Pipecat passes keywords on without their types.
# pyright: reportUnknownMemberType=false

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from pipecat.frames.frames import ErrorFrame, LLMMessagesAppendFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair, LLMUserAggregatorParams
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.workers.runner import WorkerRunner

from callwright.service.speech.synthesiser import Synthesiser
from callwright.service.telephony.media import speech_services, turn_taking
from callwright.service.telephony.media.gate import Floor, TurnGate
from callwright.service.telephony.media.messages import BeginCall
from callwright.service.telephony.media.mouth import AnswerClock, Mouth
from callwright.service.telephony.media.sound_clock import RATE, SoundClock, Track
from callwright.service.telephony.media.transport import Mouthpiece, SocketTransport

_CANCEL_S = 5.0


class Sides(Floor, AnswerClock, Mouthpiece, turn_taking.Listening, Protocol):
    """Everything that a pipeline tells: what each side says, and how the model answers."""


@dataclass(frozen=True)
class Failure:
    """A service of the pipeline failed. The sentence says which."""

    part: str
    sentence: str


class CallPipeline:
    """The pipeline of one call. `run` it until it is cancelled, and `attach` the page when it is there.

    Raises UnknownService if the order names a service that there is not.
    """

    def __init__(
        self,
        begin: BeginCall,
        sides: Sides,
        *,
        clock: SoundClock,
        agent: Track,
        contact: Track,
        synthesiser: Synthesiser,
        models: turn_taking.SpeechModels | None,
        failed: Callable[[Failure], Awaitable[None]],
    ) -> None:
        services, snapshot, limits = begin.services, begin.request.agent, begin.limits
        self._hearing = speech_services.hearing(services.hearing, snapshot)
        self._thinking = speech_services.thinking(services.thinking, begin.request)
        self._speaking = speech_services.speaking(services.speaking, snapshot, synthesiser)
        self._failed = failed
        self.transport = SocketTransport(clock, agent, contact, sides)
        self.mouth = Mouth(sides, language=snapshot.language, answer_s=limits.answer_s, most_words=limits.most_words)
        hears_late = speech_services.hears_late(self._hearing)
        turns = LLMContextAggregatorPair(
            LLMContext(),
            user_params=LLMUserAggregatorParams(
                user_turn_strategies=turn_taking.strategies(sides, models, hears_late=hears_late),
                vad_analyzer=models.activity if models else None,
                empty_user_turn=None,
            ),
        )
        parts: list[FrameProcessor | None] = [
            self.transport.input(),
            self._hearing,
            turns.user(),
            TurnGate(sides),
            self._thinking,
            self.mouth,
            self._speaking,
            self.transport.output(),
            turns.assistant(),
        ]
        self._worker = PipelineWorker(
            Pipeline([part for part in parts if part is not None]),
            params=PipelineParams(audio_in_sample_rate=RATE, audio_out_sample_rate=RATE),
            cancel_timeout_secs=_CANCEL_S,
            check_dangling_tasks=False,
            enable_rtvi=False,
            enable_turn_tracking=False,
            idle_timeout_secs=None,
        )
        self._worker.add_event_handler("on_pipeline_error", self._on_error)

    @property
    def has_model(self) -> bool:
        """Whether a model answers, and not the policy."""
        return self._thinking is not None

    async def run(self) -> None:
        """Runs until it is cancelled. Ends within five seconds then."""
        runner = WorkerRunner(handle_sigint=False, check_dangling_tasks=False)
        await runner.add_workers(self._worker)
        await runner.run()

    async def cancel(self) -> None:
        """Ends `run`."""
        await self._worker.cancel()

    async def ask_model(self, text: str) -> None:
        """Gives the model a turn that was not spoken."""
        await self._worker.queue_frame(LLMMessagesAppendFrame([{"role": "user", "content": text}], run_llm=True))

    async def _on_error(self, _worker: object, frame: ErrorFrame) -> None:
        if frame.processor is not None and frame.processor is self._thinking:
            await self.mouth.model_failed()
        elif frame.processor is not None and frame.processor is self._hearing:
            await self._failed(Failure("hearing", "The hearing service failed."))
        elif frame.processor is not None and frame.processor is self._speaking:
            await self._failed(Failure("speaking", "The speaking service failed."))
