"""The answers of persons that were used already: each counts once."""

from collections import OrderedDict

_MOST = 10_000
_KEPT_S = 86_400.0
"""As long as idempotency keys are kept, and much longer than an answer is valid."""


class UsedAnswers:
    """Used answers by the key of their question, each kept for a day of monotonic time, which setting the clock does
    not change. If there are more than 10,000, the oldest are dropped.
    """

    def __init__(self) -> None:
        self._taken: OrderedDict[str, float] = OrderedDict()

    def take(self, key: str, *, monotonic_s: float) -> bool:
        """Marks an answer as used, at a monotonic time. False if it was used before."""
        while self._taken and next(iter(self._taken.values())) <= monotonic_s - _KEPT_S:
            self._taken.popitem(last=False)
        if key in self._taken:
            return False
        self._taken[key] = monotonic_s
        if len(self._taken) > _MOST:
            self._taken.popitem(last=False)
        return True

    def is_used(self, key: str) -> bool:
        """Whether an answer was used."""
        return key in self._taken

    def give_back(self, key: str) -> None:
        """Lets an answer be used again, if the result is unknown: the same key does nothing twice."""
        self._taken.pop(key, None)
