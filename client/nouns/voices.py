"""`client.voices`."""

from callwright.client.nouns.method import Noun, download, listing, method
from callwright.contract import voices


class Voices(Noun):
    """Voices: the text-to-speech voices an agent can have."""

    list = listing(voices.list_voices)
    get = method(voices.get_voice)
    get_preview = download(voices.get_voice_preview)
