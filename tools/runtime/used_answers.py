"""The person's answers that are used up: each counts once."""

from collections import OrderedDict

_MOST = 10_000
_KEPT_S = 86_400.0
"""As long as idempotency keys are kept, and far longer than an answer counts."""


class UsedAnswers:
    """Used answers by the key of their question, each kept for a day of running time, which setting the clock does not
    change. Of more than 10,000 the oldest are dropped.
    """

    def __init__(self) -> None:
        self._taken: OrderedDict[str, float] = OrderedDict()

    def take(self, key: str, *, running_s: float) -> bool:
        """Uses an answer, at a moment of seconds that only go on. False where it was used before."""
        while self._taken and next(iter(self._taken.values())) <= running_s - _KEPT_S:
            self._taken.popitem(last=False)
        if key in self._taken:
            return False
        self._taken[key] = running_s
        if len(self._taken) > _MOST:
            self._taken.popitem(last=False)
        return True

    def is_used(self, key: str) -> bool:
        """Whether an answer was used."""
        return key in self._taken

    def give_back(self, key: str) -> None:
        """Lets an answer be used again where the result is unknown: with the same key nothing is done twice."""
        self._taken.pop(key, None)
