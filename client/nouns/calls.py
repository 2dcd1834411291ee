"""`client.calls`."""

from callwright.client.nouns.method import Noun, download, listing, method
from callwright.contract import calls, transcripts


class Calls(Noun):
    """Calls: their records, transcripts and recordings."""

    list = listing(calls.list_calls)
    get = method(calls.get_call)
    get_transcript = method(calls.get_transcript)
    get_recording = download(calls.get_recording)
    hang_up = method(calls.hang_up_call)
    stats = method(transcripts.get_call_stats)
