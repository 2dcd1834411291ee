"""`client.transcripts`."""

from callwright.contract import transcripts

from .method import Noun, listing


class Transcripts(Noun):
    """What was said, over many calls."""

    search = listing(transcripts.search_transcripts)
