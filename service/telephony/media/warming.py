"""Loads what the first call of a process would wait for: models of speech, and the speech worker."""

import gc
from contextlib import suppress
from importlib import import_module

import numpy as np
from anyio import to_thread

from callwright.service.speech.synthesiser import SpeechUnavailable, Synthesiser
from callwright.service.speech.voices import default_voice
from callwright.service.telephony.media.sound.sound_clock import RATE
from callwright.service.telephony.media.turns.turn_taking import load_models

_MODULES = ("callwright.service.telephony.media.call", "pipecat.services.openai.stt", "pipecat.services.openai.llm")


async def warm(synthesiser: Synthesiser) -> None:
    """Loads everything once. What is not there now fails in the call that needs it."""
    await to_thread.run_sync(_load)
    with suppress(SpeechUnavailable):
        await synthesiser.speak("Hello.", default_voice("en-US").espeak)
    gc.collect()
    gc.freeze()  # what is loaded by now stays, so that freeing a call's objects takes milliseconds


def _load() -> None:
    for module in _MODULES:
        import_module(module)
    activity = load_models().activity
    activity.set_sample_rate(RATE)
    activity.voice_confidence(np.zeros(activity.num_frames_required(), dtype=np.int16).tobytes())
