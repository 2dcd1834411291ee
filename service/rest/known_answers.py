"""Answers to look-ups that were given already, as long as nobody has committed anything since.

On SQLite a number tells whether anything was committed, so an answer given under the same number is what the database
would say again. Reading it anew takes four times as long as all else about such a request. Some answers follow from the
time as well, so none is given for longer than a second.
"""

from callwright.service.rest.answers import Answer

MOST_ANSWERS = 1_000
"""Answers kept at a time; then all are forgotten."""
MOST_BYTES = 16_384
"""A longer answer is not kept."""
LIFETIME_MS = 1_000

Place = tuple[str, str, bytes]
"""Whose answer it is, its path and its query."""


class KnownAnswers:
    """Answers by place, of one state of the database: its `generation`. None stands for a state nobody can tell."""

    def __init__(self) -> None:
        self._generation: int | None = None
        self._held: dict[Place, tuple[int, Answer]] = {}

    def find(self, place: Place, generation: int | None, now_ms: int) -> Answer | None:
        """The answer given there in this state of the database and in this second."""
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
