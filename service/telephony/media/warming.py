"""Loads what the first call of a process would wait for: models of speech, and the speech worker."""

import numpy as np
from anyio import to_thread

from callwright.service.speech.synthesiser import SpeechUnavailable, Synthesiser
from callwright.service.speech.voices import default_voice
from callwright.service.telephony.media import pipeline, turn_taking
from callwright.service.telephony.media.sound_clock import RATE


async def warm(synthesiser: Synthesiser) -> None:
    """Loads everything once. What is not there now fails in the call that needs it."""
    assert pipeline  # its import takes a second
    await to_thread.run_sync(_load_models)
    try:
        await synthesiser.speak("Hello.", default_voice("en-US").espeak)
    except SpeechUnavailable:
        return


def _load_models() -> None:
    activity = turn_taking.voice_activity()
    activity.set_sample_rate(RATE)
    activity.voice_confidence(np.zeros(activity.num_frames_required(), dtype=np.int16).tobytes())
