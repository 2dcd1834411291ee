"""A bare Pipecat pipeline of the same parts as a call of a media process: `bare.py PORT URL` serves one page.

Nothing is recorded, written down, limited or decided: sound goes in, a model's answer comes out.
"""

# Pipecat passes keywords on without their types.
# pyright: reportUnknownMemberType=false

import asyncio
import sys

from loguru import logger
from pipecat.frames.frames import Frame, InputAudioRawFrame, OutputAudioRawFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair, LLMUserAggregatorParams
from pipecat.serializers.base_serializer import FrameSerializer
from pipecat.services.openai.llm import OpenAILLMService
from pipecat.services.openai.stt import OpenAISTTService
from pipecat.transports.websocket.server import SingleClientWebsocketServerParams, SingleClientWebsocketServerTransport
from pipecat.turns.user_start.vad_user_turn_start_strategy import VADUserTurnStartStrategy
from pipecat.turns.user_stop.turn_analyzer_user_turn_stop_strategy import TurnAnalyzerUserTurnStopStrategy
from pipecat.turns.user_turn_strategies import UserTurnStrategies
from pipecat.workers.runner import WorkerRunner

from callwright.service.speech.synthesiser import Synthesiser, find_libraries
from callwright.service.telephony.engine import AgentSnapshot
from callwright.service.telephony.media.sound.sound_clock import RATE
from callwright.service.telephony.media.speech.espeak_speech import EspeakSpeech
from callwright.service.telephony.media.turns.turn_taking import load_models
from callwright.service.telephony.media.warming import warm


class Samples(FrameSerializer):
    """Sound as plain samples, as a media process takes and sends it."""

    async def serialize(self, frame: Frame) -> bytes | None:
        return frame.audio if isinstance(frame, OutputAudioRawFrame) else None

    async def deserialize(self, data: str | bytes) -> Frame | None:
        return InputAudioRawFrame(data, RATE, 1) if isinstance(data, bytes) else None


async def serve(port: int, url: str) -> None:
    """Serves until it is killed."""
    params = SingleClientWebsocketServerParams(
        serializer=Samples(),
        audio_in_enabled=True,
        audio_in_sample_rate=RATE,
        audio_out_enabled=True,
        audio_out_sample_rate=RATE,
        audio_out_10ms_chunks=2,
        audio_out_end_silence_secs=0,
    )
    transport = SingleClientWebsocketServerTransport(params, "127.0.0.1", port)
    models = load_models()
    turns = LLMContextAggregatorPair(
        LLMContext(),
        user_params=LLMUserAggregatorParams(
            user_turn_strategies=UserTurnStrategies(
                start=[VADUserTurnStartStrategy()], stop=[TurnAnalyzerUserTurnStopStrategy(turn_analyzer=models.ends)]
            ),
            vad_analyzer=models.activity,
        ),
    )
    agent = AgentSnapshot("agt_1", "", "", "en-US", "en-US-ada")
    async with Synthesiser(find_libraries()) as synthesiser:
        await warm(synthesiser)
        parts = [
            transport.input(),
            OpenAISTTService(api_key="none", base_url=url, settings=OpenAISTTService.Settings(model="whisper-1")),
            turns.user(),
            OpenAILLMService(api_key="none", base_url=url, settings=OpenAILLMService.Settings(model="gpt-4.1-mini")),
            EspeakSpeech(synthesiser, agent),
            transport.output(),
            turns.assistant(),
        ]
        worker = PipelineWorker(
            Pipeline(parts),
            params=PipelineParams(audio_in_sample_rate=RATE, audio_out_sample_rate=RATE),
            enable_rtvi=False,
            enable_turn_tracking=False,
            idle_timeout_secs=None,
        )
        runner = WorkerRunner(handle_sigint=False)
        await runner.add_workers(worker)
        await runner.run()


if __name__ == "__main__":
    logger.remove()
    asyncio.run(serve(int(sys.argv[1]), sys.argv[2]))
