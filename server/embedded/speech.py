"""The settings of speech and language models, as the service takes them."""

from callwright.server.settings import ProgramSettings
from callwright.server.speech_settings import SpeechServiceSetting
from callwright.service.settings import InstalledService, SpeechSettings


def speech_settings(settings: ProgramSettings) -> SpeechSettings:
    """What hears, thinks and speaks where no provider is set."""
    return SpeechSettings(
        hearing=_service(settings.speech.hearing),
        thinking=_service(settings.speech.thinking),
        speaking=_service(settings.speech.speaking),
    )


def _service(found: SpeechServiceSetting | None) -> InstalledService | None:
    if found is None:
        return None
    return InstalledService(kind=found.kind, url=found.url, key=found.key, model=found.model, voice=found.voice)
