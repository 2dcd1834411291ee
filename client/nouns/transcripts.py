"""`client.transcripts`."""

from callwright.client.nouns.method import Noun, listing
from callwright.contract import transcripts


class Transcripts(Noun):
    """What was said, over many calls."""

    search = listing(transcripts.search_transcripts)
