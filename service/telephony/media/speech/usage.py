"""What a call uses of services that charge for it, as Pipecat's services measure it, reported as it is used."""

# Pipecat passes keywords on without their types.
# pyright: reportUnknownMemberType=false

from collections.abc import Callable, Iterator

from pipecat.frames.frames import Frame, MetricsFrame
from pipecat.metrics.metrics import LLMUsageMetricsData, MetricsData, STTUsageMetricsData, TTSUsageMetricsData
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor

from callwright.service.rules.prices.installation_prices import ServiceItem
from callwright.service.telephony.media.messages import SpeechService, SpeechServices, Usage

_Amount = tuple[ServiceItem, SpeechService, str, float]


class UsageMeter(FrameProcessor):
    """Reports what services have used whenever they say so. It stands behind the last of them.

    An answer of a model that is interrupted says nothing of its tokens. Sound that a service hears counts once it is
    sent, words once they are to be spoken. What is built in charges nothing and measures nothing.
    """

    def __init__(self, call_id: str, services: SpeechServices, report: Callable[[Usage], None]) -> None:
        super().__init__()
        self._call_id, self._services, self._report = call_id, services, report

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Reports what a service measured, and lets everything pass."""
        await super().process_frame(frame, direction)
        if isinstance(frame, MetricsFrame):
            for data in frame.data:
                for item, service, unit, quantity in self._amounts(data):
                    self._report(
                        Usage(
                            call_id=self._call_id,
                            item=item,
                            provider=service.kind,
                            model=data.model or service.model,
                            unit=unit,
                            quantity=quantity,
                            is_own=service.is_own,
                        )
                    )
        await self.push_frame(frame, direction)

    def _amounts(self, data: MetricsData) -> Iterator[_Amount]:
        services = self._services
        match data:
            case STTUsageMetricsData() if services.hearing is not None:
                yield "stt", services.hearing, "second", round(data.value.audio_seconds, 3)
            case LLMUsageMetricsData():
                cached = data.value.cache_read_input_tokens or 0
                counts = {
                    "input_token": data.value.prompt_tokens - cached,
                    "cached_input_token": cached,
                    "output_token": data.value.completion_tokens,
                }
                for unit, count in counts.items():
                    if count > 0:
                        yield "llm", services.thinking, unit, float(count)
            case TTSUsageMetricsData():
                yield "tts", services.speaking, "character", float(data.value)
            case _:
                pass
