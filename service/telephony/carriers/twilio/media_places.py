"""Where in this process the sound of each call goes that Twilio brings: to a port of a media process, with a token.

A call has one place, which is given out once. Only the process that has placed the call knows it.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class MediaPlace:
    """A websocket of a media process that waits for the sound of a call."""

    port: int
    token: str = field(repr=False)


class MediaPlaces:
    """The places of the calls of one process. There are as many as it has lines."""

    def __init__(self) -> None:
        self._places: dict[str, MediaPlace] = {}

    def add(self, call_id: str, place: MediaPlace) -> None:
        """The sound of a call is waited for there."""
        self._places[call_id] = place

    def take(self, call_id: str) -> MediaPlace | None:
        """The place of a call, once; None if it has none here, or somebody has come already."""
        return self._places.pop(call_id, None)

    def forget(self, call_id: str) -> None:
        """A call is waited for no more."""
        self._places.pop(call_id, None)
