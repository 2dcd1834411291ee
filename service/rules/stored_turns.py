"""The turns of a call as the database stores them: one text, a JSON list in the order of their indices."""

from pydantic import TypeAdapter

from callwright.contract.calls.calls import TranscriptTurn

_READ = TypeAdapter(list[TranscriptTurn])


def turns_between(stored: str, first: int, end: int) -> list[TranscriptTurn]:
    """The turns from index `first` up to `end`, without `end`. Only these are parsed.

    A turn begins with its index, and the text `{"index":7,` cannot be inside a turn, where quotation marks are escaped.
    A list in another notation, for example with spaces, is parsed as a whole.
    """
    begin = stored.find(_beginning(first))
    if begin < 0:
        return _READ.validate_json(stored)[first:end]
    behind = stored.find(_beginning(end), begin)
    page = stored[begin:].rstrip("] \n") if behind < 0 else stored[begin : behind - 1]
    return _READ.validate_json(f"[{page}]")[: end - first]


def _beginning(index: int) -> str:
    return f'{{"index":{index},'
