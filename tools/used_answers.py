"""The answers of a person that have been used already, so that each of them counts once."""

from collections import OrderedDict

_MOST = 10_000


class UsedAnswers:
    """Answers by the key of their question, each for as long as it could be given again. The oldest are forgotten."""

    def __init__(self) -> None:
        self._ends: OrderedDict[str, float] = OrderedDict()

    def take(self, key: str, *, now: float, ends_at: float) -> bool:
        """Uses an answer that counts until `ends_at`, in seconds since the epoch. False where it was used before."""
        while self._ends and next(iter(self._ends.values())) <= now:
            self._ends.popitem(last=False)
        if key in self._ends:
            return False
        self._ends[key] = ends_at
        if len(self._ends) > _MOST:
            self._ends.popitem(last=False)
        return True

    def is_used(self, key: str) -> bool:
        """Whether an answer was used."""
        return key in self._ends

    def give_back(self, key: str) -> None:
        """Lets an answer be used again: it is not known what came of it, and the same key does nothing twice."""
        self._ends.pop(key, None)
