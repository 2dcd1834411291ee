"""A cache of answers to look-ups, valid as long as nobody commits anything.

On SQLite a number shows whether anything was committed, so an answer with the same number would be read again
unchanged. Reading it takes four times as long as the rest of such a request. Some answers also depend on the time, so
none is used for longer than a second.
"""

from callwright.service.rest.answers import Answer

MOST_ANSWERS = 1_000
"""The most answers in the cache; then it is emptied."""
MOST_BYTES = 16_384
"""A longer answer is not cached."""
LIFETIME_MS = 1_000

Place = tuple[str, str, bytes]
"""The organization, the path and the query of an answer."""


class KnownAnswers:
    """Answers by place, for one `generation` of the database. None is an unknown state, for which nothing is kept."""

    def __init__(self) -> None:
        self._generation: int | None = None
        self._held: dict[Place, tuple[int, Answer]] = {}

    def find(self, place: Place, generation: int | None, now_ms: int) -> Answer | None:
        """The answer of this place, if it is of this generation and less than a second old."""
        if generation is None or generation != self._generation:
            return None
        held = self._held.get(place)
        return held[1] if held is not None and 0 <= now_ms - held[0] < LIFETIME_MS else None

    def keep(self, place: Place, generation: int | None, now_ms: int, answer: Answer) -> None:
        """Keeps an answer that was read after `generation` was."""
        if generation is None or len(answer.body) > MOST_BYTES:
            return
        if generation != self._generation or len(self._held) >= MOST_ANSWERS:
            self._held.clear()
            self._generation = generation
        self._held[place] = (now_ms, answer)
