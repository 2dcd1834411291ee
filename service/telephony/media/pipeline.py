"""The pipeline of a call: the other side's sound, hearing, turns, model or policy, speaking, the agent's sound."""

# Pipecat passes keywords on without their types.
# pyright: reportUnknownMemberType=false

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from pipecat.frames.frames import ErrorFrame, LLMMessagesAppendFrame, LLMRunFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import (
    LLMContextAggregatorPair,
    LLMUserAggregatorParams,
    UserTurnStoppedMessage,
)
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.workers.runner import WorkerRunner

from callwright.service.speech.synthesiser import Synthesiser
from callwright.service.telephony.media.findings import Then
from callwright.service.telephony.media.messages import BeginCall, Usage
from callwright.service.telephony.media.sound.sound_clock import RATE, SoundClock, Track
from callwright.service.telephony.media.sound.transport import CallTransport, SpeechObserver
from callwright.service.telephony.media.speech import speech_services
from callwright.service.telephony.media.speech.agent_speech import AgentSpeech, AnswerClock
from callwright.service.telephony.media.speech.usage import UsageMeter
from callwright.service.telephony.media.tools import functions
from callwright.service.telephony.media.tools.call_tools import CallTools
from callwright.service.telephony.media.turns import turn_taking
from callwright.service.telephony.media.turns.gate import Floor, TurnGate

_CANCEL_S = 5.0
_FLUSH_S = 1.0
_LATEST_WORDS_S = 3.0
"""Speech of which no word is known by then had none."""


class Sides(Floor, AnswerClock, SpeechObserver, turn_taking.Listening, Protocol):
    """Everything that a pipeline tells: what each side says, and how the model answers."""

    async def nothing_heard(self) -> None:
        """A turn of the other side is over in which no word was recognised."""
        ...


@dataclass(frozen=True)
class Failure:
    """A service of the pipeline failed, or the pipeline itself. The sentence says which."""

    part: Literal["hearing", "speaking", "pipeline"]
    sentence: str
    for_good: bool = False
    """Trying again is of no use: the key is wrong, or no connection has lasted."""


class CallPipeline:
    """The pipeline of one call. `run` it until it is cancelled, and `attach` the other side when it is there.

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
        tools: CallTools,
        failed: Callable[[Failure], Awaitable[None]],
        used: Callable[[Usage], None],
    ) -> None:
        services, snapshot, limits = begin.services, begin.request.agent, begin.limits
        self._hearing = speech_services.hearing(services.hearing, snapshot)
        self._thinking = speech_services.thinking(services.thinking, begin.request)
        self._speaking = speech_services.speaking(services.speaking, snapshot, synthesiser)
        if self._thinking is not None and tools.all:
            functions.connect(self._thinking, tools, sides.no_answer)
        self._failed = failed
        self._sides, self._tools = sides, tools
        self.transport = CallTransport(clock, agent, contact, sides)
        self._agent_speech = AgentSpeech(
            sides, language=snapshot.language, answer_s=limits.answer_s, most_words=limits.most_words
        )
        self.transport.output().say_again = self._agent_speech.say
        hears_late = speech_services.hears_late(self._hearing)
        turns = LLMContextAggregatorPair(
            LLMContext(tools=functions.offered(tools)) if tools.all and self._thinking else LLMContext(),
            user_params=LLMUserAggregatorParams(
                user_turn_strategies=turn_taking.strategies(sides, models, hears_late=hears_late),
                vad_analyzer=models.activity if models else None,
                empty_user_turn=None,
                user_turn_stop_timeout=_LATEST_WORDS_S,
            ),
        )
        turns.user().add_event_handler("on_user_turn_stopped", self._on_turn_stopped)
        parts: list[FrameProcessor | None] = [
            self.transport.input(),
            self._hearing,
            turns.user(),
            TurnGate(sides),
            self._thinking,
            self._agent_speech,
            self._speaking,
            UsageMeter(begin.request.call_id, services, used),
            self.transport.output(),
            turns.assistant(),
        ]
        self._worker = PipelineWorker(
            Pipeline([part for part in parts if part is not None]),
            params=PipelineParams(audio_in_sample_rate=RATE, audio_out_sample_rate=RATE, enable_usage_metrics=True),
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
        """Ends what is being said, and `run`."""
        self.transport.output().fall_silent()
        await self._worker.cancel()

    async def say(self, text: str, *, language: str | None = None, then: Then = "listen") -> None:
        """Says a sentence as a turn of its own, after what is being said."""
        await self._agent_speech.say(text, language=language, then=then)

    async def silence(self) -> None:
        """Interrupts what is being said and thought."""
        self.transport.output().fall_silent()
        await self._agent_speech.silence()

    async def expect_answer(self) -> None:
        """The model was asked."""
        self._tools.turn_begins()
        await self._agent_speech.expect_answer()

    async def press(self, keys: str) -> None:
        """Presses keys, after what is being said."""
        await self._agent_speech.press(keys)

    async def play(self, pcm: bytes) -> None:
        """Plays sound that is no speech, after what is being said."""
        await self._agent_speech.play(pcm)

    async def ask_model(self, text: str | None) -> None:
        """Gives the model a turn that was not spoken, after what the agent really said before it; None: asks again."""
        await self._worker.flush_pipeline(_FLUSH_S)
        if text is None:
            await self._worker.queue_frame(LLMRunFrame())
            return
        await self._worker.queue_frame(LLMMessagesAppendFrame([{"role": "user", "content": text}], run_llm=True))

    async def _on_turn_stopped(self, _turns: object, _strategy: object, message: UserTurnStoppedMessage) -> None:
        if not message.content:
            await self._sides.nothing_heard()

    async def _on_error(self, _worker: object, frame: ErrorFrame) -> None:
        if frame.processor is not None and frame.processor is self._thinking:
            await self._agent_speech.model_failed()
        elif frame.processor is not None and frame.processor is self._hearing:
            gone = not frame.processor.is_usable
            await self._failed(Failure("hearing", "The hearing service failed.", for_good=gone))
        elif frame.processor is not None and frame.processor is self._speaking:
            gone = not frame.processor.is_usable
            await self._failed(Failure("speaking", "The speaking service failed.", for_good=gone))
        else:
            await self._failed(Failure("pipeline", "The call failed in its media process."))
