"""The answers of persons that were used already: each counts once.

A yes that was given on a page is taken from the service for one call. If nobody knows what came of that call, the same
one may follow, with the same idempotency key, which does nothing twice.
"""

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
        self._taken_from_page: OrderedDict[str, tuple[str, float]] = OrderedDict()
        """What each yes from a page was about, by its key, and until when it counts."""
        self._open: OrderedDict[str, tuple[str, float]] = OrderedDict()
        """The keys of those whose call has no known result, by what they were about."""

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
        if (found := self._taken_from_page.pop(key, None)) is not None:
            about, until_s = found
            _put(self._open, about, (key, until_s))

    def note_yes(self, about: str, key: str, *, until_s: float) -> None:
        """Notes a yes that was taken from a page, for a call with this key. It counts until a monotonic time."""
        _put(self._taken_from_page, key, (about, until_s))

    def open_yes(self, about: str, *, monotonic_s: float) -> str | None:
        """Takes the key of a yes whose call has no known result; None if there is none about this any more."""
        key, until_s = self._open.pop(about, ("", monotonic_s))
        if monotonic_s >= until_s:
            return None
        self.note_yes(about, key, until_s=until_s)
        return key


def _put(kept: OrderedDict[str, tuple[str, float]], name: str, value: tuple[str, float]) -> None:
    kept[name] = value
    if len(kept) > _MOST:
        kept.popitem(last=False)
